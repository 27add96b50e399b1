/**
 * Rows of the log in the browser, newest first: live rows, then pages of older rows. The rows of pages far from the
 * visible rows are evicted to limit memory; only the position of such a page is kept.
 */
import type { AnswerOf, EventOf } from '../../../../../../shared/api/client/typed-client.ts';

/** A page of the API. */
export type LogPage = AnswerOf<'GET /queries'>;
/** A row; a live row may not have an id yet. */
export type LogRow = EventOf<'GET /queries/stream'>['rows'][number];

/** Position of a page in the log. */
export interface PagePlace {
  /** Cursor of the page; null to start at `before` or at the newest row. */
  readonly cursor: string | null;
  /** Selects rows before this time; used for the page after the live rows. */
  readonly before: string | null;
}

/** A row with a unique, stable key. */
export interface KeyedRow {
  readonly key: string;
  readonly row: LogRow;
}

interface Part {
  readonly place: PagePlace;
  readonly count: number;
  /** Rows of the page; null after eviction. */
  rows: readonly KeyedRow[] | null;
}

/** Maximum number of live rows; any older rows are read again as a page. */
export const MAX_FRESH = 1_000;
/** Number of pages to keep on either side of the visible rows. */
const KEPT_PARTS = 5;

const NEWEST: PagePlace = { cursor: null, before: null };

export class LogRows {
  private fresh: readonly KeyedRow[] = [];
  private parts: Part[] = [];
  private unnumbered = 0;
  /** Position of the next older page; null at the end of the log. */
  private older: PagePlace | null = NEWEST;

  /** Number of rows in the scroll area. */
  get count(): number {
    return this.parts.reduce((sum, { count }) => sum + count, this.fresh.length);
  }

  /** Number of rows in memory. */
  get keptCount(): number {
    return this.parts.reduce((sum, { rows }) => sum + (rows?.length ?? 0), this.fresh.length);
  }

  /** Position of the next older page; null at the end of the log. */
  get next(): PagePlace | null {
    return this.older;
  }

  /** The row at an index, 0 = the newest; null if its page must be requested again. */
  at(index: number): KeyedRow | null {
    if (index < this.fresh.length) return this.fresh[index] ?? null;
    const [part, within] = this.partAt(index);
    return part?.rows?.[within] ?? null;
  }

  /** Position of the evicted page with this row; null if the row is in memory. */
  lostAt(index: number): PagePlace | null {
    if (index < this.fresh.length) return null;
    const [part] = this.partAt(index);
    return part?.rows === null ? part.place : null;
  }

  /** Appends the page that was requested with `next`. */
  append(place: PagePlace, page: LogPage): void {
    const rows = this.rowsOf(place, page);
    this.parts.push({ place, count: rows.length, rows });
    const cursor = page.next_cursor ?? null;
    this.older = cursor === null ? null : { cursor, before: null };
  }

  /**
   * Restores the rows of an evicted page. If the page now has more rows than before, only as many as before are shown.
   */
  refill(place: PagePlace, page: LogPage): void {
    const part = this.parts.find((one) => one.place === place);
    if (part !== undefined) part.rows = this.rowsOf(place, page).slice(0, part.count);
  }

  /** Adds live rows, oldest first, except those that are already known. */
  prepend(rows: readonly LogRow[]): void {
    const added = this.keyed(this.unknown(rows).toReversed());
    const all = [...added, ...this.fresh];
    this.fresh = all.slice(0, MAX_FRESH);
    const oldest = this.fresh.at(-1);
    // Pages are requested from this row on, so that no row is missing between live rows and pages.
    if (all.length > MAX_FRESH && oldest !== undefined) this.cutAfter(oldest.row);
  }

  /** Rows that are neither live rows nor on the newest page; a row without an id counts as unknown. */
  unknown(rows: readonly LogRow[]): LogRow[] {
    const known = new Set([...this.fresh, ...(this.parts[0]?.rows ?? [])].map(({ row }) => row.id));
    return rows.filter(({ id }) => id === null || !known.has(id));
  }

  /** Replaces all rows by these, oldest first, because more new rows arrived than the list can keep. */
  restart(rows: readonly LogRow[]): void {
    this.fresh = this.keyed(rows.toReversed()).slice(0, MAX_FRESH);
    const oldest = this.fresh.at(-1);
    if (oldest === undefined) this.clear();
    else this.cutAfter(oldest.row);
  }

  /** Removes all rows. */
  clear(): void {
    this.fresh = [];
    this.parts = [];
    this.older = NEWEST;
  }

  /**
   * Evicts all pages except those near the given rows, and except the newest page, with which new rows are compared.
   */
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
    // `before` is exclusive, and several rows may have the same millisecond as the oldest row.
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

  /** The rows of a page; a page after the live rows begins with some live rows, which are omitted. */
  private rowsOf(place: PagePlace, page: LogPage): KeyedRow[] {
    const known = place.before === null ? null : new Set(this.fresh.map(({ key }) => key));
    return this.keyed(page.data).filter(({ key }) => known?.has(key) !== true);
  }

  private keyed(rows: readonly LogRow[]): KeyedRow[] {
    return rows.map((row) => ({ key: row.id === null ? `new ${++this.unnumbered}` : String(row.id), row }));
  }
}
