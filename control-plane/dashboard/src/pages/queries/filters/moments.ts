/** Converts times between form fields (local, to the minute) and the API (UTC). */

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
