// Intl, as far as it goes: English as in the United States, all time zones.
// What it cannot do it refuses: goja's own methods ignore what they are asked for.
(function (host) {
  const { defineProperty } = Object;
  const define = (object, name, value) =>
    defineProperty(object, name, { value, writable: true, configurable: true, enumerable: false });
  const locale = 'en-US';

  const unavailable = (what) => new RangeError(`${what} is not available in a snippet: numbers and dates are formatted for ${locale} only`);
  const checkLocale = (asked) => {
    const first = Array.isArray(asked) ? asked[0] : asked;
    if (first !== undefined && !/^(en|en-US|default|und)$/i.test(String(first))) throw unavailable(`the locale ${first}`);
  };
  const choose = (options, name, allowed, fallback) => {
    const value = options?.[name];
    if (value === undefined) return fallback;
    if (!allowed.includes(value)) throw unavailable(`${name}: ${JSON.stringify(value)}`);
    return value;
  };
  const refuse = (options, ...names) => {
    for (const name of names) if (options?.[name] !== undefined) throw unavailable(`the option ${name}`);
  };
  const integer = (options, name, min, max, fallback) => {
    const value = options?.[name];
    if (value === undefined) return fallback;
    const whole = Math.floor(Number(value));
    if (!(whole >= min && whole <= max)) throw new RangeError(`${name} value is out of range`);
    return whole;
  };

  const symbols = { USD: '$', EUR: '€', GBP: '£', JPY: '¥', INR: '₹', CNY: 'CN¥', KRW: '₩', BRL: 'R$', CAD: 'CA$', AUD: 'A$', NZD: 'NZ$', HKD: 'HK$', TWD: 'NT$', MXN: 'MX$', ILS: '₪', VND: '₫', PHP: '₱' };
  const narrow = { CAD: '$', AUD: '$', NZD: '$', HKD: '$', TWD: '$', MXN: '$', CNY: '¥', RUB: '₽', UAH: '₴', TRY: '₺', PLN: 'zł', CZK: 'Kč', SEK: 'kr', NOK: 'kr', DKK: 'kr' };
  const wholeCurrencies = ['JPY', 'KRW', 'VND', 'CLP', 'ISK', 'PYG', 'UGX', 'XAF', 'XOF', 'XPF'];
  const millCurrencies = ['BHD', 'IQD', 'JOD', 'KWD', 'LYD', 'OMR', 'TND'];
  const currencyDigits = (code) => (wholeCurrencies.includes(code) ? 0 : millCurrencies.includes(code) ? 3 : 2);
  const group = (digits) => digits.replace(/\B(?=(\d{3})+$)/g, ',');
  const scales = [[1e12, 'T'], [1e9, 'B'], [1e6, 'M'], [1e3, 'K']];

  class NumberFormat {
    #o;
    constructor(locales, options = {}) {
      checkLocale(locales);
      refuse(options, 'unit', 'numberingSystem', 'roundingIncrement', 'roundingMode', 'roundingPriority', 'trailingZeroDisplay');
      const style = choose(options, 'style', ['decimal', 'percent', 'currency'], 'decimal');
      const currency = options.currency?.toUpperCase();
      if (style === 'currency' && !/^[A-Z]{3}$/.test(currency ?? '')) throw new TypeError('Currency code is required with currency style.');
      const notation = choose(options, 'notation', ['standard', 'compact'], 'standard');
      choose(options, 'compactDisplay', ['short'], 'short');
      const usual = style === 'currency' ? currencyDigits(currency) : 0;
      const minimumGiven = integer(options, 'minimumFractionDigits', 0, 100, undefined);
      const maximumGiven = integer(options, 'maximumFractionDigits', 0, 100, undefined);
      const usualMaximum = style === 'currency' ? usual : style === 'percent' ? 0 : 3;
      const minimum = minimumGiven ?? Math.min(usual, maximumGiven ?? usual);
      const maximum = maximumGiven ?? Math.max(usualMaximum, minimum);
      if (minimum > maximum) throw new RangeError('maximumFractionDigits value is out of range');
      this.#o = {
        locale, numberingSystem: 'latn', style, currency, notation,
        currencyDisplay: choose(options, 'currencyDisplay', ['symbol', 'narrowSymbol', 'code'], 'symbol'),
        currencySign: choose(options, 'currencySign', ['standard', 'accounting'], 'standard'),
        minimumIntegerDigits: integer(options, 'minimumIntegerDigits', 1, 21, 1),
        minimumFractionDigits: minimum, maximumFractionDigits: maximum,
        minimumSignificantDigits: integer(options, 'minimumSignificantDigits', 1, 21, options.maximumSignificantDigits === undefined ? undefined : 1),
        maximumSignificantDigits: integer(options, 'maximumSignificantDigits', 1, 21, options.minimumSignificantDigits === undefined ? undefined : 21),
        useGrouping: options.useGrouping ?? (notation === 'compact' ? 'min2' : 'auto'),
        signDisplay: choose(options, 'signDisplay', ['auto', 'always', 'never', 'exceptZero', 'negative'], 'auto'),
        digitsGiven: minimumGiven !== undefined || maximumGiven !== undefined,
      };
      this.format = this.format.bind(this);
    }
    #digits(value, scale) {
      const o = this.#o;
      let text;
      if (o.maximumSignificantDigits !== undefined) {
        text = host.decimal(value, -1, o.maximumSignificantDigits, scale);
        const [whole, part = ''] = text.split('.');
        const significant = (whole === '0' ? part.replace(/^0+/, '').length : whole.length + part.length) || 1;
        if (significant < o.minimumSignificantDigits) text = whole + '.' + part + '0'.repeat(o.minimumSignificantDigits - significant);
      } else {
        text = host.decimal(value, o.maximumFractionDigits, -1, scale);
        const [whole, part = ''] = text.split('.');
        const kept = part.replace(/0+$/, '').padEnd(o.minimumFractionDigits, '0');
        text = whole + (kept && '.' + kept);
      }
      const [whole, part] = text.split('.');
      const padded = whole.padStart(o.minimumIntegerDigits, '0');
      const grouped = o.useGrouping === false || o.useGrouping === 'false' || (o.useGrouping === 'min2' && padded.length < 5) ? padded : group(padded);
      return grouped + (part ? '.' + part : '');
    }
    #compact(magnitude) {
      const o = this.#o;
      const round = (value) => (o.digitsGiven || o.maximumSignificantDigits !== undefined ? this.#digits(value, 0) : host.decimal(value, value < 100 ? -1 : 0, value < 100 ? 2 : -1, 0));
      for (const [index, [scale, suffix]] of scales.entries()) {
        if (magnitude < scale) continue;
        const text = round(magnitude / scale);
        if (index > 0 && text === '1000') return '1' + scales[index - 1][1];
        return (text.length > 4 && !text.includes('.') && !text.includes(',') ? group(text) : text) + suffix;
      }
      const text = round(magnitude);
      return text === '1000' ? '1K' : text;
    }
    format(value) {
      const o = this.#o;
      const big = typeof value === 'bigint';
      const number = big ? value : Number(value);
      const negative = big ? number < 0n : number < 0 || Object.is(number, -0);
      let magnitude = negative ? -number : number;
      let body;
      if (!big && Number.isNaN(magnitude)) body = 'NaN';
      else if (magnitude === Infinity) body = '∞';
      else {
        const scale = o.style === 'percent' ? 2 : 0;
        body = o.notation === 'compact' ? this.#compact(Number(magnitude) * 10 ** scale) : this.#digits(magnitude, scale);
      }
      if (o.style === 'percent') body += '%';
      if (o.style === 'currency') {
        const sign = o.currencyDisplay === 'code' ? undefined : (o.currencyDisplay === 'narrowSymbol' ? narrow[o.currency] : undefined) ?? symbols[o.currency];
        body = (sign ?? o.currency + (/^\d/.test(body) ? '\u00a0' : '')) + body;
      }
      const zero = !/[1-9∞]/.test(body) && body !== 'NaN';
      const signs = {
        auto: negative ? '-' : '', negative: negative && !zero ? '-' : '', never: '',
        always: negative ? '-' : '+', exceptZero: zero || body === 'NaN' ? '' : negative ? '-' : '+',
      };
      const sign = signs[o.signDisplay];
      return o.currencySign === 'accounting' && o.style === 'currency' && sign === '-' ? `(${body})` : sign + body;
    }
    resolvedOptions() {
      const { digitsGiven, ...shown } = this.#o;
      return shown;
    }
    formatRange(from, to) { return `${this.format(from)} – ${this.format(to)}`; }
    formatToParts() { throw unavailable('formatToParts of numbers'); }
    static supportedLocalesOf(locales) { return [locales ?? []].flat().filter((l) => /^en(-US)?$/i.test(l)); }
  }

  const months = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December'];
  const weekdays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
  const dateStyles = {
    full: { weekday: 'long', month: 'long', day: 'numeric', year: 'numeric' },
    long: { month: 'long', day: 'numeric', year: 'numeric' },
    medium: { month: 'short', day: 'numeric', year: 'numeric' },
    short: { month: 'numeric', day: 'numeric', year: '2-digit' },
  };
  const timeStyles = {
    full: { hour: 'numeric', minute: '2-digit', second: '2-digit', timeZoneName: 'long' },
    long: { hour: 'numeric', minute: '2-digit', second: '2-digit', timeZoneName: 'short' },
    medium: { hour: 'numeric', minute: '2-digit', second: '2-digit' },
    short: { hour: 'numeric', minute: '2-digit' },
  };
  const dateParts = ['weekday', 'year', 'month', 'day'];
  const timeParts = ['hour', 'minute', 'second', 'fractionalSecondDigits', 'dayPeriod'];
  const widths = {
    weekday: ['long', 'short', 'narrow'], year: ['numeric', '2-digit'], day: ['numeric', '2-digit'],
    month: ['numeric', '2-digit', 'long', 'short', 'narrow'],
    hour: ['numeric', '2-digit'], minute: ['numeric', '2-digit'], second: ['numeric', '2-digit'],
    timeZoneName: ['short', 'long', 'shortOffset', 'longOffset'], fractionalSecondDigits: [1, 2, 3],
  };
  const two = (value) => String(value).padStart(2, '0');
  const named = (name, width) => (width === 'long' ? name : width === 'short' ? name.slice(0, 3) : name[0]);

  class DateTimeFormat {
    #o;
    #zone;
    constructor(locales, options = {}, usual = 'date') {
      checkLocale(locales);
      refuse(options, 'era', 'dayPeriod', 'calendar', 'numberingSystem', 'formatMatcher');
      const o = {};
      for (const [name, allowed] of Object.entries(widths)) {
        const width = choose(options, name, allowed, undefined);
        if (width !== undefined) o[name] = width;
      }
      const dateStyle = choose(options, 'dateStyle', Object.keys(dateStyles), undefined);
      const timeStyle = choose(options, 'timeStyle', Object.keys(timeStyles), undefined);
      if ((dateStyle || timeStyle) && [...dateParts, ...timeParts].some((part) => o[part] !== undefined)) {
        throw new TypeError('dateStyle and timeStyle cannot be used with single parts');
      }
      if (dateStyle) Object.assign(o, dateStyles[dateStyle]);
      if (timeStyle) Object.assign(o, timeStyles[timeStyle]);
      if ((usual === 'time' && dateStyle) || (usual === 'dateOnly' && timeStyle)) {
        throw new TypeError(`${usual === 'time' ? 'dateStyle' : 'timeStyle'} cannot be used here`);
      }
      const has = (parts) => parts.some((part) => o[part] !== undefined);
      const wanted = { date: !has(dateParts) && !has(timeParts), all: !has(dateParts) && !has(timeParts), time: !has(timeParts) && !(dateStyle && !timeStyle), dateOnly: !has(dateParts) };
      if ((usual === 'date' && wanted.date) || (usual === 'all' && wanted.all) || (usual === 'dateOnly' && wanted.dateOnly)) {
        Object.assign(o, { year: 'numeric', month: 'numeric', day: 'numeric' });
      }
      if ((usual === 'all' && wanted.all) || (usual === 'time' && wanted.time)) {
        Object.assign(o, { hour: 'numeric', minute: '2-digit', second: '2-digit' });
      }
      const cycle = choose(options, 'hourCycle', ['h12', 'h23', 'h11', 'h24'], undefined);
      if (cycle === 'h11' || cycle === 'h24') throw unavailable(`hourCycle: "${cycle}"`);
      if (o.year && o.day && !o.month) throw unavailable('a year with a day and no month');
      o.hour12 = options.hour12 ?? (cycle ? cycle === 'h12' : true);
      o.at = !!timeStyle && (dateStyle === 'full' || dateStyle === 'long') || (!dateStyle && o.month === 'long');
      this.#zone = options.timeZone === undefined ? 'UTC' : String(options.timeZone);
      if (host.zone(0, this.#zone) === undefined) throw new RangeError(`Invalid time zone specified: ${options.timeZone}`);
      this.#o = o;
      this.format = this.format.bind(this);
    }
    formatToParts(date) {
      const at = date === undefined ? Date.now() : Number(date);
      if (!Number.isFinite(at) || Math.abs(at) > 8.64e15) throw new RangeError('Invalid time value');
      const o = this.#o;
      const [offset, short] = host.zone(at, this.#zone);
      const local = new Date(at + offset * 1000);
      const parts = [];
      const add = (type, value) => parts.push({ type, value: String(value) });
      const literal = (value) => { if (parts.length > 0) add('literal', value); };
      this.#date(o, local, add, literal);
      if (o.hour || o.minute || o.second || o.fractionalSecondDigits) {
        const joint = o.at ? ' at ' : o.year || o.month || o.day ? ', ' : ' ';
        literal(joint);
        this.#time(o, local, add);
      }
      if (o.timeZoneName) {
        literal(parts.some((part) => part.type === 'minute' || part.type === 'hour') ? ' ' : ', ');
        add('timeZoneName', this.#zoneName(o.timeZoneName, offset, short));
      }
      return parts;
    }
    #date(o, local, add, literal) {
      const weekday = o.weekday && named(weekdays[local.getUTCDay()], o.weekday);
      const words = o.month && o.month !== 'numeric' && o.month !== '2-digit';
      const year = o.year === '2-digit' ? two(local.getUTCFullYear() % 100) : local.getUTCFullYear();
      const day = o.day === '2-digit' ? two(local.getUTCDate()) : local.getUTCDate();
      if (words) {
        if (o.weekday) {
          add('weekday', weekday);
          literal(', ');
        }
        add('month', named(months[local.getUTCMonth()], o.month));
        if (o.day) { literal(' '); add('day', day); }
        if (o.year) { literal(o.day ? ', ' : ' '); add('year', year); }
        return;
      }
      if (o.weekday && !o.month && o.day) {
        add('day', day);
        literal(' ');
        add('weekday', weekday);
        return;
      }
      if (o.weekday) add('weekday', weekday);
      const fields = [];
      if (o.month) fields.push(['month', o.month === '2-digit' ? two(local.getUTCMonth() + 1) : local.getUTCMonth() + 1]);
      if (o.day) fields.push(['day', day]);
      if (o.year) fields.push(['year', year]);
      fields.forEach(([type, value], index) => {
        literal(index === 0 ? ', ' : '/');
        add(type, value);
      });
    }
    #time(o, local, add) {
      const hours = local.getUTCHours();
      const fields = [];
      if (o.hour) {
        const shown = o.hour12 ? hours % 12 || 12 : hours;
        fields.push(['hour', o.hour === '2-digit' || !o.hour12 ? two(shown) : shown]);
      }
      if (o.minute) fields.push(['minute', o.hour || o.second ? two(local.getUTCMinutes()) : local.getUTCMinutes()]);
      if (o.second) fields.push(['second', o.minute ? two(local.getUTCSeconds()) : local.getUTCSeconds()]);
      fields.forEach(([type, value], index) => {
        if (index > 0) add('literal', ':');
        add(type, value);
      });
      if (o.fractionalSecondDigits) {
        if (fields.length > 0) add('literal', '.');
        add('fractionalSecond', String(local.getUTCMilliseconds()).padStart(3, '0').slice(0, o.fractionalSecondDigits));
      }
      if (o.hour && o.hour12) {
        add('literal', ' ');
        add('dayPeriod', hours < 12 ? 'AM' : 'PM');
      }
    }
    #zoneName(width, offset, short) {
      const minutes = Math.abs(Math.trunc(offset / 60));
      const sign = offset < 0 ? '-' : '+';
      const hours = Math.trunc(minutes / 60);
      if (width === 'longOffset') return offset === 0 ? 'GMT' : `GMT${sign}${two(hours)}:${two(minutes % 60)}`;
      const numeric = offset === 0 ? 'GMT' : `GMT${sign}${hours}${minutes % 60 ? ':' + two(minutes % 60) : ''}`;
      if (width === 'shortOffset') return numeric;
      if (width === 'long') {
        if (short === 'UTC') return 'Coordinated Universal Time';
        throw unavailable('the long name of a time zone');
      }
      return /^(UTC|GMT|[ECMP][SD]T|AK[SD]T|HST)$/.test(short) ? short : numeric;
    }
    format(date) { return this.formatToParts(date).map((part) => part.value).join(''); }
    formatRange(from, to) { return `${this.format(from)} – ${this.format(to)}`; }
    resolvedOptions() {
      const { at, hour12, ...shown } = this.#o;
      return { locale, calendar: 'gregory', numberingSystem: 'latn', timeZone: this.#zone, ...(shown.hour && { hour12, hourCycle: hour12 ? 'h12' : 'h23' }), ...shown };
    }
    static supportedLocalesOf(locales) { return NumberFormat.supportedLocalesOf(locales); }
  }
  class Collator {
    #o;
    constructor(locales, options = {}) {
      refuse(options, 'ignorePunctuation', 'collation');
      const first = Array.isArray(locales) ? locales[0] : locales;
      this.#o = {
        locale: first === undefined ? locale : String(first), usage: choose(options, 'usage', ['sort', 'search'], 'sort'),
        sensitivity: choose(options, 'sensitivity', ['base', 'accent', 'case', 'variant'], 'variant'),
        numeric: !!options.numeric, caseFirst: choose(options, 'caseFirst', ['false'], 'false'),
      };
      const compare = host.collator(this.#o.locale, this.#o.sensitivity, this.#o.numeric);
      if (compare === undefined) throw unavailable(`the locale ${first}`);
      this.compare = (a, b) => compare(String(a), String(b));
    }
    resolvedOptions() { return { ...this.#o }; }
    static supportedLocalesOf(locales) { return [locales ?? []].flat(); }
  }

  class PluralRules {
    #ordinal;
    constructor(locales, options = {}) {
      checkLocale(locales);
      this.#ordinal = choose(options, 'type', ['cardinal', 'ordinal'], 'cardinal') === 'ordinal';
    }
    select(value) {
      const n = Math.abs(Number(value));
      if (!this.#ordinal) return n === 1 ? 'one' : 'other';
      const [tens, units] = [n % 100, n % 10];
      if (units === 1 && tens !== 11) return 'one';
      if (units === 2 && tens !== 12) return 'two';
      return units === 3 && tens !== 13 ? 'few' : 'other';
    }
    resolvedOptions() { return { locale, type: this.#ordinal ? 'ordinal' : 'cardinal' }; }
  }

  class ListFormat {
    #word;
    #long;
    constructor(locales, options = {}) {
      checkLocale(locales);
      this.#word = { conjunction: 'and', disjunction: 'or', unit: '' }[choose(options, 'type', ['conjunction', 'disjunction', 'unit'], 'conjunction')];
      this.#long = choose(options, 'style', ['long', 'short'], 'long') === 'long';
    }
    format(items) {
      const list = [...items].map(String);
      const word = this.#word === 'and' && !this.#long ? '&' : this.#word;
      if (list.length < 2) return list.join('');
      if (!word) return list.join(', ');
      if (list.length === 2) return list.join(` ${word} `);
      return list.slice(0, -1).join(', ') + `, ${word} ` + list.at(-1);
    }
  }

  class RelativeTimeFormat {
    #auto;
    constructor(locales, options = {}) {
      checkLocale(locales);
      choose(options, 'style', ['long'], 'long');
      this.#auto = choose(options, 'numeric', ['always', 'auto'], 'always') === 'auto';
    }
    format(value, unit) {
      const name = String(unit).replace(/s$/, '');
      if (!['second', 'minute', 'hour', 'day', 'week', 'month', 'quarter', 'year'].includes(name)) throw new RangeError(`Invalid unit argument for format() '${unit}'`);
      if (this.#auto) {
        if (name === 'day' && Math.abs(value) <= 1) return ['yesterday', 'today', 'tomorrow'][value + 1] ?? 'today';
        if (name === 'second' && value === 0) return 'now';
        if (!['second', 'minute', 'hour', 'day'].includes(name) && Math.abs(value) <= 1) return `${['last', 'this', 'next'][value + 1]} ${name}`;
        if (['minute', 'hour'].includes(name) && value === 0) return `this ${name}`;
      }
      const amount = new NumberFormat().format(Math.abs(value));
      const words = `${amount} ${name}${amount === '1' ? '' : 's'}`;
      return value < 0 || Object.is(value, -0) ? `${words} ago` : `in ${words}`;
    }
  }

  const callable = (Class) => {
    const format = function (locales, options) { return new Class(locales, options); };
    defineProperty(format, 'prototype', { value: Class.prototype });
    defineProperty(format, 'name', { value: Class.name });
    define(Class.prototype, 'constructor', format);
    format.supportedLocalesOf = Class.supportedLocalesOf;
    return format;
  };
  const Intl = { [Symbol.toStringTag]: 'Intl' };
  for (const Class of [NumberFormat, DateTimeFormat, Collator, PluralRules, ListFormat, RelativeTimeFormat]) define(Intl, Class.name, callable(Class));
  define(Intl, 'getCanonicalLocales', (locales) => [locales ?? []].flat().map(String));
  define(Intl, 'supportedValuesOf', () => { throw unavailable('Intl.supportedValuesOf'); });
  for (const name of ['DisplayNames', 'Segmenter', 'Locale', 'DurationFormat']) {
    define(Intl, name, function () { throw unavailable(`Intl.${name}`); });
  }
  define(globalThis, 'Intl', Intl);

  // The methods that locale.js defines.
  host.locale = {
    number: (value, locales, options) => new NumberFormat(locales, options).format(value),
    date: (at, locales, options, usual) => new DateTimeFormat(locales, options, usual).format(at),
    compare: (a, b, locales, options) => new Collator(locales, options).compare(a, b),
  };
})
