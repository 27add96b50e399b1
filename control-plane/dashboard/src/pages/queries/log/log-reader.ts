/**
 * Reads the log for the page: older rows while the user scrolls, new rows as they arrive. While the reader is paused,
 * new rows are counted but not shown, so that visible rows do not move. Rows that arrive while the newest page is
 * loading are held until the page has arrived, so that a row from both sources is shown and counted once.
 */
import { HeldRows } from './held-rows.ts';
import { LogRows, MAX_FRESH } from './log-rows.ts';
import type { LogPage, LogRow, PagePlace } from './log-rows.ts';
import type { TailEvent } from './tail.ts';

/** State that components render. Each change creates a new object. */
export interface LogView {
  readonly rows: LogRows;
  /** Number of rows in the scroll area. */
  readonly count: number;
  readonly isLoading: boolean;
  /** Error of the last page request. */
  readonly failure: Error | null;
  /** Number of rows that the filters select, and number of their queries; null before the first page. */
  readonly totals: { readonly rows: number; readonly queries: number } | null;
  /** Number of new rows that are not shown yet. */
  readonly waiting: number;
  /** Number of live rows that the server has left out since the last reload. */
  readonly skipped: number;
  readonly isOwnNodeOnly: boolean;
  readonly damagedBlocks: number;
}

/** Functions of the browser that the reader needs; tests replace them. */
export interface LogReaderParts {
  readonly read: (place: PagePlace) => Promise<LogPage>;
  /** Calls `run` after a delay; returns a function that cancels the call. */
  readonly later: (run: () => void, ms: number) => () => void;
  readonly nowMs: () => number;
}

/** Minimum interval at which live rows are rendered. */
export const DRAWN_MS = 100;
/** Older rows are loaded when the user is at most this many rows away from them. */
const AHEAD_ROWS = 300;

/** Reads one selection of the log. */
export class LogReader {
  private readonly parts: LogReaderParts;
  private readonly watchers = new Set<() => void>();
  private readonly rows = new LogRows();
  private pending: LogRow[] = [];
  private state: LogView;
  private isPaused = false;
  /** Rows that arrived since the newest page was requested; null without such a request. */
  private held: HeldRows | null = null;
  /** Number of tails that were started. */
  private tails = 0;
  /** Whether reading the rows before the start of the last tail has failed. */
  private isBehind = false;
  /** Whether rows are missing between the queued rows and older rows. */
  private hasGap = false;
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

  /** Requests the newest rows. They replace the current rows, which remain visible until the response arrives. */
  async reload(): Promise<void> {
    this.round += 1;
    this.asked.clear();
    this.held = null;
    await this.readNewest((place, page) => this.replace(place, page));
  }

  /** Called when a tail has started: requests the rows since the last page or tail, and adds them as new rows. */
  async catchUp(): Promise<void> {
    this.tails += 1;
    // A page is being requested, but it may be older than the tail.
    if (this.held !== null) return;
    if (this.state.totals === null) await this.reload();
    else await this.readMissed();
  }

  /** Reports the visible rows: requests missing rows there and evicts rows that are far away. */
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

  /** Sends the failed request again. */
  retry(): void {
    this.show({ failure: null });
    const { next } = this.rows;
    if (this.state.totals === null) void this.reload();
    else if (this.isBehind) void this.catchUp();
    else if (next !== null) void this.readOlder(next);
    else void this.reload();
  }

  /** Adds new rows: renders them soon, or queues them while paused. */
  take(event: TailEvent): void {
    if (this.held === null) this.add(event);
    else this.held.take(event);
  }

  /** Pauses or resumes the display of new rows. */
  pause(isPaused: boolean): void {
    if (this.isPaused === isPaused) return;
    this.isPaused = isPaused;
    if (!isPaused && this.state.waiting > 0) this.drawSoon();
  }

  /** Shows queued rows, even while paused. */
  showWaiting(): void {
    if (this.hasGap || this.state.waiting > this.pending.length) this.rows.restart(this.pending);
    else this.rows.prepend(this.pending);
    this.pending = [];
    this.hasGap = false;
    this.show({ waiting: 0 });
  }

