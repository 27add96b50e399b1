/**
 * Follows what any node, or somebody else, changes in the database: policy is put into force here, and other parts are
 * told of the tables that they wait for. It is told by NOTIFY within milliseconds and looks twice a second besides; what
 * was changed while the database was away is found once it is back.
 */
import { Coalescer } from '../concurrency/coalescer.ts';
import type { Database } from '../db/database.ts';
import {
  differingVersions,
  POSITION,
  POSITION_CHANNEL,
  type PolicyPosition,
} from '../policy/policy-position.ts';

/** A name in `table_versions`. */
export type FollowedTable = 'access' | 'list_sources' | 'list_copies' | 'web_certificate' | 'service_catalog';

/** What puts policy into force. */
export interface FollowingPolicy {
  /** Catches up with the position that is known when its turn comes. */
  catchUp(known: () => PolicyPosition): Promise<void>;
  /** The newest mark that it has reached; null = none yet. */
  mark(): number | null;
}

/** What takes a change of a table; what it returns tells when it is done. */
export type ChangeListener = () => unknown;

/** Follows from its making until it is closed. One per node. */
export class ChangeFollower {
  private readonly catchingUp: Coalescer;
  private readonly listeners = new Map<string, Set<ChangeListener>>();
  private readonly stop: () => void;
  private known: PolicyPosition = { revision: 0, versions: {}, mark: 0 };
  private readonly policy: FollowingPolicy;
  private readonly reached: () => void;
  /** Ends when the listeners are done, and the mark up to which they are. */
  private hearing: Promise<unknown> = Promise.resolve();
  private heardMark: number | null = null;

  /** `reached` is told when the listeners have come to another mark. */
  constructor(database: Pick<Database, 'watch'>, policy: FollowingPolicy, reached: () => void) {
    this.policy = policy;
    this.reached = reached;
    this.catchingUp = new Coalescer(() => policy.catchUp(() => this.known));
    this.stop = database.watch({
      channel: POSITION_CHANNEL,
      expression: POSITION,
      take: (position) => this.take(position as PolicyPosition),
    });
  }

  /** Calls back when the table has changed, also on this node itself, and when it may have. */
  onChange(table: FollowedTable, listener: ChangeListener): void {
    this.listeners.set(table, (this.listeners.get(table) ?? new Set()).add(listener));
  }

  /** The newest mark that policy and all listeners have reached; null = none yet. */
  mark(): number | null {
    const ofPolicy = this.policy.mark();
    return ofPolicy === null || this.heardMark === null ? null : Math.min(ofPolicy, this.heardMark);
  }

  /** Ends; resolves when nothing is being put into force. */
  async close(): Promise<void> {
    this.stop();
    await this.catchingUp.idle();
  }

  private take(position: PolicyPosition): void {
    const changed = differingVersions(this.known.versions, position.versions);
    this.known = position;
    const listeners = changed.flatMap((name) => [...(this.listeners.get(name) ?? [])]);
    if (listeners.length > 0 || position.mark !== this.heardMark) this.tell(listeners, position.mark);
    // Policy logs what fails, and tries again itself.
    this.catchingUp.run().catch(() => undefined);
  }

  private tell(listeners: readonly ChangeListener[], mark: number): void {
    const done = listeners.map((listener) => listener());
    this.hearing = Promise.allSettled([this.hearing, ...done]).then(() => {
      this.heardMark = mark;
      this.reached();
    });
  }
}
