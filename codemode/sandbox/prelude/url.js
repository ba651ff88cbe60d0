// URL and URLSearchParams.
(function (host) {
  const { defineProperty } = Object;
  const define = (name, value) =>
    defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });

  const encode = (text) =>
    encodeURIComponent(text.toWellFormed())
      .replace(/%20/g, '+')
      .replace(/[!'()~]/g, (c) => '%' + c.charCodeAt(0).toString(16).toUpperCase());
  const decode = (text) => host.unescape(text.replace(/\+/g, ' '));

  class URLSearchParams {
    #pairs = [];
    #changed;
    constructor(init = '', changed = () => {}) {
      this.#changed = changed;
      if (typeof init === 'object' && init !== null) {
        const pairs = typeof init[Symbol.iterator] === 'function' ? init : Object.entries(init);
        for (const pair of pairs) {
          const [name, value, ...rest] = pair;
          if (rest.length > 0 || value === undefined) throw new TypeError('each entry of URLSearchParams has a name and a value');
          this.#pairs.push([String(name), String(value)]);
        }
      } else {
        this.#parse(String(init));
      }
    }
    #parse(text) {
      this.#pairs = text.replace(/^\?/, '').split('&').filter((part) => part !== '').map((part) => {
        const at = part.indexOf('=');
        return at < 0 ? [decode(part), ''] : [decode(part.slice(0, at)), decode(part.slice(at + 1))];
      });
    }
    get size() { return this.#pairs.length; }
    append(name, value) {
      this.#pairs.push([String(name), String(value)]);
      this.#changed();
    }
    delete(name, value) {
      this.#pairs = this.#pairs.filter((pair) => pair[0] !== String(name) || (value !== undefined && pair[1] !== String(value)));
      this.#changed();
    }
    get(name) { return this.#pairs.find((pair) => pair[0] === String(name))?.[1] ?? null; }
    getAll(name) { return this.#pairs.filter((pair) => pair[0] === String(name)).map((pair) => pair[1]); }
    has(name, value) { return this.#pairs.some((pair) => pair[0] === String(name) && (value === undefined || pair[1] === String(value))); }
    set(name, value) {
      const first = this.#pairs.findIndex((pair) => pair[0] === String(name));
      if (first < 0) return this.append(name, value);
      this.#pairs[first][1] = String(value);
      this.#pairs = this.#pairs.filter((pair, index) => index <= first || pair[0] !== String(name));
      this.#changed();
    }
    sort() {
      this.#pairs.sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0));
      this.#changed();
    }
    forEach(visit, receiver) { for (const [name, value] of this.#pairs) visit.call(receiver, value, name, this); }
    *entries() { for (const pair of this.#pairs) yield [...pair]; }
    *keys() { for (const pair of this.#pairs) yield pair[0]; }
    *values() { for (const pair of this.#pairs) yield pair[1]; }
    [Symbol.iterator]() { return this.entries(); }
    toString() { return this.#pairs.map(([name, value]) => encode(name) + '=' + encode(value)).join('&'); }
    toJSON() { return this.toString(); }
    get [Symbol.toStringTag]() { return 'URLSearchParams'; }
    static replace(params, text) { params.#parse(text); }
  }
  const { replace } = URLSearchParams;
  delete URLSearchParams.replace;
  define('URLSearchParams', URLSearchParams);

  const invalid = (text) => {
    const error = new TypeError('Invalid URL: ' + text);
    error.code = 'ERR_INVALID_URL';
    error.input = text;
    return error;
  };
  const parse = (text, base) => {
    const parts = host.parseURL(String(text), base === undefined ? '' : String(base));
    return parts === undefined ? undefined : JSON.parse(parts);
  };

  class URL {
    #parts;
    #params;
    constructor(text, base) {
      this.#parts = parse(text, base);
      if (this.#parts === undefined) throw invalid(String(text));
      this.#params = new URLSearchParams(this.#parts.search, () => {
        const query = this.#params.toString();
        this.#parts.search = query && '?' + query;
      });
    }
    static canParse(text, base) { return parse(text, base) !== undefined; }
    static parse(text, base) { return URL.canParse(text, base) ? new URL(text, base) : null; }

    get protocol() { return this.#parts.protocol; }
    get username() { return this.#parts.username; }
    get password() { return this.#parts.password; }
    get hostname() { return this.#parts.hostname; }
    get port() { return this.#parts.port; }
    get host() { return this.hostname + (this.port && ':' + this.port); }
    get origin() { return this.#parts.special ? this.protocol + '//' + this.host : 'null'; }
    get pathname() { return this.#parts.pathname; }
    get search() { return this.#parts.search; }
    get hash() { return this.#parts.hash; }
    get searchParams() { return this.#params; }
    get href() {
      const p = this.#parts;
      const user = p.username || p.password ? p.username + (p.password && ':' + p.password) + '@' : '';
      return p.protocol + (p.hierarchical ? '//' : '') + user + this.host + p.pathname + p.search + p.hash;
    }
    // A part that would make the URL invalid changes nothing, as browsers have it.
    #change(part, value) {
      const before = this.#parts;
      this.#parts = { ...before, [part]: value };
      const parts = parse(this.href);
      this.#parts = parts ?? before;
      replace(this.#params, this.#parts.search);
    }
    set href(text) {
      const parts = parse(text);
      if (parts === undefined) throw invalid(String(text));
      this.#parts = parts;
      replace(this.#params, parts.search);
    }
    set protocol(value) { this.#change('protocol', String(value).replace(/:.*$/s, '') + ':'); }
    set username(value) { this.#change('username', encodeURIComponent(value)); }
    set password(value) { this.#change('password', encodeURIComponent(value)); }
    set hostname(value) { this.#change('hostname', String(value)); }
    set port(value) { this.#change('port', String(value)); }
    set host(value) {
      const [name, port = ''] = String(value).split(/:(?=\d*$)/);
      this.#change('hostname', name);
      this.#change('port', port);
    }
    set pathname(value) { this.#change('pathname', (this.#parts.hierarchical && !/^\//.test(value) ? '/' : '') + String(value).replace(/\?/g, '%3F').replace(/#/g, '%23')); }
    set search(value) { this.#change('search', value === '' ? '' : '?' + String(value).replace(/^\?/, '').replace(/#/g, '%23')); }
    set hash(value) { this.#change('hash', value === '' ? '' : '#' + String(value).replace(/^#/, '')); }
    toString() { return this.href; }
    toJSON() { return this.href; }
    get [Symbol.toStringTag]() { return 'URL'; }
  }
  define('URL', URL);
})
