/**
 * Lists that arrive together are stored together, as one revision, and compiled once. A list that arrives while others
 * are being fetched waits until no other has arrived for `QUIET_MS`, and at most for `MAX_WAIT_MS`.
 */
import { codedAction, codedSubject, codedWord } from '../../../shared/policy/changes/change-codes.ts';
import type { CodedChange } from '../../../shared/policy/changes/change-codes.ts';
import type { Clock } from '../../../shared/clock.ts';
import { storeBlob } from '../../storage/cluster/blob-store.ts';
import type { Lease } from '../../storage/cluster/leases.ts';
import type { Queryable } from '../../storage/db/database.ts';
import type { Changed, PolicyChanges } from '../../policy/change/change.ts';
import { dropUnneededBlobs } from '../../policy/change/revision-store.ts';
import type { ListCache, ListCopy } from './list-cache.ts';
import { type SourceFacts, type StoredSource, recordFacts } from './source-store.ts';
import { listChange } from './source-records.ts';

/** A new copy of a list that was fetched, with data about it. */
export interface Arrival {
  /** The lease under which the copy was fetched. */
  readonly lease: Lease;
  readonly source: StoredSource;
  readonly facts: SourceFacts;
  readonly copy: ListCopy;
}

/** Dependencies of `ListArrivals`. */
export interface ArrivalParts {
  readonly changes: PolicyChanges;
  readonly cache: ListCache;
  readonly clock: Clock;
  /** Whether more lists are being fetched. */
  readonly expectsMore: () => boolean;
  /** Compiles and activates the current copies. */
  readonly activate: () => Promise<void>;
}

interface Waiting extends Arrival {
  /** Called with true if the source still exists with the same URL. */
  readonly settle: (result: boolean | Promise<boolean>) => void;
}

/** Milliseconds without another arrival after which the lists are activated, while others are being fetched. */
const QUIET_MS = 1500;
/** The same if no list is being fetched. Shorter, because a user may add lists one by one. */
const BURST_MS = 500;
/** Maximum milliseconds for which a list waits for others. */
const MAX_WAIT_MS = 10_000;
/** Maximum size of text that is stored in one transaction, because other policy changes have to wait for it. */
const MAX_BATCH_BYTES = 64 * 1_048_576;
/** Maximum number of lists named in the summary of a revision. */
const NAMED = 3;

/** Collects lists. */
export class ListArrivals {
  private readonly parts: ArrivalParts;
  private waiting: Waiting[] = [];
  private firstMs = 0;
  private takenMs = -BURST_MS;
  private timer: NodeJS.Timeout | undefined;
  private last: Promise<void> = Promise.resolve();

  constructor(parts: ArrivalParts) {
    this.parts = parts;
  }

  /**
   * Resolves with true when the copy is active, together with copies that arrive at about the same time, or with false
   * if the source was deleted or has another URL. Rejects with the error of the database, a LeaseLost, or a
   * CompileError.
   */
  add(arrival: Arrival): Promise<boolean> {
    return new Promise((settle) => {
      if (this.waiting.length === 0) this.firstMs = this.parts.clock.monotonicMs();
      this.waiting.push({ ...arrival, settle });
      this.check();
    });
  }

  /** Stores the arrived lists, unless more are expected. Call it when a fetch has ended without a copy. */
  check(): void {
    clearTimeout(this.timer);
    if (this.waiting.length === 0) return;
    const nowMs = this.parts.clock.monotonicMs();
    // A single list is not delayed.
    const isAlone = this.waiting.length === 1 && nowMs - this.takenMs >= BURST_MS;
    const burstMs = isAlone ? 0 : BURST_MS;
    const quietMs = this.parts.expectsMore() ? QUIET_MS : burstMs;
    const pauseMs = Math.min(quietMs, MAX_WAIT_MS - (nowMs - this.firstMs));
    if (pauseMs > 0) this.timer = setTimeout(() => this.takeAll(), pauseMs);
    else this.takeAll();
  }

  private takeAll(): void {
    const waiting = this.waiting.splice(0);
    this.takenMs = this.parts.clock.monotonicMs();
    this.last = this.last.then(async () => {
      for (const batch of batchesOf(waiting)) await this.take(batch);
    });
  }

  /** Stores and activates lists; passes the result or the error to each of them, and never rejects. */
  private async take(batch: readonly Waiting[]): Promise<void> {
    let there: ReadonlySet<number>;
    try {
      there = await this.store(batch);
    } catch (error) {
      // A single list may be the cause, for example because its lease was lost.
      if (batch.length === 1)
        batch[0]!.settle(Promise.reject(error instanceof Error ? error : new Error(String(error))));
      else for (const one of batch) await this.take([one]);
      return;
    }
    const isActive = batch.some(({ source }) => source.enabled && there.has(source.id));
    const active = isActive ? this.parts.activate() : Promise.resolve();
    for (const { source, settle } of batch) settle(active.then(() => there.has(source.id)));
    await active.catch(() => undefined);
  }

  /**
   * Stores the copies before they are compiled, so that all nodes have them even if compiling fails. Returns the ids of
   * those sources that still exist.
   */
  private async store(batch: readonly Waiting[]): Promise<ReadonlySet<number>> {
    const { cache, changes } = this.parts;
    const there = await changes.record((tx) => this.write(tx, batch));
    for (const { source, copy } of batch) if (there.has(source.id)) cache.use(source.id, copy.contentKey);
    return there;
  }

  private async write(tx: Queryable, batch: readonly Waiting[]): Promise<Changed<ReadonlySet<number>>> {
    const lastChangedAt = new Date(this.parts.clock.nowMs());
    const written: Waiting[] = [];
    for (const one of batch) {
      const { lease, source, facts, copy } = one;
      await lease.confirm(tx);
      await storeBlob(tx, copy.contentKey, copy.path);
      if (await recordFacts(tx, source.id, source.url, { ...facts, lastChangedAt })) written.push(one);
    }
    await dropUnneededBlobs(tx);
    return { result: new Set(written.map(({ source }) => source.id)), summary: summaryOf(written) };
  }
}

function batchesOf(waiting: readonly Waiting[]): Waiting[][] {
  const batches: Waiting[][] = [];
  let bytes = 0;
  for (const one of waiting) {
    const own = one.facts.bytes ?? 0;
    if (batches.length === 0 || bytes + own > MAX_BATCH_BYTES) {
      batches.push([]);
      bytes = 0;
    }
    bytes += own;
    batches.at(-1)!.push(one);
  }
  return batches;
}

function summaryOf(written: readonly Waiting[]): CodedChange | null {
  const [first] = written;
  if (first === undefined) return null;
  if (written.length === 1)
    return listChange(first.source, codedAction('updated_with_rules', { rules: first.facts.rules ?? 0 }));
  const lists = written
    .slice(0, NAMED)
    .map(({ source: { kind, name } }) => codedWord(`${kind}list`, { name }));
  const more = written.length - lists.length;
  const subject = more > 0 ? codedSubject('many_lists', { lists, more }) : codedSubject('lists', { lists });
  return { subject, action: codedAction('updated') };
}
