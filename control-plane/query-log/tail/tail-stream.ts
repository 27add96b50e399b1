/**
 * One stream of server-sent events (the "Server-sent events" section of the HTML standard). Its memory is bounded: rows
 * that a reader does not receive in time are skipped and counted; the oldest are skipped first.
 */
import type { ServerResponse } from 'node:http';
import type { TailBatch, TailFilter, TailRow } from './tail-batch.ts';

/** Limits of a stream: on average, in a burst, and while its reader is slow. */
export const TailLimit = {
  /** Additional rows allowed per tick. */
  ROWS_PER_TICK: 200,
  /**
   * Maximum number of rows in one event. Unused allowance of quiet ticks adds up to this number, because the rows of
   * another node arrive only once a second.
   */
  BURST_ROWS: 1000,
  /** Maximum number of rows that wait for a slow reader. */
  WAITING_ROWS: 200,
} as const;

/** Milliseconds after which a browser reconnects. */
const RETRY_MS = 2000;
/** Ticks between two comments that keep an idle connection open, and between two permission checks. */
const HEARTBEAT_TICKS = 150;
const CHECK_TICKS = 50;

/** Filter and permission of a stream. */
export interface TailRequest {
  /** Holder of the stream's place, see `holderOf`. */
  readonly holder: string | null;
  readonly filter: TailFilter;
  /** Checks permission; called at intervals and when a session ends. If it throws, permission is denied. */
  readonly isAllowed: () => Promise<boolean>;
}

/** The nodes whose rows are currently available. */
export type TailedNodes = 'all' | 'own';

/** Sends rows to one reader. */
export class TailStream {
  /** Resolves when the stream has ended. */
  readonly ended: Promise<void>;
  private readonly response: ServerResponse;
  private readonly request: TailRequest;
  private rows: TailRow[] = [];
  private skipped = 0;
  /** Number of rows that the rate limit currently allows. */
  private budget: number = TailLimit.BURST_ROWS;
  private silentTicks = 0;
  private ticks = 0;
  private isChecking = false;
  /** Whether sessions have ended since the current check started, so that another check is needed. */
  private isOutdated = false;

  constructor(response: ServerResponse, request: TailRequest) {
    this.response = response;
    this.request = request;
    this.ended = new Promise((resolve) => response.once('close', resolve).once('finish', resolve));
    response.write(`retry: ${RETRY_MS}\n\n`);
  }

  /** Adds the newest of the matching rows. @throws {DamagedBlock} */
  offer(batch: TailBatch): void {
    if (this.isOver) return;
    const places = batch.rows(this.request.filter);
    const budget = this.response.writableNeedDrain ? TailLimit.WAITING_ROWS : this.budget;
    const taken = budget === 0 ? [] : places.slice(-budget);
    this.rows.push(...taken.map((place) => batch.row(place)));
    this.budget = Math.max(0, this.budget - taken.length);
    this.skipped += places.length - taken.length;
    this.trim();
  }

  /** Counts rows that were skipped without being filtered. */
  leaveOut(rows: number): void {
    this.skipped += rows;
  }

  /** Sends the rows that were added since the last tick. */
  tick(nodes: TailedNodes): void {
    if (this.isOver) return;
    if (++this.ticks % CHECK_TICKS === 0) {
      if (this.isChecking) return this.end();
      this.check();
    }
    this.trim();
    if (this.response.writableNeedDrain || this.isChecking) return;
    this.budget = Math.min(TailLimit.BURST_ROWS, this.budget + TailLimit.ROWS_PER_TICK);
    const { rows, skipped } = this;
    if (rows.length > 0 || skipped > 0) {
      this.rows = [];
      this.skipped = 0;
      this.silentTicks = 0;
      this.response.write(eventOf(rows, skipped, nodes));
    } else if (++this.silentTicks >= HEARTBEAT_TICKS) {
      this.silentTicks = 0;
      this.response.write(':\n\n');
    }
  }

  /**
   * Checks whether the reader still has permission; nothing is sent until the result is known. Ends the stream if
   * permission is denied, or if the check takes too long.
   */
  check(): void {
    this.isOutdated = this.isChecking;
    if (this.isChecking) return;
    this.isChecking = true;
    this.request.isAllowed().then(
      (isAllowed) => {
        this.isChecking = false;
        if (!isAllowed) this.end();
        else if (this.isOutdated) this.check();
      },
      () => this.end(),
    );
  }

  end(): void {
    this.rows = [];
    // Unread data is discarded, because a slow reader would delay the end.
    if (this.response.writableLength > 0) this.response.destroy();
    else this.response.end();
  }

  private get isOver(): boolean {
    return this.response.writableEnded || this.response.destroyed;
  }

  private trim(): void {
    const max = this.response.writableNeedDrain ? TailLimit.WAITING_ROWS : TailLimit.BURST_ROWS;
    const surplus = this.rows.length - max;
    if (surplus <= 0) return;
    this.rows.splice(0, surplus);
    this.skipped += surplus;
  }
}

/** JSON has no line breaks, so the data is always one line. */
function eventOf(rows: readonly TailRow[], skipped: number, nodes: TailedNodes): string {
  const newest = rows.reduce<TailRow | null>(
    (best, row) => (best === null || row.timestampUs >= best.timestampUs ? row : best),
    null,
  );
  const id = newest === null || newest.id === null ? '' : `id: ${newest.id}\n`;
  const texts = rows.map(({ text }) => text).join(',');
  return `${id}data: {"rows":[${texts}],"skipped":${skipped},"nodes":"${nodes}"}\n\n`;
}
