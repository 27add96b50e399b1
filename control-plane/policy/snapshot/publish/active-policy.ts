/**
 * Applies the policy in the database. A change of a group, of the groups of a source, or of a blocking setting creates
 * a new policy table for the active rules; a compilation provides new rules. Several changes in quick succession are
 * published together.
 */
import type { Logger } from '../../../../shared/log.ts';
import { DatabaseUnavailable } from '../../../storage/db/database-errors.ts';
import { Retrying } from '../../../storage/concurrency/retrying.ts';
import { Coalescer } from '../../../storage/concurrency/coalescer.ts';
import type { PolicyApplier } from '../../change/change.ts';
import type { BlockingSettings } from '../../change/blocking-settings.ts';
import { haveSameRows, mayFollow, type PolicyPosition } from '../../../storage/cluster/policy-position.ts';
import type { StoredPolicy, WantedList } from '../../change/policy-store.ts';
import type { PolicyRows } from '../../change/rows.ts';
import { type CompiledRules, activeKeys } from '../../compile/table/compiled-rules.ts';
import { inputKeyOf } from '../../compile/table/input-key.ts';
import type { SnapshotPublisher } from './publisher.ts';

/** Dependencies of the active policy. */
export interface PolicyParts {
  readonly publisher: SnapshotPublisher;
  readonly readPolicy: () => Promise<Pick<StoredPolicy, 'rows' | 'lists' | 'position'>>;
  /** Called for each policy, because a reload of the configuration may change the settings. */
  readonly blocking: () => BlockingSettings;
  /** Converts the stored rows to the rows that apply on this node; by default, returns them unchanged. */
  readonly rowsHere?: (rows: PolicyRows) => PolicyRows;
  /** Number of DNS threads that do not use the current settings yet. */
  readonly settingsBehind?: () => number;
  /** Whether this node has stopped trying to compile an input, see `inputKeyOf`. */
  readonly isRefused?: (sourceId: number, inputKey: string) => boolean;
  readonly logger: Logger;
  /** Called when a new position in the history of policy is active. */
  readonly moved?: () => void;
}

/** Longest pause between two attempts to apply stored changes. */
const RETRY_MS = 5000;

/**
 * The only way to publish policy. Here, `active` means: published, and each thread has either acknowledged it or, if it
 * takes longer than `WorkerSupervisor.broadcast` waits, is counted by `threadsBehind()`.
 */
export class ActivePolicy implements PolicyApplier {
  private readonly parts: PolicyParts;
  private readonly applier = new Coalescer(() => this.applyNow());
  /** Retries stored changes that are not active yet. */
  private readonly retrying: Retrying;
  /** Rules for the next publication. */
  private compiled: CompiledRules;
  /** The last published rules; null if a later publication failed. */
  private published: CompiledRules | null;
  /** Whether a change of rules or settings is not published yet. */
  private hasOtherChange = false;
  /** Position of the active rows. */
  private position: PolicyPosition | null = null;
  /** Lists that should be active together with these rows. */
  private lists: readonly WantedList[] = [];
  /** The newest position that was active together with all its lists, except lists that are rejected on this node. */
  private whole: PolicyPosition | null = null;

  constructor(parts: PolicyParts) {
    this.parts = parts;
    this.compiled = parts.publisher.current().compiled;
    this.published = this.compiled;
    const { logger } = parts;
    this.retrying = new Retrying({
      work: () => this.applier.run(),
      logger,
      what: 'apply stored changes',
      lastMs: RETRY_MS,
    });
  }

  /**
   * Applies the state of the database at the call, or a newer one. Rejects with the error of the database or the
   * publisher, and then retries until it succeeds. Used by `PolicyChanges`, compilations and the catalog.
   */
  async apply(): Promise<void> {
    try {
      await this.applier.run();
    } catch (error) {
      this.retrying.soon();
      throw error;
    }
  }

