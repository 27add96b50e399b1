/**
 * Owns the active snapshot. Publishing builds the policy table with the next version, sends the snapshot to every
 * thread, and writes the generation to disk when all threads have acknowledged the snapshot, or after a timeout. Only
 * one publication runs at a time. After many changes in quick succession, not every generation is written to disk, but
 * at least the first one and the last one of each rule table.
 */
import { reasonOf } from '../../../../shared/errors.ts';
import type { Logger } from '../../../../shared/log.ts';
import type { SnapshotBuffers } from '../../../../shared/snapshot/snapshot.ts';
import type { ContainingRule } from '../../../../shared/threads/explanation.ts';
import { PacedWork } from '../../../storage/concurrency/paced-work.ts';
import type { BlockingSettings } from '../../change/blocking-settings.ts';
import type { CompiledRules } from '../../compile/table/compiled-rules.ts';
import type { FindLivePolicy, LivePolicy } from '../../change/runtime-state.ts';
import type { PolicyRows } from '../../change/rows.ts';
import type { PublishedState } from '../published-state.ts';
import type { Generations } from './generations.ts';
import type { DecidingRule } from '../rule-names/rule-history.ts';
import type { ContainingList } from '../rule-names/containing-lists.ts';
import type { RuleDescription } from '../rule-names/rule-description.ts';
import { RuleHistory } from '../rule-names/rule-history.ts';
import { type BuiltSnapshot, buildSnapshotAfter } from '../build/snapshot-builder.ts';

/**
 * Sends a snapshot to all threads, waits with a timeout until each uses it, and resolves with the number of threads
 * that do not use it yet.
 */
export type Broadcast = (snapshot: SnapshotBuffers) => Promise<number>;

/** Dependencies of the publisher. */
export interface PublisherParts {
  /** The initial state of the threads, see `startingState`. */
  readonly initial: PublishedState;
  readonly broadcast: Broadcast;
  readonly live: FindLivePolicy;
  readonly generations: Generations;
  readonly logger: Logger;
  /** Called with each state before a thread can write the version of the state to a log record. */
  readonly beforeUse?: (state: PublishedState) => void;
  /** Resolves when generations may be written; immediate by default. */
  readonly mayWrite?: Promise<void>;
}

/** Inputs of a draft (a snapshot that is not published). */
export interface DraftParts {
  readonly compiled: CompiledRules;
  readonly rows: PolicyRows;
  readonly blocking: BlockingSettings;
  /** Returns the addresses of clients whose group is assigned by MAC, to be used instead of the active addresses. */
  readonly clientAddresses?: (live: LivePolicy) => LivePolicy['clientAddresses'];
}

/**
 * Minimum interval between two generations on disk, in milliseconds: because writing one takes as long as all other
 * work of a change.
 */
const SAVE_PAUSE_MS = 250;
/** Maximum number of states waiting to be written; if there are more, the oldest are not written. */
const MAX_TO_SAVE = 16;

/** Publishes snapshots, and is the only source of their versions. */
export class SnapshotPublisher {
  private readonly parts: PublisherParts;
  private readonly history = new RuleHistory();
  private readonly saver = new PacedWork(() => this.saveAll(), SAVE_PAUSE_MS);
  /** States that wait to be written to disk, oldest first. */
  private readonly toSave: PublishedState[] = [];
  private state: PublishedState;
  private built: BuiltSnapshot | undefined;
  private version: number;
  private behind = 0;
  private last: Promise<unknown> = Promise.resolve();
  private mayWrite: boolean;

  constructor(parts: PublisherParts) {
    this.parts = parts;
    this.mayWrite = parts.mayWrite === undefined;
    void parts.mayWrite?.then(() => {
      this.mayWrite = true;
      if (this.toSave.length > 0) this.saver.request();
    });
    this.state = parts.initial;
    this.version = parts.initial.snapshot.version;
    this.name(parts.initial);
    // The initial state is written again with its new version, because consecutive versions on disk are needed to find
    // which generation was active at a given time.
    if (parts.initial.publishedAtMs !== undefined) this.saveLater(parts.initial);
  }

  /** The active snapshot with its inputs. */
  current(): PublishedState {
    return this.state;
  }

  /**
   * Builds the policy, and publishes it with the rules; resolves when every thread has acknowledged it, or after a
   * timeout: `threadsBehind()` then counts the threads that have not. Rejects if publishing fails; even then,
   * `current()` returns the new state, because some threads may use it.
   */
  publish(compiled: CompiledRules, rows: PolicyRows, blocking: BlockingSettings): Promise<SnapshotBuffers> {
    return this.inTurn(() => this.publishNow(compiled, rows, blocking));
  }

