// What scripts expect of the platforms around the language.
(function (host) {
  const global = globalThis;
  const { defineProperty, getPrototypeOf } = Object;
  const define = (name, value) =>
    defineProperty(global, name, { value, writable: true, configurable: true, enumerable: false });

  class DOMException extends Error {
    #name;
    constructor(message = '', name = 'Error') {
      super(message);
      this.#name = name;
    }
    get name() { return this.#name; }
  }
  define('DOMException', DOMException);

  const bytesOf = (data) => {
    if (data instanceof ArrayBuffer) return new Uint8Array(data);
    if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    throw new TypeError('not an ArrayBuffer or a view on one');
  };

  define('TextEncoder', class TextEncoder {
    get encoding() { return 'utf-8'; }
    encode(text = '') { return new Uint8Array(host.utf8(String(text))); }
    encodeInto(text, target) {
      const bytes = this.encode(text).subarray(0, target.length);
      target.set(bytes);
      return { read: text.length, written: bytes.length };
    }
  });
  define('TextDecoder', class TextDecoder {
    #fatal;
    #keepMark;
    constructor(label = 'utf-8', { fatal = false, ignoreBOM = false } = {}) {
      if (!/^\s*utf-?8\s*$/i.test(label)) throw new RangeError(`the encoding ${label} is not available, only utf-8 is`);
      this.#fatal = fatal;
      this.#keepMark = ignoreBOM;
    }
    get encoding() { return 'utf-8'; }
    decode(data = new Uint8Array(), options) {
      if (options?.stream) throw new TypeError('decoding a stream is not available');
      const bytes = bytesOf(data);
      const text = host.text(bytes.buffer, bytes.byteOffset, bytes.byteLength, this.#fatal);
      if (text === undefined) throw new TypeError('the data is not valid utf-8');
      return !this.#keepMark && text.startsWith('\uFEFF') ? text.slice(1) : text;
    }
  });
  define('btoa', (text) => {
    const encoded = host.toBase64(String(text));
    if (encoded === undefined) throw new DOMException('btoa: the text has characters outside Latin-1', 'InvalidCharacterError');
    return encoded;
  });
  define('atob', (text) => {
    const decoded = host.fromBase64(String(text));
    if (decoded === undefined) throw new DOMException('atob: the text is not valid base64', 'InvalidCharacterError');
    return decoded;
  });

  const hashes = new Set(['SHA-1', 'SHA-256', 'SHA-384', 'SHA-512']);
  define('crypto', Object.freeze({
    randomUUID() {
      const bytes = new Uint8Array(host.random(16));
      bytes[6] = (bytes[6] & 0x0f) | 0x40;
      bytes[8] = (bytes[8] & 0x3f) | 0x80;
      const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
      return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
    },
    getRandomValues(array) {
      const target = bytesOf(array);
      if (target.length > 65536) throw new DOMException('at most 65536 bytes at once', 'QuotaExceededError');
      target.set(new Uint8Array(host.random(target.length)));
      return array;
    },
    subtle: Object.freeze({
      async digest(algorithm, data) {
        const name = String(algorithm?.name ?? algorithm).toUpperCase();
        if (!hashes.has(name)) throw new DOMException(`the hash ${name} is not available: ${[...hashes].join(', ')}`, 'NotSupportedError');
        const bytes = bytesOf(data);
        return host.digest(name, bytes.buffer, bytes.byteOffset, bytes.byteLength);
      },
    }),
  }));

  define('performance', Object.freeze({ timeOrigin: host.begun(), now: () => Date.now() - host.begun(), mark() {}, measure() {} }));

  const cannotClone = (value) => new DOMException(`${typeof value === 'symbol' ? 'a symbol' : 'a function'} cannot be cloned`, 'DataCloneError');
  const cloneErrors = new Set(['Error', 'EvalError', 'RangeError', 'ReferenceError', 'SyntaxError', 'TypeError', 'URIError']);
  const clone = (value, known) => {
    if (typeof value === 'function' || typeof value === 'symbol') throw cannotClone(value);
    if (typeof value !== 'object' || value === null) return value;
    if (known.has(value)) return known.get(value);
    const keep = (copy) => {
      known.set(value, copy);
      return copy;
    };
    if (Array.isArray(value)) {
      const copy = keep(new Array(value.length));
      for (const key of Object.keys(value)) copy[key] = clone(value[key], known);
      return copy;
    }
    if (value instanceof Date) return keep(new Date(value.getTime()));
    if (value instanceof RegExp) return keep(new RegExp(value.source, value.flags));
    if (value instanceof ArrayBuffer) return keep(value.slice(0));
    if (ArrayBuffer.isView(value)) return keep(new value.constructor(clone(value.buffer, known), value.byteOffset, value.length ?? value.byteLength));
    if (value instanceof Map) {
      const copy = keep(new Map());
      for (const [key, item] of [...value]) copy.set(clone(key, known), clone(item, known));
      return copy;
    }
    if (value instanceof Set) {
      const copy = keep(new Set());
      for (const item of [...value]) copy.add(clone(item, known));
      return copy;
    }
    if (value instanceof Error) {
      const copy = keep(new (cloneErrors.has(value.name) ? global[value.name] : Error)(value.message));
      if ('cause' in value) copy.cause = clone(value.cause, known);
      return copy;
    }
    if (value instanceof Promise || value instanceof WeakMap || value instanceof WeakSet || value instanceof WeakRef) {
      throw new DOMException('the object cannot be cloned', 'DataCloneError');
    }
    if (value instanceof Number || value instanceof String || value instanceof Boolean) return keep(Object(value.valueOf()));
    const copy = keep({});
    for (const key of Object.keys(value)) copy[key] = clone(value[key], known);
    return copy;
  };
  define('structuredClone', (value) => clone(value, new Map()));

  class Event {
    constructor(type, init = {}) {
      this.type = String(type);
      Object.assign(this, init);
    }
  }
  class EventTarget {
    #listeners = new Map();
    addEventListener(type, listener, options) {
      const list = this.#listeners.get(type) ?? [];
      this.#listeners.set(type, list);
      if (!list.some((entry) => entry.listener === listener)) list.push({ listener, once: !!options?.once });
    }
    removeEventListener(type, listener) {
      this.#listeners.set(type, (this.#listeners.get(type) ?? []).filter((entry) => entry.listener !== listener));
    }
    dispatchEvent(event) {
      event.target ??= this;
      this['on' + event.type]?.(event);
      for (const { listener, once } of [...(this.#listeners.get(event.type) ?? [])]) {
        if (once) this.removeEventListener(event.type, listener);
        if (typeof listener === 'function') listener.call(this, event);
        else listener.handleEvent(event);
      }
      return true;
    }
  }
  const abort = Symbol('abort');
  class AbortSignal extends EventTarget {
    aborted = false;
    reason = undefined;
    onabort = null;
    throwIfAborted() { if (this.aborted) throw this.reason; }
    [abort](reason = new DOMException('The operation was aborted.', 'AbortError')) {
      if (this.aborted) return;
      this.aborted = true;
      this.reason = reason;
      this.dispatchEvent(new Event('abort'));
    }
    static abort(reason) {
      const signal = new AbortSignal();
      signal[abort](reason);
      return signal;
    }
    static timeout(ms) {
      const signal = new AbortSignal();
      setTimeout(() => signal[abort](new DOMException('The operation timed out.', 'TimeoutError')), ms);
      return signal;
    }
    static any(signals) {
      const any = new AbortSignal();
      for (const signal of signals) {
        if (signal.aborted) any[abort](signal.reason);
        else signal.addEventListener('abort', () => any[abort](signal.reason), { once: true });
      }
      return any;
    }
  }
  define('Event', Event);
  define('EventTarget', EventTarget);
  define('AbortSignal', AbortSignal);
  define('AbortController', class AbortController {
    signal = new AbortSignal();
    abort(reason) { this.signal[abort](reason); }
  });
})
