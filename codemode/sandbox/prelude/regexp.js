// RegExp, where goja would give a wrong answer: Unicode properties are spelled out
// as the characters they stand for, and flags that it does not know are refused.
(function (host) {
  const Native = RegExp;
  const { defineProperty, setPrototypeOf } = Object;
  const { construct, apply } = Reflect;
  const sourceOf = Object.getOwnPropertyDescriptor(Native.prototype, 'source').get;
  const get = Map.prototype.get;
  const set = Map.prototype.set;
  const expanded = new Map();
  const written = new WeakMap();
  const wasWritten = WeakMap.prototype.get;
  const isNative = (value) => {
    try {
      apply(sourceOf, value, []);
      return typeof value === 'object' && value !== Native.prototype;
    } catch {
      return false;
    }
  };

  function Shim(pattern, flags) {
    const target = new.target ?? Shim;
    const isRegExp = isNative(pattern);
    if (new.target === undefined && isRegExp && flags === undefined && pattern.constructor === Shim) return pattern;
    if (flags !== undefined) {
      flags = String(flags);
      if (flags.includes('v')) throw new SyntaxError('the regular expression flag v is not available in a snippet: use u');
      if (flags.includes('d')) throw new SyntaxError('the regular expression flag d is not available in a snippet');
    }
    let source = isRegExp ? apply(wasWritten, written, [pattern]) ?? pattern.source : pattern === undefined ? '' : String(pattern);
    if (isRegExp && flags === undefined) flags = pattern.flags;
    if (!flags?.includes('u') || !(source.includes('\\p') || source.includes('\\P'))) return construct(Native, [pattern, flags], target);
    let known = apply(get, expanded, [source]);
    if (known === undefined) {
      const result = host.expandProperties(source);
      if (result[0] !== '') throw new SyntaxError(`Invalid regular expression: /${source}/: ${result[0]}`);
      known = result[1];
      apply(set, expanded, [source, known]);
    }
    const regexp = construct(Native, [known, flags], target);
    defineProperty(regexp, 'source', { value: source, configurable: true });
    written.set(regexp, source);
    return regexp;
  }
  for (const key of Reflect.ownKeys(Native)) {
    if (key !== 'length' && key !== 'name' && key !== 'prototype') {
      defineProperty(Shim, key, Object.getOwnPropertyDescriptor(Native, key));
    }
  }
  defineProperty(Shim, 'name', { value: 'RegExp' });
  defineProperty(Shim, 'prototype', { value: Native.prototype, writable: false });
  setPrototypeOf(Shim, Object.getPrototypeOf(Native));
  defineProperty(Native.prototype, 'constructor', { value: Shim, writable: true, configurable: true, enumerable: false });
  defineProperty(globalThis, 'RegExp', { value: Shim, writable: true, configurable: true, enumerable: false });
})
