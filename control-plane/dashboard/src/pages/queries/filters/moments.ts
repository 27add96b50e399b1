/** Moments as the field of a form has them (local, to the minute), and as the API takes them (UTC). */

/** For a field; empty if the text is not a valid time. */
export function localMoment(utc: string): string {
  const ms = Date.parse(utc);
  if (Number.isNaN(ms)) return '';
  const local = new Date(ms - new Date(ms).getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}

/** For the API; empty where the field is. */
export function utcMoment(local: string): string {
  const ms = Date.parse(local);
  return Number.isNaN(ms) ? '' : new Date(ms).toISOString();
}
