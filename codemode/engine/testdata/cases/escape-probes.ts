const tool = (id: string, input?: any) => tools.call({ id, input });
// variant 1
return [
  typeof process, typeof require, typeof globalThis.fetch, typeof Deno, typeof WebSocket, typeof importScripts,
  (() => { try { return typeof (tool as any).constructor("return this")(); } catch (e) { return "blocked"; } })(),
  (() => { (Object.prototype as any).isAdmin = true; return ({} as any).isAdmin; })(),
  Object.keys(globalThis).sort().join(),
  JSON.stringify(Object.getOwnPropertyNames(tool)),
];
