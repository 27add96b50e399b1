/**
 * The only way to change policy or lists: writes the rows and their revision in one transaction, puts the rows into
 * force, and waits for the threads. Changes are serialised on all nodes, so that revisions are in commit order and each
 * contains exactly the policy after its change. A change without effect makes no revision. Only schedules, compiles and
 * the catalog, which change no row, are put into force elsewhere.
 */
import { notInForce } from '../api/api-error.ts';
import { OutcomeUnknown } from '../db/database-errors.ts';
import type { Database, Queryable } from '../db/database.ts';
import { hasChanged, policyBefore } from './change-detection.ts';
import { recordRevision } from './record-revision-store.ts';
import type { RevisionNote } from './record-revision-store.ts';

/** How Weir itself is shown as an author. */
const OWN_NAME = 'system';

/** Key of the advisory lock, any number of ours. */
const LOCK = 0x57454952;

/** What a change comes to. */
export interface Changed<T> {
  readonly result: T;
  /** One line for people, e.g. `managed domain ads.example.org: created`; null = no revision. */
  readonly summary: string | null;
  /** For data outside revisions, such as clients: the work itself reports that it changed something. */
  readonly isOutside?: boolean;
}

/** What runs in the transaction of a change; it may run again after a conflict with another transaction. */
export type ChangeWork<T> = (tx: Queryable) => Promise<Changed<T>>;

/** A change with its revision: the id, null if none was made. */
export interface Recorded<T> {
  readonly result: T;
  readonly revision: number | null;
}

/** Puts stored rows into force. */
export interface PolicyApplier {
  /**
   * Resolves when the rows as they were at the call, or newer ones, are published, and the threads have them or
   * `threadsBehind()` counts them. Failures are retried later.
   */
  apply(): Promise<void>;
  /** DNS threads that did not take the last publication within its time; each takes it later, or is replaced. */
  threadsBehind(): number;
}

/** Puts a stored change into force: `apply` publishes the rows, whatever else there is to do. */
export type Follow<T> = (result: T, apply: () => Promise<void>) => Promise<void>;

const applyOnly: Follow<unknown> = (_result, apply) => apply();

/** Changes policy and puts the change into force. One per node. */
export class PolicyChanges {
  private readonly database: Database;
  private readonly inForce: PolicyApplier;

  constructor(database: Database, inForce: PolicyApplier) {
    this.database = database;
    this.inForce = inForce;
  }

  /**
   * Stores what `work` does and its revision, both or neither, and puts it into force with `follow`. Resolves when
   * every DNS thread answers by it. Whatever `work` or the database throws leaves nothing stored, but for
   * OutcomeUnknown: then only the revisions tell, and what is stored comes into force as soon as there is a database.
   * @throws {ApiError} 503 `not_in_force` with the revision: stored, but publishing failed (and is tried again), or
   * some thread did not take it in time (and does later, or is replaced by one that has)
   */
  async change<T>(author: string, work: ChangeWork<T>, follow: Follow<T> = applyOnly): Promise<T> {
    return (await this.changeWithRevision(author, work, follow)).result;
  }

  /** The same; tells the id of the revision as well. */
  async changeWithRevision<T>(
    author: string,
    work: ChangeWork<T>,
    follow: Follow<T> = applyOnly,
  ): Promise<Recorded<T>> {
    const stored = await this.store({ author, isOwn: false }, work).catch((error: unknown) => {
      // The applier tries again until it has read the rows, with the change or without it.
      if (error instanceof OutcomeUnknown) this.inForce.apply().catch(() => undefined);
      throw error;
    });
    try {
      await follow(stored.result, () => this.inForce.apply());
    } catch (error) {
      throw notInForce('it could not be published', stored.revision, error);
    }
    const behind = this.inForce.threadsBehind();
    if (behind > 0) throw notInForce(`${behind} DNS threads did not take it in time`, stored.revision);
    return stored;
  }

  /** Stores what Weir itself found out about a list, with a revision; the compile that follows puts it into force. */
  async record<T>(work: ChangeWork<T>): Promise<T> {
    return (await this.store({ author: OWN_NAME, isOwn: true }, work)).result;
  }

  private store<T>(by: Omit<RevisionNote, 'summary'>, work: ChangeWork<T>): Promise<Recorded<T>> {
    return this.database.transactionInTurn(LOCK, async (tx) => {
      const before = await policyBefore(tx);
      const { result, summary, isOutside = false } = await work(tx);
      const isChange = summary !== null && (isOutside || (await hasChanged(tx, before)));
      const revision = isChange ? await recordRevision(tx, { ...by, summary }) : null;
      return { result, revision };
    });
  }
}
