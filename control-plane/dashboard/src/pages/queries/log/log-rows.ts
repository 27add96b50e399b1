/**
 * The rows of the log that the page knows, newest first: live rows, then pages of older ones. Of pages far from the
 * visible rows only the place is kept, so that memory stays small however far the user scrolls.
 */
import type { AnswerOf, EventOf } from '../../../../../../shared/api/client/typed-client.ts';

/** A page of the API. */
export type LogPage = AnswerOf<'GET /queries'>;
/** A row; one that came live may have no id yet. */
export type LogRow = EventOf<'GET /queries/stream'>['rows'][number];

/** Position of a page in the log. */
export interface PagePlace {
  /** Null = from the newest row on, or from `before` on. */
  readonly cursor: string | null;
  /** Rows before this moment; for what follows rows that came live. */
  readonly before: string | null;
}

/** A row with a key that is its own for as long as it is known. */
export interface KeyedRow {
  readonly key: string;
  readonly row: LogRow;
}

interface Part {
  readonly place: PagePlace;
  readonly count: number;
  /** Null while only its place is kept. */
  rows: readonly KeyedRow[] | null;
}

/** Maximum number of live rows to keep; older ones are read again as a page. */
export const MOST_FRESH = 1_000;
/** Pages that are kept around what is seen, on either side. */
const KEPT_PARTS = 5;

const NEWEST: PagePlace = { cursor: null, before: null };

/** The rows. */
export class LogRows {
  private fresh: readonly KeyedRow[] = [];
  private parts: Part[] = [];
  private unnumbered = 0;
  /** Position of the next older page; null = there is none. */
  private older: PagePlace | null = NEWEST;

  /** Rows that can be scrolled over. */
  get count(): number {
    return this.parts.reduce((sum, { count }) => sum + count, this.fresh.length);
  }

  /** Rows in memory. */
  get keptCount(): number {
    return this.parts.reduce((sum, { rows }) => sum + (rows?.length ?? 0), this.fresh.length);
  }

  /** Position of the next older page; null at the end of the log. */
  get next(): PagePlace | null {
    return this.older;
  }

  /** The row at a place, 0 = the newest; null if it must be requested again. */
  at(index: number): KeyedRow | null {
    if (index < this.fresh.length) return this.fresh[index] ?? null;
    const [part, within] = this.partAt(index);
    return part?.rows?.[within] ?? null;
  }

  /** Index of the evicted page with this row; null if the row is in memory. */
  lostAt(index: number): PagePlace | null {
    if (index < this.fresh.length) return null;
    const [part] = this.partAt(index);
    return part?.rows === null ? part.place : null;
  }

  /** Adds the page that was asked for at `next`. */
  append(place: PagePlace, page: LogPage): void {
    const rows = this.rowsOf(place, page);
    this.parts.push({ place, count: rows.length, rows });
    const cursor = page.next_cursor ?? null;
    this.older = cursor === null ? null : { cursor, before: null };
  }

  /** Brings the rows of a page back. One that has other rows now shows those that fit into its place. */
  refill(place: PagePlace, page: LogPage): void {
    const part = this.parts.find((one) => one.place === place);
    if (part !== undefined) part.rows = this.rowsOf(place, page).slice(0, part.count);
  }

  /** Adds live rows, oldest first, and skips rows that are known already. */
  prepend(rows: readonly LogRow[]): void {
    const added = this.keyed(this.unknown(rows).toReversed());
    const all = [...added, ...this.fresh];
    this.fresh = all.slice(0, MOST_FRESH);
    const oldest = this.fresh.at(-1);
    // A gap between what came live and the pages is closed by asking for pages from there on.
    if (all.length > MOST_FRESH && oldest !== undefined) this.cutAfter(oldest.row);
  }

  /** Rows that are neither among the live ones nor on the newest page; a row without an id counts as unknown. */
  unknown(rows: readonly LogRow[]): LogRow[] {
    const known = new Set([...this.fresh, ...(this.parts[0]?.rows ?? [])].map(({ row }) => row.id));
    return rows.filter(({ id }) => id === null || !known.has(id));
  }

  /** Forgets all but these rows, oldest first: more came than were kept. */
  restart(rows: readonly LogRow[]): void {
    this.fresh = this.keyed(rows.toReversed()).slice(0, MOST_FRESH);
    const oldest = this.fresh.at(-1);
    if (oldest === undefined) this.clear();
    else this.cutAfter(oldest.row);
  }

  /** Forgets everything. */
  clear(): void {
    this.fresh = [];
    this.parts = [];
    this.older = NEWEST;
  }

  /** Keeps the rows of pages near these places only, and of the newest: new ones are compared with them. */
  keepAround(first: number, last: number): void {
    let start = this.fresh.length;
    const seen: number[] = [];
    for (const [place, { count }] of this.parts.entries()) {
      if (start <= last && start + count > first) seen.push(place);
      start += count;
    }
    const from = (seen[0] ?? 0) - KEPT_PARTS;
    const to = (seen.at(-1) ?? 0) + KEPT_PARTS;
    for (const [place, part] of this.parts.entries())
      if (place > 0 && (place < from || place > to)) part.rows = null;
  }

  private cutAfter({ timestamp }: LogRow): void {
    this.parts = [];
    // Exclusive: the millisecond of the oldest row may have others.
    this.older = { cursor: null, before: new Date(Date.parse(timestamp) + 1).toISOString() };
  }

  private partAt(index: number): [part: Part | undefined, within: number] {
    let within = index - this.fresh.length;
    for (const part of this.parts) {
      if (within < part.count) return [part, within];
      within -= part.count;
    }
    return [undefined, 0];
  }

  /** A page that follows live rows begins with some of them. */
  private rowsOf(place: PagePlace, page: LogPage): KeyedRow[] {
    const known = place.before === null ? null : new Set(this.fresh.map(({ key }) => key));
    return this.keyed(page.data).filter(({ key }) => known?.has(key) !== true);
  }

  private keyed(rows: readonly LogRow[]): KeyedRow[] {
    return rows.map((row) => ({ key: row.id === null ? `new ${++this.unnumbered}` : String(row.id), row }));
  }
}
