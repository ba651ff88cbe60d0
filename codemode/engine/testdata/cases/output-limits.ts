const tool = (id: string, input?: any) => tools.call({ id, input });
// variant 1
for (let i = 0; i < 1e5; i++) console.log("row " + i);
const big = "é".repeat(3_000_000);
return { big, nested: { keep: 1 }, fn: () => 1, sym: Symbol("s"), u: undefined, date: new Date(0), map: new Map([[1, 2]]), n: NaN, big2: 10n };
