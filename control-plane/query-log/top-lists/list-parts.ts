/**
 * Determines which top lists and blocks together count every query of a span exactly once: the lists of whole months,
 * days and hours within the span, the blocks of the same times that no list counts yet, and all blocks in the remaining
 * parts of the span. Pure.
 */

/** The spans of top lists: hours, days and months in UTC, as their letters in the database. */
export type ListGrain = 'h' | 'd' | 'M';

/** Microseconds since 1970, end exclusive. */
interface Span {
  readonly fromUs: number;
  readonly toUs: number;
}

/** Selects lists whose start is in a span. Times are Unix milliseconds. */
export interface ListRange {
  readonly grain: ListGrain;
  readonly fromMs: number;
  readonly toMs: number;
}

/** Selects blocks with queries in a span. */
export interface BlockRange extends Span {
  /** `any`: only blocks that no list counts; `hour`: only blocks that no list of an hour counts; null: all blocks. */
  readonly unlisted: 'any' | 'hour' | null;
}

/** The lists and blocks that cover a span. */
export interface ListParts {
  readonly lists: readonly ListRange[];
  readonly blocks: readonly BlockRange[];
  /** Whether a day without blocks lies partly within the span, so that the parts cover more or less than the span. */
  readonly isRounded: boolean;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

/**
 * The lists and blocks that cover a span. `alone` contains the starts of days that have only lists, but no blocks. Such
 * a day cannot be divided: if only a part of the day is within the span, the whole day is included if its noon is in
 * the span, or omitted if not.
 */
export function partsOf({ fromUs, toUs }: Span, alone: ReadonlySet<number> = new Set()): ListParts {
  const [fromMs, toMs] = [fromUs / 1000, toUs / 1000];
  let firstMs = nextStart('d', fromMs);
  let lastMs = startOf('d', toMs);
  const partial = firstMs > lastMs ? [[fromMs, toMs]] : [[fromMs, firstMs], [lastMs, toMs]]; // prettier-ignore
  const lists: ListRange[] = [];
  const blocks: BlockRange[] = [];
  let isRounded = false;
  for (const [startMs, endMs] of partial as [number, number][]) {
    if (startMs >= endMs) continue;
    const dayMs = startOf('d', startMs);
    if (alone.has(dayMs)) {
      isRounded = true;
      const noonMs = dayMs + DAY_MS / 2;
      if (noonMs < startMs || noonMs >= endMs) continue;
      firstMs = Math.min(firstMs, dayMs);
      lastMs = Math.max(lastMs, dayMs + DAY_MS);
    } else addHours(startMs, endMs, lists, blocks);
  }
  if (firstMs < lastMs) {
    lists.push(...monthsAndDays(firstMs, lastMs));
    blocks.push({ fromUs: firstMs * 1000, toUs: lastMs * 1000, unlisted: 'any' });
  }
  return { lists, blocks, isRounded };
}

/** Start of the hour, day or month that contains a time, in Unix milliseconds. */
export function startOf(grain: ListGrain, timeMs: number): number {
  const time = new Date(timeMs);
  const [year, month, day] = [time.getUTCFullYear(), time.getUTCMonth(), time.getUTCDate()];
  if (grain === 'M') return Date.UTC(year, month);
  return Date.UTC(year, month, day, grain === 'h' ? time.getUTCHours() : 0);
}

/** Start of the first hour, day or month that begins at this time or later. */
function nextStart(grain: ListGrain, timeMs: number): number {
  const startMs = startOf(grain, timeMs);
  if (startMs === timeMs) return startMs;
  return startOf(grain, startMs + (grain === 'h' ? HOUR_MS : grain === 'd' ? DAY_MS : 31 * DAY_MS));
}

function addHours(fromMs: number, toMs: number, lists: ListRange[], blocks: BlockRange[]): void {
  const firstMs = nextStart('h', fromMs);
  const lastMs = startOf('h', toMs);
  const add = (startMs: number, endMs: number, unlisted: BlockRange['unlisted']): void => {
    if (startMs < endMs) blocks.push({ fromUs: startMs * 1000, toUs: endMs * 1000, unlisted });
  };
  if (firstMs >= lastMs) return add(fromMs, toMs, null);
  add(fromMs, firstMs, null);
  add(firstMs, lastMs, 'hour');
  add(lastMs, toMs, null);
  lists.push({ grain: 'h', fromMs: firstMs, toMs: lastMs });
}

function monthsAndDays(fromMs: number, toMs: number): ListRange[] {
  const firstMs = nextStart('M', fromMs);
  const lastMs = startOf('M', toMs);
  if (firstMs >= lastMs) return [{ grain: 'd', fromMs, toMs }];
  const ranges: ListRange[] = [
    { grain: 'd', fromMs, toMs: firstMs },
    { grain: 'M', fromMs: firstMs, toMs: lastMs },
    { grain: 'd', fromMs: lastMs, toMs },
  ];
  return ranges.filter((range) => range.fromMs < range.toMs);
}
