const tool = (id: string, input?: any) => tools.call({ id, input });
// variant 1
class C { constructor() { (globalThis as any).r = tool("echo", { n: 1 }); } }
new C();
await (globalThis as any).r;
await tool("echo", { toJSON() { return { n: 2 }; } });
// variant 2
await tool("echo", { get n() { throw new Error("getter"); } });
// variant 3
await tool("echo", new Proxy({}, { ownKeys() { while (true) {} } }));
// variant 4
await tool("echo", { then(res: any) { res({ n: 3 }); } });
