/**
 * Manages the log thread for the rest of the control plane: replaces it when it dies or hangs. Records in the rings are
 * then kept; rows that the thread had already collected are lost, which is visible as a gap in the log and in the
 * number of lost rows.
 */
import type { Logger } from '../../shared/log.ts';
import { reasonOf } from '../../shared/errors.ts';
import type { WorkerMemory } from '../../shared/threads/messages.ts';
import { slowWriter } from '../query-log/drain/log-ring-reader.ts';
import type { StreamCounters } from '../query-log/dnstap/frame-stream.ts';
import type { OwnRun } from '../query-log/store/block-store.ts';
import {
  createTallyMemory,
  loseWaiting,
  lostRows,
  readTally,
  type LogWriterCounters,
} from '../query-log/store/log-tally.ts';
import { MAX_SPOOL_BYTES } from '../query-log/store/log-writer.ts';
import { ensurePartitions } from '../query-log/store/partition-store.ts';
import type { OwnRowsSource, TakenRows } from '../query-log/tail/own-rows.ts';
import type { Database } from '../storage/db/database.ts';
import { isUnavailable } from '../storage/db/database-errors.ts';
import { Heartbeat } from '../threads/heartbeat.ts';
import { type DaysFailure, type FromLog, type GivenDatabase, LogControl } from './log-messages.ts';
import type { LogSettings, LogThreadStart } from './log-messages.ts';
import { LOG_THREAD, LogWorker } from './log-worker.ts';
import type { NameFeed } from './name-feed.ts';

/** Events that the log thread detects for other parts of Weir. */
export type Sighting = Extract<FromLog, { type: 'loop-seen' | 'probe-seen' | 'refused' }>;

/** Dependencies of the log thread. */
export interface QueryLogThreadParts extends Pick<
  LogThreadStart,
  'dataDir' | 'nodeId' | 'runKey' | 'stream'
> {
  readonly database: Database;
  readonly logger: Logger;
  /** Resolves when this process owns the data directory. */
  readonly mayWrite: Promise<void>;
  readonly names: NameFeed;
  readonly settings: LogSettings;
}

/** Sources of records, and receivers of events that the log thread detects in them. */
export interface LogEnds {
  readonly memories: readonly WorkerMemory[];
  readonly seen: (sighting: Sighting) => void;
}

/** If a thread dies within this time after its start, it is only restarted after a pause; both in milliseconds. */
const QUICK_DEATH_MS = 1000;
const RESTART_PAUSE_MS = 500;
const HEARTBEAT_MS = 1000;
/** Default time limit for closing, in milliseconds. */
const CLOSE_MS = 3000;
const NO_ROWS: TakenRows = { blocks: [], leftOut: 0 };

/** The log thread and its replacements. One per node. */
export class QueryLogThread implements OwnRowsSource {
  readonly run: OwnRun;
  /** Size limit of the spool, bytes. */
  readonly spoolLimitBytes = MAX_SPOOL_BYTES;
  private readonly parts: QueryLogThreadParts;
  private readonly control = new SharedArrayBuffer(LogControl.BYTES);
  private readonly words = new Int32Array(this.control);
  private readonly tally = createTallyMemory();
  private readonly stopListening: () => void;
  private ends: LogEnds | undefined;
  private settings: LogSettings;
  private probes: readonly string[] = [];
  private mayWrite = false;
  private isTailed = false;
  private lastTrouble: string | null = null;
  private worker: LogWorker | undefined;
  private heartbeat: Heartbeat | undefined;
  private heartbeats: NodeJS.Timeout | undefined;
  private isClosing = false;

  constructor(parts: QueryLogThreadParts) {
    this.parts = parts;
    this.run = { key: parts.runKey, id: null };
    this.settings = parts.settings;
    this.stopListening = parts.database.onStatus(() =>
      this.worker?.post({ type: 'database', given: this.givenDatabase() }),
    );
    void parts.mayWrite.then(() => {
      this.mayWrite = true;
      this.worker?.post({ type: 'may-write' });
    });
  }

  /** Starts reading the rings. */
  start(ends: LogEnds): void {
    if (this.isClosing) return;
    this.ends = ends;
    this.startWorker();
    this.heartbeats = setInterval(() => this.checkHeartbeat(), HEARTBEAT_MS);
  }

  /** Sets whether rows may be stored in the database for this node; if not, they are spooled. */
  allowStoring(isAllowed: boolean): void {
    Atomics.store(this.words, LogControl.MAY_STORE_WORD, isAllowed ? 1 : 0);
  }

  /** Applies settings to the rows of all queries that are answered from now on. */
  use(settings: LogSettings): void {
    this.settings = settings;
    this.worker?.post({ type: 'settings', settings });
    if (this.worker !== undefined) this.slowWriters(settings.pressure === 'slow');
  }

  /** Sets the probes for whose names later queries are checked. */
  watchProbes(tokens: readonly string[]): void {
    this.probes = tokens;
    this.worker?.post({ type: 'probes', tokens });
  }

  counters(): LogWriterCounters {
    return readTally(this.tally);
  }

