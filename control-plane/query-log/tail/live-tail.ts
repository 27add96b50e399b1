/**
 * The live tail of the log: sends rows to streams every tenth of a second. Rows of this node come from the gatherer,
 * even while the database is unavailable; rows of other nodes arrive once they are stored. No work is done while no
 * stream is open.
 */
import type { ServerResponse } from 'node:http';
import type { Logger } from '../../../shared/log.ts';
import { reasonOf } from '../../../shared/errors.ts';
import { dependencyUnavailable } from '../../api/api-error.ts';
import { Places } from '../../api/places.ts';
import type { PlaceLimits } from '../../api/places.ts';
import type { Database } from '../../storage/db/database.ts';
import { BLOCK_CHANNEL, numberRun } from '../store/block-store.ts';
import { OtherNodes } from './other-nodes.ts';
import type { OwnRowsSource } from './own-rows.ts';
import { type HostnameOf, TailBatch } from './tail-batch.ts';
import { type TailRequest, TailStream } from './tail-stream.ts';

export interface LiveTailParts {
  readonly database: Database;
  readonly ownRows: OwnRowsSource;
  /**
   * `onEnded()` registers a listener for the event that sessions may have ended; returns a function that removes the
   * listener.
   */
  readonly sessions: { onEnded(listener: () => void): () => void };
  /** Name and id of this node. */
  readonly node: string;
  readonly nodeId: number;
  readonly hostnameOf: HostnameOf;
  readonly logger: Logger;
  /** Milliseconds between two events. */
  readonly tickMs?: number;
}

const TICK_MS = 100;
/** Maximum number of open streams: of all callers together, and of one user, who may use several tabs and devices. */
export const STREAM_LIMITS: PlaceLimits = { total: 32, perCaller: 8 };

/** Parts that only run while streams are open. */
interface Running {
  readonly others: OtherNodes;
  readonly timer: NodeJS.Timeout;
}

/** All streams of a node. */
export class LiveTail {
  private readonly parts: LiveTailParts;
  private readonly streams = new Set<TailStream>();
  private readonly places = new Places('streams', STREAM_LIMITS);
  private readonly stopWatching: () => void;
  private running: Running | null = null;
  /** Whether rows of this node were requested and have not arrived yet. */
  private isTaking = false;
  private isClosed = false;

  constructor(parts: LiveTailParts) {
    this.parts = parts;
    this.stopWatching = parts.sessions.onEnded(() => {
      for (const stream of this.streams) stream.check();
    });
  }

  /** Refuses a stream beyond the limits. @throws {ApiError} */
  admit(holder: string | null): void {
    if (this.isClosed) throw dependencyUnavailable('running_node', 'Weir is stopping');
    this.places.admit(holder);
  }

  /** Sends rows as the body of a response until it ends. @throws {ApiError} as `admit()` */
  async send(response: ServerResponse, request: TailRequest): Promise<void> {
    this.admit(request.holder);
    // The client may have disconnected while its session was looked up; there is no event in that case.
    if (response.destroyed) return;
    const leave = this.places.take(request.holder);
    const stream = new TailStream(response, request);
    this.streams.add(stream);
    this.running ??= this.start();
    await stream.ended;
    leave();
    this.streams.delete(stream);
    if (this.streams.size === 0) this.stop();
  }

  /** Ends all streams. */
  async close(): Promise<void> {
    this.isClosed = true;
    this.stopWatching();
    const streams = [...this.streams];
    for (const stream of streams) stream.end();
    await Promise.all(streams.map(({ ended }) => ended));
  }

  private start(): Running {
    const { database, ownRows, tickMs = TICK_MS } = this.parts;
    const { run } = ownRows;
    const others = new OtherNodes({
      ...this.parts,
      run,
      show: (batch) => this.offer(() => batch),
      leaveOut: (rows) => this.leaveOut(rows),
    });
    if (run.id === null && database.status().state === 'up')
      numberRun(database, run, this.parts.nodeId).catch((error: unknown) =>
        this.parts.logger.debug('could not number this run of the node in the query log', {
          reason: reasonOf(error),
        }),
      );
    ownRows.watch(true);
    return { others, timer: setInterval(() => void this.tick(), tickMs) };
  }

  private stop(): void {
    if (this.running === null) return;
    const { others, timer } = this.running;
    clearInterval(timer);
    others.stop();
    this.parts.ownRows.watch(false);
    this.running = null;
  }

  private async tick(): Promise<void> {
    this.running?.others.read().catch((error: unknown) => this.report(error));
    // Streams continue even if the rows of this node are late.
    if (!this.isTaking) await this.takeOwn();
    const nodes = this.parts.database.isListening(BLOCK_CHANNEL) ? 'all' : 'own';
    for (const stream of this.streams) stream.tick(nodes);
  }

  private async takeOwn(): Promise<void> {
    const { hostnameOf, node, ownRows } = this.parts;
    this.isTaking = true;
    try {
      const { blocks, leftOut } = await ownRows.take();
      if (leftOut > 0) this.leaveOut(leftOut);
      for (const { block, firstSeq } of blocks)
        this.offer(() => new TailBatch(block, { node, runId: ownRows.run.id, firstSeq, hostnameOf }));
    } catch (error) {
      this.report(error);
    } finally {
      this.isTaking = false;
    }
  }

  /** Offers rows to all streams; an error is logged and does not end a stream. */
  private offer(batchOf: () => TailBatch): void {
    try {
      const batch = batchOf();
      for (const stream of this.streams) stream.offer(batch);
    } catch (error) {
      this.report(error);
    }
  }

  private leaveOut(rows: number): void {
    for (const stream of this.streams) stream.leaveOut(rows);
  }

  private report(error: unknown): void {
    this.parts.logger.error('could not send rows of the query log to live views', {
      reason: reasonOf(error),
    });
  }
}
