/** Converts times between form fields (local, to the minute) and the API (UTC). */

const HOUR_MS = 3_600_000;
const UNITS_MS: Readonly<Record<string, number>> = {
  m: 60_000,
  h: HOUR_MS,
  d: 24 * HOUR_MS,
  w: 7 * 24 * HOUR_MS,
};

/** Local time for an input field; empty if the text is not a valid time. */
export function localMoment(utc: string): string {
  const ms = Date.parse(utc);
  if (Number.isNaN(ms)) return '';
  const local = new Date(ms - new Date(ms).getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}

/** UTC time for the API; empty if the field is empty. */
export function utcMoment(local: string): string {
  const ms = Date.parse(local);
  return Number.isNaN(ms) ? '' : new Date(ms).toISOString();
}

/** Local time, for an input field, at which a period such as `24h` began; empty if the text is not a period. */
export function localStart(period: string, nowMs: number): string {
  const [, count, unit = ''] = /^(\d{1,5})([mhdw])$/.exec(period) ?? [];
  const startMs = nowMs - Number(count) * (UNITS_MS[unit] ?? 0);
  return Number.isNaN(startMs) ? '' : localMoment(new Date(startMs).toISOString());
}

/** The next moment after a time, in the API's resolution; undefined if the text is not a time. */
export function momentAfter(utc: string | undefined): string | undefined {
  const ms = Date.parse(utc ?? '');
  return Number.isNaN(ms) ? undefined : new Date(ms + 1).toISOString();
}