  /** Number of rows lost since the start, including rows that were lost because a ring was full. */
  lostRows(): number {
    return lostRows(this.tally);
  }

  /** Counters of the dnstap stream. */
  streamCounters(): StreamCounters {
    const doubles = new Float64Array(this.control);
    return {
      sent: doubles[LogControl.STREAM_SENT_DOUBLE]!,
      lost: doubles[LogControl.STREAM_LOST_DOUBLE]!,
    };
  }

  /** Reason why rows can currently not be stored, neither in the database nor on disk; null = rows can be stored. */
  trouble(): string | null {
    return this.lastTrouble;
  }

  /** Sends the rows of all queries so far; resolves when they are in the database or in the spool. */
  async flush(): Promise<void> {
    await this.worker?.ask({ type: 'flush' });
  }

  watch(isWanted: boolean): void {
    this.isTailed = isWanted;
    this.worker?.post({ type: 'tail', isWanted });
  }

  async take(): Promise<TakenRows> {
    const answer = await this.worker?.ask({ type: 'take-tail' });
    if (!answer) return NO_ROWS;
    this.run.id ??= answer.runId;
    return answer.taken;
  }

  /** Reads the remaining records; call this after the DNS threads have ended. */
  async stopReading(): Promise<void> {
    await this.worker?.ask({ type: 'stop-reading' });
  }

  /** Ends the thread; rows that the database does not accept in time go to the spool. */
  async close(withinMs = CLOSE_MS): Promise<void> {
    this.isClosing = true;
    clearInterval(this.heartbeats);
    this.stopListening();
    await this.worker?.close(withinMs);
  }

  /** For tests: makes the thread die. */
  injectFault(): void {
    this.worker?.post({ type: 'fault' });
  }

  private startWorker(): void {
    const { dataDir, nodeId, runKey, stream, names } = this.parts;
    Atomics.store(this.words, LogControl.BEAT_WORD, 0);
    this.heartbeat = new Heartbeat(LOG_THREAD);
    const worker: LogWorker = new LogWorker(
      {
        rings: this.ends!.memories.map(({ answerLog, resolveLog }) => ({ answerLog, resolveLog })),
        control: this.control,
        tally: this.tally,
        dataDir,
        nodeId,
        runKey,
        stream,
        settings: this.settings,
        database: this.givenDatabase(),
        probes: this.probes,
      },
      {
        message: (message) => this.onMessage(message),
        ended: (exitCode, cause) => this.onEnded(worker, exitCode, cause),
      },
    );
    this.worker = worker;
    this.slowWriters(this.settings.pressure === 'slow');
    names.connect((message) => worker.post(message));
    if (this.mayWrite) worker.post({ type: 'may-write' });
    if (this.isTailed) worker.post({ type: 'tail', isWanted: true });
  }

  /** Sets whether DNS threads wait briefly if the log thread lags behind. */
  private slowWriters(isSlow: boolean): void {
    for (const { answerLog, resolveLog } of this.ends!.memories)
      for (const ring of [answerLog, resolveLog]) slowWriter(ring, isSlow);
  }

  private givenDatabase(): GivenDatabase {
    const { database } = this.parts;
    const status = database.status();
    return { status, target: status.state === 'up' ? database.target() : null };
  }

  private onMessage(message: FromLog): void {
    switch (message.type) {
      case 'log':
        this.parts.logger[message.level](message.message, message.fields);
        return;
      case 'trouble':
        this.lastTrouble = message.reason;
        return;
      case 'make-days':
        void this.makeDays(message.id, message.days);
        return;
      case 'probe-seen':
      case 'loop-seen':
      case 'refused':
        this.ends?.seen(message);
        return;
      case 'done':
      case 'tail-rows':
    }
  }

  private async makeDays(id: number, days: readonly number[]): Promise<void> {
    let failure: DaysFailure | null = null;
    try {
      await ensurePartitions(this.parts.database, days);
    } catch (error) {
      failure = { reason: reasonOf(error), isUnavailable: isUnavailable(error) };
    }
    this.worker?.post({ type: 'days-made', id, failure });
  }

  private onEnded(worker: LogWorker, exitCode: number, cause: Error | undefined): void {
    this.worker = undefined;
    this.slowWriters(false);
    if (this.isClosing) return;
    this.lastTrouble = null;
    this.parts.logger.error('query log thread died; replacing it', {
      exit_code: exitCode,
      rows_lost: loseWaiting(this.tally),
      cause: cause?.stack,
    });
    const restart = (): void => {
      if (!this.isClosing) this.startWorker();
    };
    if (performance.now() - worker.startedAtMs < QUICK_DEATH_MS) setTimeout(restart, RESTART_PAUSE_MS);
    else restart();
  }

  /** Terminates a thread that hangs; when it has ended, it is replaced. */
  private checkHeartbeat(): void {
    const beat = Atomics.load(this.words, LogControl.BEAT_WORD);
    // A value of 0 means that the thread is still loading its code, so it does not hang.
    if (beat === 0 || this.heartbeat?.startsToHang(beat) !== true) return;
    this.parts.logger.error('query log thread hangs; terminating it');
    this.worker?.terminate();
  }
}
