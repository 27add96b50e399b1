/**
 * Keeps time-dependent policy up to date: schedules, grants, and the blocking timer. Computes the state for each
 * snapshot that is built, and checks whether the state is still valid every minute, and whenever a grant or the timer
 * ends. It uses the published rows and needs no database. `overrides.ts` evaluates the slots,
 * `filtering/grants/grant-times.ts` the grants.
 */
import { reasonOf } from '../../../shared/errors.ts';
import type { Clock } from '../../../shared/clock.ts';
import type { Logger } from '../../../shared/log.ts';
import type { GrantsNow, GrantTimes } from '../grants/grant-times.ts';
import { timerEndMs } from '../../policy/change/blocking-switch.ts';
import type { GroupOverride, LivePolicy } from '../../policy/change/runtime-state.ts';
import type { PolicyGrant, PolicyRows } from '../../policy/change/rows.ts';
import { overridesAt } from './overrides.ts';

const MINUTE_MS = 60_000;
/** Maximum milliseconds between two checks, so that a change of the clock is detected soon. */
const POLL_MS = 1000;

type Overrides = ReadonlyMap<number, GroupOverride>;

/** The policy that an evaluator keeps up to date. */
export interface EvaluatedPolicy {
  /** The active rows. */
  readonly rows: () => PolicyRows;
  /** Builds a new snapshot of the rows and publishes it. */
  readonly apply: () => Promise<void>;
  /** Called with the ids of grants that are still in the rows, but have expired permanently. */
  readonly endGrants: (ids: ReadonlySet<number>) => void;
}

/** State of schedules and grants at a given time. */
export interface Evaluated extends Pick<LivePolicy, 'nowMs' | 'overrides' | 'endedGrants'> {
  /** The active grants. */
  readonly grants: readonly PolicyGrant[];
}

/**
 * A result, and the period in which it is valid: from `fromMs` (inclusive) until `untilMs` and `untilMonotonicMs`
 * (exclusive).
 */
interface Evaluation {
  readonly overrides: Overrides;
  readonly grants: GrantsNow;
  readonly fromMs: number;
  readonly untilMs: number;
  /** End of the validity of the grants, in milliseconds of the monotonic clock. */
  readonly untilMonotonicMs: number;
}

/** Computes the runtime state of schedules and publishes again when it changes. One per node. */
export class ScheduleEvaluator {
  private readonly clock: Clock;
  private readonly logger: Logger;
  private readonly grants: GrantTimes;
  /** The result in the newest snapshot; undefined if the snapshot could not be applied. */
  private active: Evaluation | undefined;
  private policy: EvaluatedPolicy | undefined;
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> = Promise.resolve();

  constructor(clock: Clock, logger: Logger, grants: GrantTimes) {
    this.clock = clock;
    this.logger = logger;
    this.grants = grants;
  }

  /** Computes the result for a snapshot of `rows`. */
  evaluate(rows: PolicyRows): Evaluated {
    const { fromMs: nowMs, overrides, grants } = (this.active = this.evaluation(rows));
    if (grants.ended.size > 0) this.policy?.endGrants(grants.ended);
    return { nowMs, overrides, grants: grants.active, endedGrants: grants.ended };
  }

  /** Starts the checks: every minute, and when a grant or the blocking timer ends, until `close()` is called. */
  start(policy: EvaluatedPolicy): void {
    this.policy = policy;
    this.sleep();
  }

  /** Stops; resolves when no publication is in progress. */
  async close(): Promise<void> {
    this.policy = undefined;
    clearTimeout(this.timer);
    await this.running;
  }

  /** Each pause is computed from the clock, so that errors do not accumulate. */
  private sleep(): void {
    if (this.policy === undefined) return;
    const { untilMs = Infinity, untilMonotonicMs = Infinity } = this.active ?? {};
    const leftMs = Math.min(untilMs - this.clock.nowMs(), untilMonotonicMs - this.clock.monotonicMs());
    this.timer = setTimeout(() => this.wake(), Math.max(1, Math.min(POLL_MS, leftMs)));
    this.timer.unref();
  }

  private wake(): void {
    this.running = this.check().finally(() => this.sleep());
  }

  private async check(): Promise<void> {
    const { policy, active } = this;
    if (policy === undefined) return;
    if (active !== undefined && this.holds(active)) return;
    const now = this.evaluation(policy.rows());
    if (active !== undefined && areSame(active, now)) {
      this.active = now;
      return;
    }
    try {
      await policy.apply();
    } catch (error) {
      this.active = undefined;
      const reason = reasonOf(error);
      this.logger.error('could not apply schedules; retrying in a second', { reason });
    }
  }

  private holds({ fromMs, untilMs, untilMonotonicMs }: Evaluation): boolean {
    const nowMs = this.clock.nowMs();
    return nowMs >= fromMs && nowMs < untilMs && this.clock.monotonicMs() < untilMonotonicMs;
  }

  private evaluation(rows: PolicyRows): Evaluation {
    const fromMs = this.clock.nowMs();
    const minuteMs = (Math.floor(fromMs / MINUTE_MS) + 1) * MINUTE_MS;
    const grants = this.grants.check(rows.grants);
    const timerMs = timerEndMs(rows.blockingSwitch, fromMs) ?? Infinity;
    return {
      overrides: overridesAt(rows, fromMs),
      grants,
      fromMs,
      untilMs: Math.min(minuteMs, timerMs, fromMs + grants.nextEndMs),
      untilMonotonicMs: this.clock.monotonicMs() + grants.nextEndMs,
    };
  }
}

function areSame(one: Evaluation, other: Evaluation): boolean {
  const { overrides, grants } = one;
  const granted = other.grants.active;
  if (grants.active.length !== granted.length || overrides.size !== other.overrides.size) return false;
  if (!grants.active.every(({ id }, index) => id === granted[index]!.id)) return false;
  for (const [groupId, { override, nextFlipAtSecs }] of overrides) {
    const match = other.overrides.get(groupId);
    if (match?.override !== override || match.nextFlipAtSecs !== nextFlipAtSecs) return false;
  }
  return true;
}
