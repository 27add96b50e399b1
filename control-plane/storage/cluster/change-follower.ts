/**
 * Follows changes in the database, wherever they are made: applies changes of policy on this node, and notifies other
 * parts of Weir of changes of their tables. NOTIFY reports a change within milliseconds, and the database is also
 * polled twice per second; changes that were made while the connection was lost are found when it is restored.
 */
import type { Logger } from '../../../shared/log.ts';
import { Coalescer } from '../concurrency/coalescer.ts';
import { Retrying } from '../concurrency/retrying.ts';
import type { Database } from '../db/database.ts';
import {
  differingVersions,
  faultOf,
  POSITION,
  POSITION_CHANNEL,
  type PolicyPosition,
} from './policy-position.ts';

/** A name in `table_versions`. */
export type FollowedTable =
  | 'access'
  | 'client_settings'
  | 'list_sources'
  | 'list_copies'
  | 'web_certificate'
  | 'service_catalog'
  | 'unblock_requests';

/** Applies policy on this node. */
export interface FollowingPolicy {
  /** Applies changes up to the position that `known` returns; `known` is called when earlier changes are applied. */
  catchUp(known: () => PolicyPosition): Promise<void>;
  /** The newest mark, see `setMark()`, up to which policy is applied; null = none yet. */
  mark(): number | null;
}

/** Handles a change of a table; resolves when done. If it rejects, it is called again. */
export type ChangeListener = () => unknown;

/** A listener and its progress. */
interface Listening {
  readonly table: FollowedTable;
  readonly retrying: Retrying;
  /** Number of changes reported to the listener. */
  notified: number;
  /** Number of changes that the listener has handled. */
  taken: number;
}

const NOTHING_KNOWN: PolicyPosition = { revision: 0, versions: {}, mark: 0, tables: null };

/** Follows changes from its creation until it is closed. One per node. */
export class ChangeFollower {
  private readonly catchingUp: Coalescer;
  private readonly listeners = new Set<Listening>();
  private readonly stop: () => void;
  private known = NOTHING_KNOWN;
  /** The last fault that was logged. */
  private fault = '';
  private readonly policy: FollowingPolicy;
  private readonly logger: Logger;
  private readonly reached: () => void;
  /** The newest mark up to which the listeners have handled all changes. */
  private handledMark: number | null = null;

  /** `reached` is called when the listeners have handled all changes up to a new mark. */
  constructor(
    database: Pick<Database, 'watch'>,
    policy: FollowingPolicy,
    logger: Logger,
    reached: () => void,
  ) {
    this.policy = policy;
    this.logger = logger;
    this.reached = reached;
    this.catchingUp = new Coalescer(() => policy.catchUp(() => this.known));
    this.stop = database.watch({
      channel: POSITION_CHANNEL,
      expression: POSITION,
      take: (position) => this.take(position as PolicyPosition),
    });
  }

  /**
   * Calls the listener when the table has changed or may have changed, even if this node made the change; returns a
   * function that removes the listener. Several changes during a call cause only one further call.
   */
  onChange(table: FollowedTable, listener: ChangeListener): () => Promise<void> {
    const work = async (): Promise<void> => {
      const { notified } = listening;
      if (listening.taken === notified) return;
      await listener();
      listening.taken = notified;
      this.recordHandled();
    };
    const retrying = new Retrying({ work, logger: this.logger, what: `follow a change of ${table}` });
    const listening: Listening = { table, retrying, notified: 0, taken: 0 };
    this.listeners.add(listening);
    if (this.known !== NOTHING_KNOWN) notify(listening);
    return () => {
      this.listeners.delete(listening);
      return retrying.close();
    };
  }

  /** The newest mark up to which policy is applied and all listeners have handled all changes; null = none yet. */
  mark(): number | null {
    const ofPolicy = this.policy.mark();
    return ofPolicy === null || this.handledMark === null ? null : Math.min(ofPolicy, this.handledMark);
  }

  /** Stops following; resolves when no policy is being applied any more. */
  async close(): Promise<void> {
    this.stop();
    for (const { retrying } of this.listeners) void retrying.close();
    await this.catchingUp.idle();
  }

  private take(position: PolicyPosition): void {
    const { known } = this;
    const changed = differingVersions(known.versions, position.versions);
    this.known = position;
    this.reportFault(faultOf(position));
    const isOther = known !== NOTHING_KNOWN && this.isOther(position, known);
    for (const listening of this.listeners)
      if (isOther || changed.includes(listening.table)) notify(listening);
    this.recordHandled();
    // The active policy logs errors and retries itself.
    this.catchingUp.run().catch(() => undefined);
  }

  /**
   * Whether the database may have been restored, so that an unchanged version number does not mean that the table is
   * unchanged.
   */
  private isOther(position: PolicyPosition, before: PolicyPosition): boolean {
    if (position.tables === before.tables && position.revision >= before.revision) return false;
    const revisions = { revision: position.revision, before: before.revision };
    this.logger.warn(
      'the database was replaced, for example by a restore; using the policy of the new database',
      revisions,
    );
    return true;
  }

  private reportFault(fault: string): void {
    if (fault !== '' && fault !== this.fault)
      this.logger.error(
        'could not follow all changes; changes by other nodes may become active late, or only at the next ' +
          'start',
        {
          fault,
        },
      );
    this.fault = fault;
  }

  private recordHandled(): void {
    const { mark } = this.known;
    if (mark === this.handledMark || [...this.listeners].some(({ notified, taken }) => taken < notified))
      return;
    this.handledMark = mark;
    this.reached();
  }
}

function notify(listening: Listening): void {
  listening.notified++;
  void listening.retrying.now();
}
