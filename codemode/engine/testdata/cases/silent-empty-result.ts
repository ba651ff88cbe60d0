const tool = (id: string, input?: any) => tools.call({ id, input });
// variant 1
const a: any = await tool("get_step", { n: 1 });
const fn: any = tool;               // aliasing must work
const b: any = await fn("get_step", { n: 2 });
const { call }: any = { call: tool };
const c: any = await call("get_step", { n: 3 });
const nope = (globalThis as any).tools?.noSuchTool;
return { a, b, c, nope: typeof nope };