  /** Stops rendering. */
  close(): void {
    this.round += 1;
    this.cancelDraw?.();
    this.cancelDraw = null;
  }

  private replace(place: PagePlace, page: LogPage): Partial<LogView> {
    this.pending = [];
    this.hasGap = false;
    this.rows.clear();
    this.rows.append(place, page);
    return { ...totalsOf(page), waiting: 0, skipped: 0 };
  }

  /** Queues those rows of the newest page that are not known yet. */
  private join(page: LogPage): Partial<LogView> {
    const { totals, waiting } = this.state;
    const missed = this.unknown(page.data.toReversed());
    const isGap = missed.length === page.data.length && page.next_cursor !== null;
    const count = isGap ? Math.max(missed.length, page.total - (totals?.rows ?? 0)) : missed.length;
    this.hasGap ||= isGap;
    // Rows are missing between the queued rows and this page, so discard the queued rows.
    if (isGap) this.pending = [];
    this.wait(missed);
    if (count > 0) this.drawSoon();
    return { ...totalsOf(page), waiting: waiting + count };
  }

  private add({ rows, skipped, nodes }: TailEvent): void {
    const { totals, waiting } = this.state;
    if (totals === null) return;
    // A page may have contained a row before the tail sends it.
    const added = this.unknown(rows);
    this.wait(added);
    this.state = {
      ...this.state,
      waiting: waiting + added.length,
      skipped: this.state.skipped + skipped,
      isOwnNodeOnly: nodes === 'own',
      totals: {
        rows: totals.rows + added.length + skipped,
        queries: totals.queries + skipped + added.reduce((sum, { repeats }) => sum + 1 + repeats, 0),
      },
    };
    this.drawSoon();
  }

  private wait(rows: readonly LogRow[]): void {
    this.pending = [...this.pending, ...rows].slice(-MAX_FRESH);
  }

  private unknown(rows: readonly LogRow[]): LogRow[] {
    const waiting = new Set(this.pending.map(({ id }) => id));
    return this.rows.unknown(rows).filter(({ id }) => id === null || !waiting.has(id));
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

  private async readMissed(): Promise<void> {
    await this.readNewest((_, page) => this.join(page));
  }

  /** Requests the newest page, and requests it again if a tail starts during the request; then adds the held rows. */
  private async readNewest(take: (place: PagePlace, page: LogPage) => Partial<LogView>): Promise<void> {
    const { round, tails } = this;
    const held = (this.held ??= new HeldRows());
    const place: PagePlace = { cursor: null, before: null };
    const page = await this.read(place, round, (newest) => take(place, newest));
    if (round !== this.round) return;
    if (page !== null && tails !== this.tails) return this.readMissed();
    this.held = null;
    this.isBehind = page === null;
    const event = held.release(page);
    if (event !== null) this.add(event);
  }

  private async readOlder(place: PagePlace): Promise<void> {
    await this.read(place, this.round, (page) => {
      if (this.rows.next === place) this.rows.append(place, page);
      return {};
    });
  }

  private async readAgain(place: PagePlace): Promise<void> {
    await this.read(place, this.round, (page) => {
      this.rows.refill(place, page);
      return {};
    });
  }

  /**
   * Reads a page and passes it to `take`; null if the page is already requested, cannot be read, or is no longer
   * needed. Watchers are notified only after `take`; if they were notified earlier, they would request the page again.
   */
  private async read(
    place: PagePlace,
    round: number,
    take: (page: LogPage) => Partial<LogView>,
  ): Promise<LogPage | null> {
    if (this.asked.has(place)) return null;
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
    if (round !== this.round) return null;
    const { page, failure } = outcome;
    this.show({ isLoading: this.asked.size > 0, failure, ...(page !== null && take(page)) });
    return page;
  }

  private show(changed: Partial<LogView>): void {
    this.state = { ...this.state, ...changed, count: this.rows.count };
    for (const watcher of this.watchers) watcher();
  }
}

function totalsOf(page: LogPage): Pick<LogView, 'totals' | 'damagedBlocks'> {
  return {
    totals: { rows: page.total, queries: page.total_queries },
    damagedBlocks: page.damaged_blocks,
  };
}
