/** Formats numbers, percentages, byte sizes, durations and times in a language. */
import type { Say } from './say.ts';

/** Formatters of a language. */
export interface Formats {
  /** Formats a number as in 12,345. */
  readonly count: (value: number) => string;
  /** Formats a number as in 12.3K, for narrow places. Show the exact value next to it. */
  readonly briefCount: (value: number) => string;
  /** Formats a percentage from 0 to 100, as in the API. */
  readonly percent: (value: number) => string;
  readonly bytes: (value: number) => string;
  /** Formats microseconds in a suitable unit. */
  readonly duration: (us: number) => string;
  /** Formats seconds that remain or have passed: "5 min", "2 h". */
  readonly span: (secs: number) => string;
  /** Formats a relative time, as in "3 minutes ago". */
  readonly ago: (moment: string | Date, now?: Date) => string;
  /** Formats day and time, to the second. */
  readonly moment: (moment: string | Date) => string;
  /** Formats the time of day, to the second. */
  readonly time: (moment: string | Date) => string;
  /** Formats hours and minutes, for narrow places. */
  readonly shortTime: (moment: string | Date) => string;
  /** Formats day and month, for narrow places. */
  readonly shortDay: (moment: string | Date) => string;
  readonly day: (moment: string | Date) => string;
  /** Formats weekday and time of day to the minute, in a time zone or in the user's. */
  readonly dayAndTime: (moment: string | Date, timeZone?: string) => string;
  /** Name of a weekday; 0 is Monday. */
  readonly weekday: (day: number, width?: 'long' | 'short') => string;
  readonly list: (items: readonly string[]) => string;
  /** Name of a country by its ISO 3166 code. */
  readonly country: (code: string) => string;
}

const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const;
const SPANS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
];

const DAY_MS = 86_400_000;
/** 1970-01-05 was a Monday. */
const MONDAY_MS = 4 * DAY_MS;

const made = new Map<string, Formats>();

/** The formatters of a language, created once. */
export function formatsOf(language: string, say: Say): Formats {
  const known = made.get(language);
  if (known !== undefined) return known;
  const formats = makeFormats(language, say);
  made.set(language, formats);
  return formats;
}

function makeFormats(language: string, say: Say): Formats {
  const number = (options?: Intl.NumberFormatOptions) => once(() => new Intl.NumberFormat(language, options));
  const date = (options: Intl.DateTimeFormatOptions) =>
    once(() => new Intl.DateTimeFormat(language, options));
  const whole = number();
  // By default, compact numbers below 10,000 have no separator in German.
  const brief = number({ notation: 'compact', maximumFractionDigits: 1, useGrouping: true });
  const share = number({ style: 'percent', maximumFractionDigits: 1 });
  const moment = date({ dateStyle: 'medium', timeStyle: 'medium' });
  const time = date({ timeStyle: 'medium' });
  const day = date({ dateStyle: 'medium' });
  const shortTime = date({ timeStyle: 'short' });
  const shortDay = date({ day: 'numeric', month: 'short' });
  const relative = once(() => new Intl.RelativeTimeFormat(language, { numeric: 'auto' }));
  const list = once(() => new Intl.ListFormat(language));
  const measure = measureOf(language);
  return {
    count: (value) => whole().format(value),
    briefCount: (value) => brief().format(value),
    percent: (value) => share().format(value / 100),
    bytes: (value) => measure(...inUnit(value)),
    duration: (us) =>
      us < 1_000
        ? measure(us, 'microsecond')
        : us < 1_000_000
          ? measure(us / 1_000, 'millisecond')
          : measure(us / 1_000_000, 'second'),
    span: (secs) => {
      const [unit, size] = SPANS.find(([, least]) => Math.abs(secs) >= least) ?? ['second', 1];
      return measure(Math.round(secs / size), unit);
    },
    ago: (then, now = new Date()) => {
      const secs = Math.round((new Date(then).getTime() - now.getTime()) / 1_000);
      if (Math.abs(secs) < 5) return say('time.now');
      const [unit, size] = SPANS.find(([, least]) => Math.abs(secs) >= least) ?? ['second', 1];
      return relative().format(Math.round(secs / size), unit);
    },
    moment: (then) => moment().format(new Date(then)),
    time: (then) => time().format(new Date(then)),
    shortTime: (then) => shortTime().format(new Date(then)),
    shortDay: (then) => shortDay().format(new Date(then)),
    day: (then) => day().format(new Date(then)),
    dayAndTime: (then, timeZone) =>
      new Intl.DateTimeFormat(language, {
        weekday: 'long',
        hour: 'numeric',
        minute: '2-digit',
        ...(timeZone !== undefined && { timeZone }),
      }).format(new Date(then)),
    weekday: (number, width = 'long') =>
      new Intl.DateTimeFormat(language, { weekday: width, timeZone: 'UTC' }).format(
        MONDAY_MS + number * DAY_MS,
      ),
    list: (items) => list().format(items),
    country: (code) => new Intl.DisplayNames(language, { type: 'region' }).of(code) ?? code,
  };
}

/** Creates a formatter at its first use, because creating one is slow and most pages need few of them. */
function once<Formatter>(create: () => Formatter): () => Formatter {
  let created: Formatter | undefined;
  return () => (created ??= create());
}

/**
 * Formats a value with its unit. Each formatter is created once, because creating one is slow and the log needs one per
 * row.
 */
function measureOf(language: string): (value: number, unit: string) => string {
  const units = new Map<string, Intl.NumberFormat>();
  return (value, unit) => {
    const maximumFractionDigits = value < 10 ? 1 : 0;
    const key = `${unit} ${maximumFractionDigits}`;
    const format =
      units.get(key) ??
      new Intl.NumberFormat(language, {
        style: 'unit',
        unit,
        // English has a plural of "byte" only in the long form.
        unitDisplay: unit === 'byte' ? 'long' : 'short',
        maximumFractionDigits,
      });
    units.set(key, format);
    return format.format(value);
  };
}

function inUnit(bytes: number): [number, string] {
  const power = bytes < 1 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), UNITS.length - 1);
  return [bytes / 1024 ** power, UNITS[power]!];
}
