/**
 * Keeps the schedules and the timer of the blocking switch in force: computes the overrides for each snapshot that is
 * built, and checks every minute whether they still hold. It works on the rows in force, so it needs no database.
 * `overrides.ts` evaluates the slots.
 */
import { reasonOf } from '../../shared/thrown.ts';
import type { Clock } from '../../shared/clock.ts';
import type { Logger } from '../../shared/log.ts';
import { timerEndMs } from '../policy/blocking-switch.ts';
import type { GroupOverride, LivePolicy } from '../policy/live.ts';
import type { PolicyRows } from '../policy/rows.ts';
import { overridesAt } from './overrides.ts';

const MINUTE_MS = 60_000;
/** Longest sleep: bounds how late a step of the clock is noticed. */
const LOOK_MS = 1000;

type Overrides = ReadonlyMap<number, GroupOverride>;

/** What an evaluator acts on. */
export interface EvaluatedPolicy {
  /** The rows in force. */
  readonly rows: () => PolicyRows;
  /** Builds a snapshot of them again and publishes it. */
  readonly apply: () => Promise<void>;
}

/** A result, and the time for which it is valid: `fromMs` inclusive, `untilMs` exclusive. */
interface Evaluation {
  readonly overrides: Overrides;
  readonly fromMs: number;
  readonly untilMs: number;
}

/** Computes the live policy of schedules and publishes again when it changes. One per node. */
export class ScheduleEvaluator {
  private readonly clock: Clock;
  private readonly logger: Logger;
  /** The result in the newest snapshot; undefined if it did not come into force. */
  private inForce: Evaluation | undefined;
  private policy: EvaluatedPolicy | undefined;
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> = Promise.resolve();

  constructor(clock: Clock, logger: Logger) {
    this.clock = clock;
    this.logger = logger;
  }

  /** The current result for a snapshot of `rows`. */
  evaluate(rows: PolicyRows): Pick<LivePolicy, 'nowMs' | 'overrides'> {
    this.inForce = this.evaluation(rows);
    return { nowMs: this.inForce.fromMs, overrides: this.inForce.overrides };
  }

  /** Checks every minute, and at the end of the switch's timer, until `close`. */
  start(policy: EvaluatedPolicy): void {
    this.policy = policy;
    this.sleep();
  }

  /** Stops; resolves when no publication is running. */
  async close(): Promise<void> {
    this.policy = undefined;
    clearTimeout(this.timer);
    await this.running;
  }

  /** Each sleep is measured again by the clock, so that nothing adds up. */
  private sleep(): void {
    if (this.policy === undefined) return;
    const leftMs = (this.inForce?.untilMs ?? Infinity) - this.clock.nowMs();
    this.timer = setTimeout(() => this.wake(), Math.max(1, Math.min(LOOK_MS, leftMs)));
    this.timer.unref();
  }

  private wake(): void {
    this.running = this.look().finally(() => this.sleep());
  }

  private async look(): Promise<void> {
    const { policy, inForce } = this;
    if (policy === undefined) return;
    const nowMs = this.clock.nowMs();
    if (inForce !== undefined && nowMs >= inForce.fromMs && nowMs < inForce.untilMs) return;
    const now = this.evaluation(policy.rows());
    if (inForce !== undefined && areSame(inForce.overrides, now.overrides)) {
      this.inForce = now;
      return;
    }
    try {
      await policy.apply();
    } catch (error) {
      this.inForce = undefined;
      const reason = reasonOf(error);
      this.logger.error('put schedules into force failed: retried in a second', { reason });
    }
  }

  private evaluation(rows: PolicyRows): Evaluation {
    const fromMs = this.clock.nowMs();
    const minuteMs = (Math.floor(fromMs / MINUTE_MS) + 1) * MINUTE_MS;
    const untilMs = Math.min(minuteMs, timerEndMs(rows.blockingSwitch, fromMs) ?? Infinity);
    return { overrides: overridesAt(rows, fromMs), fromMs, untilMs };
  }
}

function areSame(one: Overrides, other: Overrides): boolean {
  if (one.size !== other.size) return false;
  for (const [groupId, { override, nextFlipAtSecs }] of one) {
    const match = other.get(groupId);
    if (match?.override !== override || match.nextFlipAtSecs !== nextFlipAtSecs) return false;
  }
  return true;
}
