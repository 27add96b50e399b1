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
}

/** Follows from its making until it is closed. One per node. */
export class ChangeFollower {
  private readonly catchingUp: Coalescer;
  private readonly listeners = new Map<string, Set<() => void>>();
  private readonly stop: () => void;
  private known: PolicyPosition = { revision: 0, versions: {} };

  constructor(database: Pick<Database, 'watch'>, policy: FollowingPolicy) {
    this.catchingUp = new Coalescer(() => policy.catchUp(() => this.known));
    this.stop = database.watch({
      channel: POSITION_CHANNEL,
      expression: POSITION,
      take: (position) => this.take(position as PolicyPosition),
    });
  }

  /** Calls back when the table has changed, also on this node itself, and when it may have. */
  onChange(table: FollowedTable, listener: () => void): void {
    this.listeners.set(table, (this.listeners.get(table) ?? new Set()).add(listener));
  }

  /** Ends; resolves when nothing is being put into force. */
  async close(): Promise<void> {
    this.stop();
    await this.catchingUp.idle();
  }

  private take(position: PolicyPosition): void {
    const changed = differingVersions(this.known.versions, position.versions);
    this.known = position;
    for (const name of changed) for (const listener of this.listeners.get(name) ?? []) listener();
    // Policy logs what fails, and tries again itself.
    this.catchingUp.run().catch(() => undefined);
  }
}
