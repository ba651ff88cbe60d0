// The methods that write and compare for a locale, of which goja's own ignore what
// they are asked for. Intl does the work.
(function (host) {
  const { defineProperty } = Object;
  const define = (object, name, value) =>
    defineProperty(object, name, { value, writable: true, configurable: true, enumerable: false });
  const locale = () => {
    if (!host.locale) host.intl();
    return host.locale;
  };
  for (const kind of [Number, BigInt]) {
    const { valueOf } = kind.prototype;
    define(kind.prototype, 'toLocaleString', function toLocaleString(locales, options) {
      return locale().number(valueOf.call(this), locales, options);
    });
  }
  for (const [name, usual] of [['toLocaleString', 'all'], ['toLocaleDateString', 'dateOnly'], ['toLocaleTimeString', 'time']]) {
    define(Date.prototype, name, function (locales, options) {
      const at = this.getTime();
      return Number.isNaN(at) ? 'Invalid Date' : locale().date(at, locales, options, usual);
    });
  }
  const join = function toLocaleString(locales, options) {
    return Array.from(this, (item) => (item === undefined || item === null ? '' : item.toLocaleString(locales, options))).join(',');
  };
  define(Array.prototype, 'toLocaleString', join);
  define(Object.getPrototypeOf(Int8Array.prototype), 'toLocaleString', join);
  define(String.prototype, 'localeCompare', function localeCompare(other, locales, options) {
    return locale().compare(this, other, locales, options);
  });
  for (const [name, plain] of [['toLocaleUpperCase', 'toUpperCase'], ['toLocaleLowerCase', 'toLowerCase']]) {
    define(String.prototype, name, function (locales) {
      if (locales !== undefined && /^(tr|az|lt)\b/i.test(String(locales))) {
        throw new RangeError(`the locale ${locales} is not available in a snippet`);
      }
      return String(this)[plain]();
    });
  }
})
