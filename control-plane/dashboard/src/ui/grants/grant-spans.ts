/** Durations for which something is paused or allowed on a device. Pure functions. */

/** Offered durations in seconds, and `tomorrow` for the next morning. */
export const SPANS = ['1800', '3600', 'tomorrow'] as const;
export type Span = (typeof SPANS)[number];

/** Hour at which a pause "until tomorrow" ends. */
const MORNING_HOUR = 6;

/** Fields of the request for a grant with this duration, which begins now. */
export function grantEnd(
  span: Span,
  now: Date,
): { readonly until: Date; readonly body: { readonly secs?: number; readonly until?: string } } {
  if (span === 'tomorrow') {
    const until = new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1, MORNING_HOUR);
    return { until, body: { until: until.toISOString() } };
  }
  const secs = Number(span);
  return { until: new Date(now.getTime() + secs * 1000), body: { secs } };
}