  /**
   * Applies changes from outside this node, up to the position that `known` returns once no policy is being applied;
   * throws like `apply()`. Changes that this node made itself are not published again.
   */
  async catchUp(known: () => PolicyPosition): Promise<void> {
    await this.applier.idle();
    const position = known();
    // After a restore, or a failover to a standby without the newest changes, positions are not comparable.
    const isKnown = this.position !== null && mayFollow(position, this.position);
    if (!isKnown || !haveSameRows(this.position!, position)) await this.apply();
    else if (isLater(position, this.position!)) this.moveTo(position);
  }

  /** The newest revision that is active with its lists; null if there is none yet. */
  revision(): number | null {
    return this.whole?.revision ?? null;
  }

  /** The newest mark, see `setMark()`, that is active with all its lists; null if there is none yet. */
  mark(): number | null {
    return this.whole?.mark ?? null;
  }

  threadsBehind(): number {
    return Math.max(this.parts.publisher.threadsBehind(), this.parts.settingsBehind?.() ?? 0);
  }

  /** Stops retrying. */
  close(): Promise<void> {
    return this.retrying.close();
  }

  /** Applies blocking settings; without a database, with the last known rows. */
  async applySettings(): Promise<void> {
    await this.applyDespiteDatabase();
  }

  /** Applies these rules; without a database, with the last known rows. */
  async useRules(compiled: CompiledRules): Promise<void> {
    this.compiled = compiled;
    await this.applyDespiteDatabase();
  }

  /**
   * Applies runtime state (schedules, neighbours, the end of a timer) with the known rows, without a database query.
   */
  async applyLive(): Promise<void> {
    await this.parts.publisher.refresh(this.parts.blocking(), this.parts.rowsHere);
  }

  private async applyDespiteDatabase(): Promise<void> {
    this.hasOtherChange = true;
    try {
      await this.applier.run();
    } catch (error) {
      this.retrying.soon();
      if (!(error instanceof DatabaseUnavailable)) throw error;
      this.parts.logger.warn('could not read policy; the last policy read stays active', {
        reason: error.message,
      });
    }
  }

  private async applyNow(): Promise<void> {
    const hadOtherChange = this.hasOtherChange;
    this.hasOtherChange = false;
    let stored: Awaited<ReturnType<PolicyParts['readPolicy']>>;
    try {
      stored = await this.parts.readPolicy();
    } catch (error) {
      if (hadOtherChange) await this.publish(this.parts.publisher.current().rows);
      throw error;
    }
    await this.publish(stored.rows);
    this.lists = stored.lists;
    this.moveTo(stored.position);
  }

  private moveTo(position: PolicyPosition): void {
    // Reset, because otherwise marks that will be assigned again would count as reached before their changes are
    // applied.
    if (this.position !== null && !mayFollow(position, this.position)) this.whole = null;
    this.position = position;
    this.noteWhole();
  }

  /**
   * The position does not count as active while a list is not compiled yet, because earlier rules of the list are still
   * used.
   */
  private noteWhole(): void {
    if (this.published === null) return;
    const keys = activeKeys(this.published);
    const isActive = (list: WantedList): boolean => {
      const key = inputKeyOf(list.id, list.contentKey, list);
      return keys.has(key) || this.parts.isRefused?.(list.id, key) === true;
    };
    if (!this.lists.every(isActive)) return;
    this.whole = this.position;
    this.parts.moved?.();
  }

  private async publish(rows: PolicyRows): Promise<void> {
    const { compiled } = this;
    const { publisher, rowsHere = asStored } = this.parts;
    this.published = null;
    try {
      await publisher.publish(compiled, rowsHere(rows), this.parts.blocking());
      this.published = compiled;
      if (this.whole !== this.position) this.noteWhole();
    } catch (error) {
      // The new rules and settings may be missing in some threads, so the next attempt publishes them even without a
      // database.
      this.hasOtherChange = true;
      throw error;
    }
  }
}

function asStored(rows: PolicyRows): PolicyRows {
  return rows;
}

/** Whether `one` has a later revision or mark than `other`. */
function isLater(one: PolicyPosition, other: PolicyPosition): boolean {
  return one.revision > other.revision || one.mark > other.mark;
}
