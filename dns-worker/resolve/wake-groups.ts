/**
 * Wakes the questions of a resolver in groups. Every question has several deadlines, all slightly different; a timer
 * for each deadline would wake a thread with thousands of open questions every millisecond, and would cost most when
 * the machine is overloaded.
 */
import type { Clock } from '../../shared/clock.ts';

/** Deadlines within this many milliseconds are combined into the latest of them. */
const TOGETHER_MS = 10;

/** Callback at a deadline. */
export type Wake = () => void;

/** Callbacks that are called at the same time. */
export interface WakeGroup {
  readonly atMs: number;
  readonly wakes: Set<Wake>;
  timer: NodeJS.Timeout;
}

/** The deadlines of one resolver's questions. */
export class WakeGroups {
  private readonly clock: Clock;
  private readonly groups = new Map<number, WakeGroup>();

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** Calls `wake` once at this monotonic time in milliseconds, or up to 10 ms later. */
  add(wake: Wake, dueMs: number): WakeGroup {
    const atMs = Math.ceil(dueMs / TOGETHER_MS) * TOGETHER_MS;
    let group = this.groups.get(atMs);
    if (group === undefined) {
      const timer = setTimeout(
        () => this.call(group!),
        Math.max(1, Math.ceil(atMs - this.clock.monotonicMs())),
      );
      group = { atMs, wakes: new Set(), timer };
      this.groups.set(atMs, group);
    }
    group.wakes.add(wake);
    return group;
  }

  /** Removes a callback from the group that `add` returned; does nothing if it was already called. */
  remove(wake: Wake, group: WakeGroup): void {
    if (!group.wakes.delete(wake) || group.wakes.size > 0) return;
    clearTimeout(group.timer);
    this.deleteGroup(group);
  }

  private call(group: WakeGroup): void {
    this.deleteGroup(group);
    try {
      for (const wake of group.wakes) {
        group.wakes.delete(wake);
        wake();
      }
    } finally {
      // One of the callbacks has thrown: call the others in a new turn.
      if (group.wakes.size > 0) group.timer = setTimeout(() => this.call(group), 1);
    }
  }

  private deleteGroup(group: WakeGroup): void {
    if (this.groups.get(group.atMs) === group) this.groups.delete(group.atMs);
  }
}
