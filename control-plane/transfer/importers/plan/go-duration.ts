/** Durations in the notation of Go programs, such as `1h30m`. Pure. */

const UNIT_SECS: Readonly<Record<string, number>> = {
  ms: 0.001,
  s: 1,
  m: 60,
  h: 3600,
  d: 86_400,
  w: 604_800,
};

/**
 * Seconds of a duration, rounded up; a number without a unit is in units of `bareUnitSecs`. Undefined for other
 * strings.
 */
export function goDurationSecs(text: string | undefined, bareUnitSecs: number): number | undefined {
  const written = text?.trim() ?? '';
  if (/^\d{1,9}(?:\.\d{1,9})?$/.test(written)) return Math.ceil(Number(written) * bareUnitSecs);
  if (!/^(?:\d{1,9}(?:\.\d{1,9})?(?:ms|[smhdw]))+$/.test(written)) return undefined;
  let secs = 0;
  for (const [, count, unit = 's'] of written.matchAll(/([\d.]+)(ms|[smhdw])/g))
    secs += Number(count) * UNIT_SECS[unit]!;
  return Math.ceil(secs);
}
