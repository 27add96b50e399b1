/** One request in the thread, from its arrival to its result. */
import { setImmediate } from 'node:timers/promises';
import { Semaphore } from '../../storage/concurrency/semaphore.ts';
import type { BackgroundWork } from '../../storage/db/background-work.ts';
import type { CopyQueryable } from '../../storage/db/database.ts';
import type { BlockTransaction } from '../search/block-transaction.ts';
import { LogMemory } from '../search/log-memory.ts';
import type { LogSource } from '../reading/log-source.ts';
import { answerQuestion, type Lane, laneOf, LANES, type Question, type SendRows } from './questions.ts';
import { type FromScans, PARTS_AHEAD, toFailure, type ToScans } from './scan-messages.ts';

/** Limits concurrent transactions per lane. An export uses a place only during each of its turns. */
const PLACES: Readonly<Record<Lane, Semaphore>> = {
  quick: new Semaphore(LANES.quick.atOnce),
  sums: new Semaphore(LANES.sums.atOnce),
  scan: new Semaphore(LANES.scan.atOnce),
};

/** Memory that all requests of the thread share. */
const memory = new LogMemory();

/** A request in progress. */
export class ScanRun {
  /** Resolves when the result or the failure is sent. */
  readonly ended: Promise<void>;
  private readonly id: number;
  private readonly send: (message: FromScans) => void;
  private readonly stop = new AbortController();
  private readonly log: LogSource;
  private partsToSend = PARTS_AHEAD;
  private wake: () => void = () => undefined;

  constructor(
    { id, question }: Extract<ToScans, { type: 'ask' }>,
    work: Pick<BackgroundWork, 'read'>,
    send: (message: FromScans) => void,
  ) {
    this.id = id;
    this.send = send;
    this.log = logOf(work, laneOf(question), this.stop.signal, send);
    memory.beginQuestion();
    this.ended = this.run(question);
  }

  /** Allows another part of rows to be sent. */
  more(): void {
    this.partsToSend++;
    this.wake();
  }

  /** Stops reading before the next block; nothing is sent afterwards. */
  cancel(): void {
    this.stop.abort();
    this.wake();
  }

  private async run(question: Question): Promise<void> {
    const { id } = this;
    try {
      const answer = await answerQuestion(this.log, question, this.sendRows);
      this.report({ type: 'answer', id, answer });
    } catch (error) {
      this.report({ type: 'failure', id, failure: toFailure(error) });
    }
  }

  private readonly sendRows: SendRows = async (rows) => {
    while (this.partsToSend === 0 && !this.stop.signal.aborted)
      await new Promise<void>((resolve) => (this.wake = resolve));
    this.stop.signal.throwIfAborted();
    this.partsToSend--;
    this.report({ type: 'part', id: this.id, rows });
  };

  private report(message: FromScans): void {
    if (!this.stop.signal.aborted) this.send(message);
  }
}

/** The log as one request reads it: each transaction waits for a place in the request's lane. */
function logOf(
  work: Pick<BackgroundWork, 'read'>,
  lane: Lane,
  signal: AbortSignal,
  send: (message: FromScans) => void,
): LogSource {
  return {
    read: (read) =>
      PLACES[lane].run(async () => {
        signal.throwIfAborted();
        return work.read((tx) => read(inTurns(tx, signal)));
      }),
    onDamaged: (block, reason) => send({ type: 'damaged', block, reason }),
  };
}

/** A transaction whose `turn()` lets other requests run, and whose methods throw once `signal` is aborted. */
function inTurns(tx: CopyQueryable, signal: AbortSignal): BlockTransaction {
  return {
    memory,
    query: async (text, values) => {
      signal.throwIfAborted();
      return tx.query(text, values);
    },
    copyOut: async (query) => {
      signal.throwIfAborted();
      return tx.copyOut(query);
    },
    turn: async () => {
      await setImmediate();
      signal.throwIfAborted();
    },
  };
}
