const tool = (id: string, input?: any) => tools.call({ id, input });
// variant 1
while (true) {}
// variant 2
for (;;) { try { while (true) {} } catch (e) {} finally { for (;;) {} } }
// variant 3
const r = /(a+)+$/.test("a".repeat(40) + "!");
// variant 4
[..."x".repeat(1e6)].sort(() => { while (true) {} });
// variant 5
new Array(1e9).fill(0).map((_, i) => i);
