// The API of a snippet: tools, timers, console, and how the snippet is run.
(function (host) {
  const global = globalThis;
  const { freeze, defineProperty } = Object;
  const parse = JSON.parse;
  const mapEntries = Map.prototype.forEach;
  const setValues = Set.prototype.forEach;
  const apply = Reflect.apply;

  const define = (name, value) =>
    defineProperty(global, name, { value, writable: true, configurable: true, enumerable: false });

  // ToolError is what a failed call throws.
  class ToolError extends Error {
    constructor(message) {
      super(message);
      defineProperty(this, 'name', { value: 'ToolError', configurable: true, writable: true });
    }
    toJSON() { return { name: this.name, message: this.message, ...this }; }
  }

  host.failure = (fields, stack) => {
    const known = parse(fields);
    const error = new ToolError(known.message);
    for (const key of Object.keys(known)) {
      if (key !== 'message') {
        defineProperty(error, key, { value: known[key], configurable: true, enumerable: true, writable: true });
      }
    }
    defineProperty(error, 'stack', { value: 'ToolError: ' + known.message + stack, configurable: true, writable: true });
    return error;
  };
  host.isArray = Array.isArray;
  const boxes = [Number, String, Boolean, BigInt, Symbol].map((box) => box.prototype.valueOf);
  host.valueOf = function () {
    for (const unbox of boxes) {
      try {
        return apply(unbox, this, []);
      } catch {} // another kind of box
    }
  };
  host.entries = (map) => {
    const list = [];
    apply(mapEntries, map, [(value, key) => { defineProperty(list, list.length, { value: [key, value] }); }]);
    return list;
  };
  host.values = (set) => {
    const list = [];
    apply(setValues, set, [(value) => { defineProperty(list, list.length, { value }); }]);
    return list;
  };

  host.run = (body, callsResult) => {
    body()
      .then((value) => (callsResult && typeof value === 'function' ? value() : value))
      .then(host.end, host.fail);
  };

  // A tool named by its id, or by an object that holds it.
  const tools = {
    search(query, options) {
      return host.issue('search', '', typeof query === 'string' ? { ...options, query } : query ?? {});
    },
    describe(what) {
      if (typeof what === 'string') what = { id: what };
      if (Array.isArray(what)) what = { ids: what };
      return host.issue('describe', '', what ?? {});
    },
    call(request, input) {
      if (typeof request === 'string') request = { id: request, input };
      return host.issue('call', String(request?.id ?? ''), request?.input ?? {});
    },
    async batch(request) {
      const calls = Array.isArray(request) ? request : request?.calls;
      if (!Array.isArray(calls)) throw new TypeError('tools.batch takes { calls: [{ id, input }, ...] }');
      const outcomes = await Promise.allSettled(calls.map((member) => tools.call(member)));
      return outcomes.map((outcome) =>
        outcome.status === 'fulfilled'
          ? { ok: true, result: outcome.value }
          : { ok: false, error: { ...outcome.reason, message: outcome.reason?.message } });
    },
    result(handle, options) {
      return host.issue('result', '', typeof handle === 'string' ? { ...options, handle } : handle ?? {});
    },
  };
  defineProperty(global, 'tools', { value: freeze(tools), enumerable: true });
  define('ToolError', ToolError);

  const timers = new Map();
  let lastTimer = 0;
  const delay = (ms) => {
    const whole = Math.ceil(Number(ms));
    return whole > 0 ? whole : 0;
  };
  const startTimer = (callback, ms, again) => {
    if (typeof callback !== 'function') throw new TypeError('the callback of a timer must be a function');
    const id = ++lastTimer;
    const fire = () => {
      if (again) timers.set(id, host.after(ms, fire));
      else timers.delete(id);
      callback();
    };
    timers.set(id, host.after(ms, fire));
    return id;
  };
  const stopTimer = (id) => {
    if (timers.has(id)) host.cancel(timers.get(id));
    timers.delete(id);
  };
  define('setTimeout', (callback, ms, ...rest) => startTimer(typeof callback === 'function' ? () => callback(...rest) : callback, delay(ms), false));
  define('setInterval', (callback, ms, ...rest) => startTimer(typeof callback === 'function' ? () => callback(...rest) : callback, Math.max(delay(ms), 1), true));
  define('setImmediate', (callback, ...rest) => startTimer(typeof callback === 'function' ? () => callback(...rest) : callback, 0, false));
  for (const name of ['clearTimeout', 'clearInterval', 'clearImmediate']) define(name, stopTimer);
  define('sleep', (ms) => new Promise((resolve) => { host.after(delay(ms), resolve); }));
  define('queueMicrotask', (callback) => { Promise.resolve().then(callback); });

  const console = {};
  const level = (name, severity) => { console[name] = (...values) => host.log(severity, ...values); };
  level('log', 'info');
  level('info', 'info');
  level('dir', 'info');
  level('table', 'info');
  level('trace', 'debug');
  level('debug', 'debug');
  level('warn', 'warn');
  level('error', 'error');
  console.group = console.groupCollapsed = console.log;
  console.groupEnd = () => {};
  console.assert = (condition, ...values) => {
    if (!condition) host.log('error', 'Assertion failed' + (values.length ? ':' : ''), ...values);
  };
  const counts = new Map();
  console.count = (label = 'default') => {
    counts.set(label, (counts.get(label) ?? 0) + 1);
    host.log('info', `${label}: ${counts.get(label)}`);
  };
  console.countReset = (label = 'default') => { counts.delete(label); };
  const started = new Map();
  console.time = (label = 'default') => { started.set(label, Date.now()); };
  console.timeLog = console.timeEnd = (label = 'default') => {
    if (started.has(label)) host.log('info', `${label}: ${Date.now() - started.get(label)} ms`);
  };
  define('console', console);
})
