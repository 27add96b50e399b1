/**
 * The only way to change policy or lists: writes the rows, their revision and the audit entry in one transaction,
 * applies the rows, and waits for the threads. Changes are serialised on all nodes, so that revisions are in commit
 * order and each contains exactly the policy after its change. A change without effect creates no revision. Only new
 * states of schedules, compiled lists and the service catalog, which do not change rows, are applied elsewhere.
 */
import { notActive } from '../../api/api-error.ts';
import { OutcomeUnknown } from '../../storage/db/database-errors.ts';
import { SYSTEM } from '../../api/caller.ts';
import type { Author } from '../../api/caller.ts';
import type { CodedChange } from '../../../shared/policy/changes/change-codes.ts';
import type { Database, Queryable } from '../../storage/db/database.ts';
import { changedRows, MAX_ROWS } from './change-detection.ts';
import type { ChangedRow, ChangedRows } from './change-detection.ts';
import { recordRevision } from './record-revision-store.ts';
import type { RevisionNote } from './record-revision-store.ts';

export type { ChangedRow } from './change-detection.ts';

/** Key of the advisory lock; an arbitrary number. */
const LOCK = 0x57454952;

/** Result of a change. */
export interface Changed<T> {
  readonly result: T;
  /** Subject and action; null = no revision is created, and the work itself writes an audit entry if one is needed. */
  readonly summary: CodedChange | null;
  /** Changed rows of tables that revisions do not include, such as users. Only the work itself knows these rows. */
  readonly outside?: readonly ChangedRow[];
}

/** Runs in the transaction of a change; it may run again after a conflict with another transaction. */
export type ChangeWork<T> = (tx: Queryable) => Promise<Changed<T>>;

/** Result of a change with the id of its revision; the id is null without a revision. */
export interface Recorded<T> {
  readonly result: T;
  readonly revision: number | null;
}

/** Publishes stored rows to the DNS threads. */
export interface PolicyApplier {
  /**
   * Resolves when the rows as of the call, or newer ones, are published, and each thread either uses them or is counted
   * by `threadsBehind()`. Failures are retried later.
   */
  apply(): Promise<void>;
  /**
   * Number of DNS threads that did not acknowledge the last publication in time; such a thread applies it later or is
   * replaced.
   */
  threadsBehind(): number;
}

/** Applies a stored change: `apply` publishes the rows; further work can be done before or after it. */
export type Follow<T> = (result: T, apply: () => Promise<void>) => Promise<void>;

const applyOnly: Follow<unknown> = (_result, apply) => apply();

/** Changes policy and applies the change. One per node. */
export class PolicyChanges {
  private readonly database: Database;
  private readonly active: PolicyApplier;

  constructor(database: Database, active: PolicyApplier) {
    this.database = database;
    this.active = active;
  }

  /**
   * Stores the changes of `work` and their revision in one transaction, and applies them with `follow`. Resolves when
   * every DNS thread uses the changes. If `work` or the database throws, nothing is stored. The exception is
   * OutcomeUnknown: only the list of revisions then shows whether the change was stored; if so, it is applied as soon
   * as the database is available. @throws {ApiError} 503 `not_in_force` with the revision: the change is stored, but
   * publishing failed (and is retried), or a thread did not acknowledge it in time (and will do so later or be
   * replaced)
   */
  async change<T>(author: Author, work: ChangeWork<T>, follow: Follow<T> = applyOnly): Promise<T> {
    return (await this.changeWithRevision(author, work, follow)).result;
  }

  /** Like `change()`, but also returns the id of the revision. */
  async changeWithRevision<T>(
    author: Author,
    work: ChangeWork<T>,
    follow: Follow<T> = applyOnly,
  ): Promise<Recorded<T>> {
    const stored = await this.store(author, work).catch((error: unknown) => {
      // The applier retries until it has read the stored rows, whether they include the change or not.
      if (error instanceof OutcomeUnknown) this.active.apply().catch(() => undefined);
      throw error;
    });
    if (stored.revision !== null) author.onRevision?.(stored.revision);
    try {
      await follow(stored.result, () => this.active.apply());
    } catch (error) {
      throw notActive('it could not be published', stored.revision, error);
    }
    const behind = this.active.threadsBehind();
    if (behind > 0) throw notActive(`${behind} DNS threads did not acknowledge it in time`, stored.revision);
    return stored;
  }

  /** Stores facts that Weir itself records about a list, with a revision; the next compilation applies them. */
  async record<T>(work: ChangeWork<T>): Promise<T> {
    return (await this.store(SYSTEM, work, true)).result;
  }

  private store<T>(author: Author, work: ChangeWork<T>, isOwn = false): Promise<Recorded<T>> {
    return this.database.transactionInTurn(LOCK, async (tx) => {
      await author.precondition?.(tx);
      const { result, summary, outside = [] } = await work(tx);
      if (summary === null) return { result, revision: null };
      const changed = await changedRows(tx);
      if (changed.count + outside.length === 0) return { result, revision: null };
      const rows = [...outside, ...changed.rows].slice(0, MAX_ROWS);
      const audit = auditOf(author, summary, { rows, count: changed.count + outside.length });
      return { result, revision: await recordRevision(tx, { isOwn, audit }) };
    });
  }
}

/** The audit entry of a change; each changed row is stored under its table and key. */
function auditOf(actor: Author, change: CodedChange, { rows, count }: ChangedRows): RevisionNote['audit'] {
  const before = byKey(rows, 'before');
  const after = byKey(rows, 'after');
  return { actor, ...change, before, after, leftOut: count - rows.length };
}

function byKey(rows: readonly ChangedRow[], side: 'before' | 'after'): Record<string, unknown> | null {
  const found = rows.filter((row) => row[side] !== null);
  if (found.length === 0) return null;
  return Object.fromEntries(found.map((row) => [`${row.table} ${row.key}`, row[side]]));
}
