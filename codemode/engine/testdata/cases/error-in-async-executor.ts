const tool = (id: string, input?: any) => tools.call({ id, input });
// variant 1
await new Promise(async (resolve) => {
  undefinedFn(3); // throws inside the async executor: nobody settles the outer promise
  resolve(true);
});
