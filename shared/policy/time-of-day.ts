/** Times of day in the form `HH:MM`, and as minutes since midnight; days in the form `YYYY-MM-DD`, and as numbers. */

const PATTERN = /^([01]\d|2[0-4]):([0-5]\d)$/;

/** Minutes since midnight, 0..1440 (`24:00`); null if the text is not a time of day. */
export function minuteOfDay(text: string): number | null {
  const parts = PATTERN.exec(text);
  if (parts === null) return null;
  const minute = Number(parts[1]) * 60 + Number(parts[2]);
  return minute <= 1440 ? minute : null;
}

/** The text of 0..1440 minutes since midnight. */
export function timeOfDay(minute: number): string {
  const padded = (value: number): string => String(value).padStart(2, '0');
  return `${padded(Math.floor(minute / 60))}:${padded(minute % 60)}`;
}

const DAY_MS = 86_400_000;

/** Days in the form `YYYY-MM-DD`, as days since 1970-01-01. */
export function dayRange({ from, to }: { readonly from: string; readonly to: string }): {
  from: number;
  to: number;
} {
  return { from: Date.parse(from) / DAY_MS, to: Date.parse(to) / DAY_MS };
}
