/** Formats and parses numbers and times for users. */

const UNIT_SECS = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 } as const;

/** Seconds of a text such as `10m` or `1h30m`; null if it is not a duration. */
export function durationSecs(text: string): number | null {
  if (!/^(?:\d{1,9}[smhdw])+$/.test(text)) return null;
  let secs = 0;
  for (const [, count, unit] of text.matchAll(/(\d+)([smhdw])/g))
    secs += Number(count) * UNIT_SECS[unit as keyof typeof UNIT_SECS];
  return secs;
}

/** The two largest units of a time: `3 h 12 min`. */
export function formatDuration(secs: number): string {
  const units = [
    ['d', 86_400],
    ['h', 3600],
    ['min', 60],
    ['s', 1],
  ] as const;
  let left = Math.floor(secs);
  const parts: string[] = [];
  for (const [name, size] of units) {
    const count = Math.floor(left / size);
    left -= count * size;
    if (count > 0) parts.push(`${count} ${name}`);
  }
  return parts.slice(0, 2).join(' ') || '0 s';
}

/** Formats a count, e.g. `12,345`. */
export function formatCount(count: number): string {
  return count.toLocaleString('en-US');
}

/** Formats a percentage, e.g. `12.3 %`. */
export function formatPercent(percent: number): string {
  return `${percent.toFixed(1)} %`;
}

/** Formats microseconds, e.g. `1.2 ms`. */
export function formatMillis(micros: number): string {
  return `${(micros / 1000).toFixed(micros < 100_000 ? 1 : 0)} ms`;
}
