const tool = (id: string, input?: any) => tools.call({ id, input });
// variant 1
return 1;
//# sourceMappingURL=/dev/urandom
