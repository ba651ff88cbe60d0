const tool = (id: string, input?: any) => tools.call({ id, input });
// variant 1
const f = (n: number): number => f(n + 1) + 1; f(0);
// variant 2
JSON.parse("[".repeat(2_000_000) + "]".repeat(2_000_000));
// variant 3
let o: any = {}; for (let i = 0; i < 1e6; i++) o = { o }; JSON.stringify(o);
// variant 4: returned to the host
let d: any = []; for (let i = 0; i < 1e6; i++) d = [d]; return d;
// variant 5: passed to a tool
let e: any = {}; for (let i = 0; i < 1e5; i++) e = { e }; await tool("echo", e);
// variant 6
const g: any = { get x() { return JSON.stringify(g); } }; JSON.stringify(g);
