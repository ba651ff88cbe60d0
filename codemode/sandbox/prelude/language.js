// What of the language goja lacks: symbols, static methods, iterator helpers.
(function (host) {
  const global = globalThis;
  delete global.GoError;
  const { defineProperty, getPrototypeOf, create } = Object;
  const define = (object, name, value) => {
    if (!(name in object)) defineProperty(object, name, { value, writable: true, configurable: true, enumerable: false });
  };
  const methods = (object, group) => {
    for (const name of Reflect.ownKeys(group)) define(object, name, group[name]);
  };

  for (const name of ['asyncIterator', 'dispose', 'asyncDispose']) {
    if (!Symbol[name]) defineProperty(Symbol, name, { value: Symbol('Symbol.' + name) });
  }

  // The engine's own parse is slow. It knows what to say of a text that is not valid.
  const { parse } = JSON;
  JSON.parse = {
    parse(text, reviver) {
      const value = typeof reviver === 'function' ? undefined : host.parse((text = `${text}`));
      return value === undefined ? parse(text, reviver) : value;
    },
  }.parse;

  methods(Object, {
    groupBy(items, keyOf) {
      const groups = create(null);
      let index = 0;
      for (const item of items) {
        const key = keyOf(item, index++);
        (groups[key] ??= []).push(item);
      }
      return groups;
    },
  });
  methods(Map, {
    groupBy(items, keyOf) {
      const groups = new Map();
      let index = 0;
      for (const item of items) {
        const key = keyOf(item, index++);
        if (groups.has(key)) groups.get(key).push(item);
        else groups.set(key, [item]);
      }
      return groups;
    },
  });
  for (const kind of [Map, WeakMap]) {
    methods(kind.prototype, {
      getOrInsert(key, value) {
        if (!this.has(key)) this.set(key, value);
        return this.get(key);
      },
      getOrInsertComputed(key, make) {
        if (!this.has(key)) this.set(key, make(key));
        return this.get(key);
      },
    });
  }
  methods(Promise, {
    withResolvers() {
      let resolve, reject;
      const promise = new this((yes, no) => { resolve = yes; reject = no; });
      return { promise, resolve, reject };
    },
    try(callback, ...values) {
      return new this((resolve) => resolve(callback(...values)));
    },
  });
  methods(Array, {
    async fromAsync(items, change = (item) => item, receiver = undefined) {
      const list = [];
      const iterator = items[Symbol.asyncIterator]?.() ?? items[Symbol.iterator]?.();
      if (!iterator) {
        for (let index = 0; index < items.length; index++) list.push(await change.call(receiver, await items[index], index));
        return list;
      }
      for (let next = await iterator.next(); !next.done; next = await iterator.next()) {
        list.push(await change.call(receiver, await next.value, list.length));
      }
      return list;
    },
  });
  methods(Error, {
    captureStackTrace(object) {
      defineProperty(object, 'stack', { value: new Error(object.message).stack, writable: true, configurable: true });
    },
    isError: (value) => value instanceof Error,
  });
  methods(Math, {
    sumPrecise(items) {
      // Neumaier's sum, which keeps what each addition loses.
      let sum = 0;
      let lost = 0;
      for (const item of items) {
        const next = sum + item;
        lost += Math.abs(sum) >= Math.abs(item) ? sum - next + item : item - next + sum;
        sum = next;
      }
      return Number.isFinite(sum) ? sum + lost : sum;
    },
  });
  const loneSurrogate = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g;
  methods(String.prototype, {
    isWellFormed() { return this.toWellFormed() === String(this); },
    toWellFormed() {
      let text = '';
      for (const character of String(this)) {
        const code = character.codePointAt(0);
        text += code >= 0xd800 && code <= 0xdfff ? '\uFFFD' : character;
      }
      return text;
    },
  });
  define(RegExp, 'escape', (text) => {
    if (typeof text !== 'string') throw new TypeError('RegExp.escape takes a string');
    return text
      .replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
      .replace(/[,\-=<>#&!%:;@~'`"\s]/g, (c) => (c < '\x80' ? '\\x' + c.charCodeAt(0).toString(16).padStart(2, '0') : '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0')))
      .replace(/^[0-9A-Za-z]/, (c) => '\\x' + c.charCodeAt(0).toString(16));
  });

  // Strong references: nothing is collected while a snippet runs.
  define(global, 'WeakRef', class WeakRef {
    #target;
    constructor(target) { this.#target = target; }
    deref() { return this.#target; }
    get [Symbol.toStringTag]() { return 'WeakRef'; }
  });
  define(global, 'FinalizationRegistry', class FinalizationRegistry {
    register() {}
    unregister() { return false; }
  });
  define(global, 'SuppressedError', class SuppressedError extends Error {
    constructor(error, suppressed, message) {
      super(message);
      this.error = error;
      this.suppressed = suppressed;
    }
    get name() { return 'SuppressedError'; }
  });

  const iteratorPrototype = getPrototypeOf(getPrototypeOf([][Symbol.iterator]()));
  function Iterator() {
    if (new.target === undefined || new.target === Iterator) throw new TypeError('Iterator is abstract');
  }
  defineProperty(Iterator, 'prototype', { value: iteratorPrototype });
  const nextOf = (iterator) => {
    const next = iterator.next;
    return () => next.call(iterator);
  };
  // helper makes an iterator that steps through another one.
  const helper = (source, step) => {
    const next = nextOf(source);
    const object = create(iteratorPrototype);
    let done = false;
    object.next = () => {
      if (done) return { value: undefined, done: true };
      const result = step(next);
      done = !!result.done;
      return result;
    };
    object.return = () => {
      done = true;
      source.return?.();
      return { value: undefined, done: true };
    };
    for (const name of ['next', 'return']) defineProperty(object, name, { enumerable: false });
    return object;
  };
  const each = (source, visit) => {
    const next = nextOf(source);
    for (let index = 0, item = next(); !item.done; item = next()) {
      if (visit(item.value, index++) === true) {
        source.return?.();
        return;
      }
    }
  };
  const count = (limit) => {
    const whole = Math.trunc(Number(limit));
    if (!(whole >= 0)) throw new RangeError('the count must be a number that is not negative');
    return whole;
  };
  methods(iteratorPrototype, {
    map(change) {
      let index = 0;
      return helper(this, (next) => {
        const item = next();
        return item.done ? item : { value: change(item.value, index++), done: false };
      });
    },
    filter(test) {
      let index = 0;
      return helper(this, (next) => {
        for (;;) {
          const item = next();
          if (item.done || test(item.value, index++)) return item;
        }
      });
    },
    take(limit) {
      let left = count(limit);
      return helper(this, (next) => {
        if (left-- > 0) return next();
        this.return?.();
        return { value: undefined, done: true };
      });
    },
    drop(limit) {
      let left = count(limit);
      return helper(this, (next) => {
        for (; left > 0; left--) if (next().done) return { value: undefined, done: true };
        return next();
      });
    },
    flatMap(change) {
      let inner = null;
      let index = 0;
      return helper(this, (next) => {
        for (;;) {
          const item = inner?.next();
          if (item && !item.done) return item;
          const outer = next();
          if (outer.done) return outer;
          inner = Iterator.from(change(outer.value, index++));
        }
      });
    },
    reduce(combine, ...initial) {
      let value = initial[0];
      let empty = initial.length === 0;
      each(this, (item, index) => {
        value = empty ? item : combine(value, item, index);
        empty = false;
      });
      if (empty) throw new TypeError('reduce of nothing with no initial value');
      return value;
    },
    toArray() {
      const list = [];
      each(this, (item) => { list.push(item); });
      return list;
    },
    forEach(visit) { each(this, (item, index) => { visit(item, index); }); },
    some(test) {
      let found = false;
      each(this, (item, index) => (found = !!test(item, index)));
      return found;
    },
    every(test) { return !this.some((item, index) => !test(item, index)); },
    find(test) {
      let found;
      each(this, (item, index) => {
        if (!test(item, index)) return false;
        found = item;
        return true;
      });
      return found;
    },
  });
  define(iteratorPrototype, Symbol.dispose, function () { this.return?.(); });
  Iterator.from = (items) => {
    const iterator = items[Symbol.iterator]?.() ?? items;
    return iterator instanceof Iterator ? iterator : helper(iterator, (next) => next());
  };
  define(global, 'Iterator', Iterator);

  // Code from strings would escape the checks of the snippet, and goja reads some
  // regular expressions in it wrongly. Nothing needs it.
  const refuse = function () {
    throw new EvalError('code from strings (eval, Function) is not available in a snippet');
  };
  const kinds = [function () {}, async function () {}, function* () {}];
  for (const kind of kinds) {
    const prototype = getPrototypeOf(kind);
    const constructor = function () { return refuse(); };
    defineProperty(constructor, 'name', { value: prototype.constructor.name });
    defineProperty(constructor, 'prototype', { value: prototype });
    defineProperty(prototype, 'constructor', { value: constructor, writable: false, configurable: true });
  }
  defineProperty(global, 'Function', { value: Function.prototype.constructor, writable: true, configurable: true, enumerable: false });
  defineProperty(global, 'eval', { value: refuse, writable: true, configurable: true, enumerable: false });
})
