/** For how long a user of the role family pauses or allows something. Pure. */

/** Seconds, or until the next morning. */
export const SPANS = ['1800', '3600', 'tomorrow'] as const;
export type Span = (typeof SPANS)[number];

/** When tomorrow begins, in hours after midnight. */
const MORNING_HOUR = 6;

/** The end of a span that begins now, and how a request says it. */
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
