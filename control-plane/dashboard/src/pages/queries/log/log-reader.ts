/**
 * Reads the log for a page: older rows as they are scrolled to, new ones as they come. While the reader is paused, new
 * rows are counted and wait; nothing that is seen moves.
 */
import { LogRows, MOST_FRESH } from './log-rows.ts';
import type { LogPage, LogRow, PagePlace } from './log-rows.ts';
import type { TailEvent } from './tail.ts';

/** What components draw. A new object whenever something in it changes. */
export interface LogView {
  readonly rows: LogRows;
  /** How many rows there are to scroll over. */
  readonly count: number;
  readonly isLoading: boolean;
  /** Why the last page did not come. */
  readonly failure: Error | null;
  /** All rows that the filters select, and the queries that they stand for; null before the first page. */
  readonly totals: { readonly rows: number; readonly queries: number } | null;
  /** New rows that wait. */
  readonly waiting: number;
  /** Rows that came live and were left out, since the rows were asked for. */
  readonly skipped: number;
  readonly isOwnNodeOnly: boolean;
  readonly damagedBlocks: number;
}

/** What it takes. */
export interface LogReaderParts {
  readonly read: (place: PagePlace) => Promise<LogPage>;
  /** Calls back after a time; returns what cancels it. */
  readonly later: (run: () => void, ms: number) => () => void;
  readonly nowMs: () => number;
}

/** Live rows are drawn at most ten times a second. */
export const DRAWN_MS = 100;
/** Older rows are there before somebody has scrolled to them. */
const AHEAD_ROWS = 300;

/** Reads one selection of the log. */
export class LogReader {
  private readonly parts: LogReaderParts;
  private readonly watchers = new Set<() => void>();
  private readonly rows = new LogRows();
  private pending: LogRow[] = [];
  private state: LogView;
  private isPaused = false;
  /** The tail was away while it was paused. */
  private isBehind = false;
  private drawnMs = -DRAWN_MS;
  private cancelDraw: (() => void) | null = null;
  private readonly asked = new Set<PagePlace>();
  private round = 0;

  constructor(parts: LogReaderParts) {
    this.parts = parts;
    this.state = {
      rows: this.rows,
      count: 0,
      isLoading: false,
      failure: null,
      totals: null,
      waiting: 0,
      skipped: 0,
      isOwnNodeOnly: false,
      damagedBlocks: 0,
    };
  }

  readonly watch = (watcher: () => void): (() => void) => {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  };

  readonly view = (): LogView => this.state;

  /** Asks for the newest rows in place of all that are here; these stay until the answer is there. */
  async reload(): Promise<void> {
    const round = ++this.round;
    this.asked.clear();
    this.isBehind = false;
    const place: PagePlace = { cursor: null, before: null };
    await this.read(place, round, (page) => {
      this.pending = [];
      this.rows.clear();
      this.rows.append(place, page);
      return {
        totals: { rows: page.total, queries: page.total_queries },
        waiting: 0,
        skipped: 0,
        damagedBlocks: page.damaged_blocks,
      };
    });
  }

  /** Rows of these places are seen now: what is missing there is asked for, what is far away forgotten. */
  see(first: number, last: number): void {
    this.rows.keepAround(first, last);
    for (let index = first; index < last; index += 1) {
      const lost = this.rows.lostAt(index);
      if (lost !== null) void this.readAgain(lost);
    }
    const { next } = this.rows;
    if (next !== null && this.state.totals !== null && this.state.failure === null) {
      if (last + AHEAD_ROWS >= this.rows.count) void this.readOlder(next);
    }
  }

  /** Tries again what failed. */
  retry(): void {
    this.show({ failure: null });
    const { next } = this.rows;
    if (this.state.totals === null || next === null) void this.reload();
    else void this.readOlder(next);
  }

  /** Takes new rows: draws them soon, or lets them wait. */
  take({ rows, skipped, nodes }: TailEvent): void {
    const { totals, waiting } = this.state;
    if (totals === null) return;
    this.pending.push(...rows);
    if (this.pending.length > MOST_FRESH) this.pending = this.pending.slice(-MOST_FRESH);
    this.state = {
      ...this.state,
      waiting: waiting + rows.length,
      skipped: this.state.skipped + skipped,
      isOwnNodeOnly: nodes === 'own',
      totals: {
        rows: totals.rows + rows.length + skipped,
        queries: totals.queries + skipped + rows.reduce((sum, { repeats }) => sum + 1 + repeats, 0),
      },
    };
    this.drawSoon();
  }

  /** Lets new rows wait, or shows those that did. */
  pause(isPaused: boolean): void {
    if (this.isPaused === isPaused) return;
    this.isPaused = isPaused;
    if (!isPaused && this.isBehind) void this.reload();
    else if (!isPaused && this.state.waiting > 0) this.drawSoon();
  }

  /** Shows what waits, paused or not. */
  showWaiting(): void {
    if (this.state.waiting > this.pending.length) this.rows.restart(this.pending);
    else this.rows.prepend(this.pending);
    this.pending = [];
    this.show({ waiting: 0 });
  }

  /** The tail was away: the newest rows are asked for, unless somebody reads where they are. */
  catchUp(): void {
    this.isBehind = this.isPaused;
    if (!this.isPaused) void this.reload();
  }

  /** Stops drawing. */
  close(): void {
    this.round += 1;
    this.cancelDraw?.();
    this.cancelDraw = null;
  }

  private drawSoon(): void {
    if (this.cancelDraw !== null) return;
    const ms = Math.max(0, this.drawnMs + DRAWN_MS - this.parts.nowMs());
    this.cancelDraw = this.parts.later(() => {
      this.cancelDraw = null;
      this.drawnMs = this.parts.nowMs();
      if (this.isPaused) this.show({});
      else this.showWaiting();
    }, ms);
  }

  private readOlder(place: PagePlace): Promise<void> {
    return this.read(place, this.round, (page) => {
      if (this.rows.next === place) this.rows.append(place, page);
      return {};
    });
  }

  private readAgain(place: PagePlace): Promise<void> {
    return this.read(place, this.round, (page) => {
      this.rows.refill(place, page);
      return {};
    });
  }

  /**
   * Reads a page and has it taken, unless it is on its way already, does not come, or is no longer wanted. Watchers hear
   * of it once it is taken: before, they would ask for it again.
   */
  private async read(
    place: PagePlace,
    round: number,
    take: (page: LogPage) => Partial<LogView>,
  ): Promise<void> {
    if (this.asked.has(place)) return;
    this.asked.add(place);
    this.show({ isLoading: true });
    const outcome = await this.parts.read(place).then(
      (page) => ({ page, failure: null }),
      (error: unknown) => ({
        page: null,
        failure: error instanceof Error ? error : new Error(String(error)),
      }),
    );
    this.asked.delete(place);
    if (round !== this.round) return;
    const { page, failure } = outcome;
    this.show({ isLoading: this.asked.size > 0, failure, ...(page !== null && take(page)) });
  }

  private show(changed: Partial<LogView>): void {
    this.state = { ...this.state, ...changed, count: this.rows.count };
    for (const watcher of this.watchers) watcher();
  }
}
