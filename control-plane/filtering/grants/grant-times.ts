/**
 * Determines which grants are active at a given time. A grant ends when the wall clock reaches its end, or when its
 * remaining time, measured when this node first saw the grant, has passed on the monotonic clock. Setting the wall
 * clock back therefore does not extend a grant. Pure, except that it stores the ends by the monotonic clock;
 * `filtering/schedules/schedule-evaluator.ts` checks again when the next grant ends.
 */
import type { Clock } from '../../../shared/clock.ts';
import type { PolicyGrant } from '../../policy/change/rows.ts';

/** The active grants, and the time of the next change. */
export interface GrantsNow {
  readonly active: readonly PolicyGrant[];
  /** Ids of grants that were active on this node and have expired. */
  readonly ended: ReadonlySet<number>;
  /** Milliseconds until the next grant ends; Infinity = none ends. */
  readonly nextEndMs: number;
}

/** No active grants. */
export const NO_GRANTS: GrantsNow = { active: [], ended: new Set(), nextEndMs: Infinity };

interface Seen {
  readonly untilMs: number;
  readonly endMonotonicMs: number;
}

/** Determines active grants; stores the ends of grants that were active on this node. One per node. */
export class GrantTimes {
  private readonly clock: Clock;
  private readonly seen = new Map<number, Seen>();

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** Evaluates all grants. */
  check(grants: readonly PolicyGrant[]): GrantsNow {
    if (grants.length === 0 && this.seen.size === 0) return NO_GRANTS;
    const nowMs = this.clock.nowMs();
    const monotonicMs = this.clock.monotonicMs();
    const active: PolicyGrant[] = [];
    const ended = new Set<number>();
    let nextEndMs = Infinity;
    for (const grant of grants) {
      const leftMs = this.leftOf(grant, nowMs, monotonicMs);
      if (leftMs > 0) {
        active.push(grant);
        nextEndMs = Math.min(nextEndMs, leftMs);
      } else if (this.hasUsedUp(grant, monotonicMs)) ended.add(grant.id);
    }
    this.remove(new Set(grants.map(({ id }) => id)), nowMs);
    return { active, ended, nextEndMs };
  }

  /** The active grants among `grants`. */
  active(grants: readonly PolicyGrant[]): PolicyGrant[] {
    const nowMs = this.clock.nowMs();
    const monotonicMs = this.clock.monotonicMs();
    return grants.filter((grant) => this.leftOf(grant, nowMs, monotonicMs) > 0);
  }

  /** Milliseconds until a grant ends: Infinity = it has no end, 0 or less = it is not active. */
  private leftOf({ id, untilMs }: PolicyGrant, nowMs: number, monotonicMs: number): number {
    if (untilMs === null) return Infinity;
    const byWallMs = untilMs - nowMs;
    let seen = this.seen.get(id);
    if (seen?.untilMs !== untilMs) {
      // This end is not stored, because the wall clock may be wrong, and the grant may become active when the clock is
      // corrected.
      if (byWallMs <= 0) return byWallMs;
      seen = { untilMs, endMonotonicMs: monotonicMs + byWallMs };
      this.seen.set(id, seen);
    }
    return Math.min(byWallMs, seen.endMonotonicMs - monotonicMs);
  }

  /**
   * Removes entries of grants that are no longer in the rows and whose end the wall clock has passed. Other entries are
   * kept, because the database may still contain these grants.
   */
  private remove(ids: ReadonlySet<number>, nowMs: number): void {
    for (const [id, { untilMs }] of this.seen) if (!ids.has(id) && untilMs <= nowMs) this.seen.delete(id);
  }

  private hasUsedUp({ id, untilMs }: PolicyGrant, monotonicMs: number): boolean {
    const seen = this.seen.get(id);
    return seen?.untilMs === untilMs && monotonicMs >= seen.endMonotonicMs;
  }
}