  /**
   * Publishes the active rules and rows again, because other inputs have changed; `edit` may change the rows. Needs no
   * database.
   */
  refresh(
    blocking: BlockingSettings,
    edit: (rows: PolicyRows) => PolicyRows = (rows) => rows,
  ): Promise<SnapshotBuffers> {
    return this.inTurn(() => this.publishNow(this.state.compiled, edit(this.state.rows), blocking));
  }

  /**
   * Builds the snapshot that publishing these inputs would produce, without publishing it. The runtime state is that of
   * the active snapshot, except for `clientAddresses` if given. Unchanged parts are shared with the active snapshot.
   */
  draft({ compiled, rows, blocking, clientAddresses }: DraftParts): BuiltSnapshot {
    const version = this.version + 1;
    const active = this.built?.live ?? this.parts.live(this.state.rows);
    const live =
      clientAddresses === undefined ? active : { ...active, clientAddresses: clientAddresses(active) };
    return buildSnapshotAfter(this.built, { version, compiled, rows, blocking, live });
  }

  private inTurn(publish: () => Promise<SnapshotBuffers>): Promise<SnapshotBuffers> {
    const publication = this.last.then(publish);
    // Later publications run even after a failure, which only the caller receives.
    this.last = publication.catch(() => undefined);
    return publication;
  }

  /** Number of threads that did not acknowledge the last completed publication in time. */
  threadsBehind(): number {
    return this.behind;
  }

  /** Resolves when all publications are done and the newest state was written, or could not be. */
  async settled(): Promise<void> {
    await this.last;
    await this.saver.settle();
  }

  /** See `RuleHistory.describe`. */
  describeRule(version: number, rule: DecidingRule): RuleDescription | undefined {
    return this.history.describe(version, rule);
  }

  /** See `RuleHistory.listsContaining`. */
  listsContaining(version: number, rules: readonly ContainingRule[], groupId: number): ContainingList[] {
    return this.history.listsContaining(version, rules, groupId);
  }

  /** See `RuleHistory.describeSchedule`. */
  describeSchedule(version: number, groupId: number): RuleDescription | undefined {
    return this.history.describeSchedule(version, groupId);
  }

  private async publishNow(
    compiled: CompiledRules,
    known: PolicyRows,
    blocking: BlockingSettings,
  ): Promise<SnapshotBuffers> {
    const version = ++this.version;
    const live = this.parts.live(known);
    const rows = withoutEnded(known, live.endedGrants);
    const parts = { version, compiled, rows, blocking, live };
    const before = this.built?.manual;
    this.built = buildSnapshotAfter(this.built, parts);
    const { snapshot, manual } = this.built;
    if (manual !== before)
      for (const filter of manual.refused) this.parts.logger.warn('skipped a regex filter', { ...filter });
    this.state = { snapshot, compiled, rows, publishedAtMs: live.nowMs };
    this.name(this.state);
    this.behind = await this.parts.broadcast(snapshot);
    this.saveLater(this.state);
    return snapshot;
  }

  /** Makes the meaning of a version's rule numbers known before the first thread can write them to a log record. */
  private name(state: PublishedState): void {
    this.history.add(state);
    this.parts.beforeUse?.(state);
  }

  /**
   * Of several waiting states with the same rule table, only the last is written; that is sufficient, because a
   * rollback needs one state for each table.
   */
  private saveLater(state: PublishedState): void {
    if (this.toSave.at(-1)?.compiled === state.compiled) this.toSave.pop();
    this.toSave.push(state);
    if (this.toSave.length > MAX_TO_SAVE) this.toSave.shift();
    if (this.mayWrite) this.saver.request();
  }

  private async saveAll(): Promise<void> {
    for (let state = this.toSave.shift(); state !== undefined; state = this.toSave.shift())
      await this.save(state);
  }

  private async save(state: PublishedState): Promise<void> {
    const { version } = state.snapshot;
    try {
      await this.parts.generations.save(state);
      this.parts.logger.debug('wrote a policy snapshot to disk', { version });
    } catch (error) {
      const reason = reasonOf(error);
      this.parts.logger.error('could not write a policy snapshot to disk; the previous one stays there', {
        version,
        reason,
      });
    }
  }
}

/** A generation must not restore a grant that has ended, even if the clock is set back before it is read. */
function withoutEnded(rows: PolicyRows, ended: ReadonlySet<number>): PolicyRows {
  if (ended.size === 0) return rows;
  return { ...rows, grants: rows.grants.filter(({ id }) => !ended.has(id)) };
}
