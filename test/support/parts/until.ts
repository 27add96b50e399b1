/**
 * Waits of tests for events in other threads or processes. Each wait has a name and a deadline, and fails with the last
 * state. Uses Node's own clock, even in a suite with fake timers.
 */
import { performance } from 'node:perf_hooks';
import { clearTimeout, setTimeout } from 'node:timers';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';

/** Default deadline of one wait: well within a test's time limit (300 s), long enough for a starved machine. */
export const WAIT_MS = 90_000;

const SEEN_LENGTH = 2000;
const NOTHING = 'nothing';
const LATE = Symbol('late');

/** Interval and duration of polling. */
export interface UntilOptions {
  /** Interval, milliseconds; longer if a read puts load on a server. */
  readonly pauseMs?: number;
  readonly withinMs?: number;
}

/** The deadline of a wait has passed. */
export class WaitTimeout extends Error {
  constructor(what: string, withinMs: number, lastSeen: unknown) {
    const seen = typeof lastSeen === 'string' ? lastSeen : inspect(lastSeen, { depth: 5 });
    super(`waited ${withinMs / 1000} s for ${what}; last seen: ${seen.slice(-SEEN_LENGTH)}`);
    this.name = 'WaitTimeout';
  }
}

/**
 * Reads a state until `isDone` accepts it, and returns that state. `what` completes "waited for …".
 * @throws WaitTimeout with the last state read, also if a read does not end
 */
export async function until<State>(
  what: string,
  read: () => State | Promise<State>,
  isDone: (state: State) => boolean = Boolean,
  { pauseMs = 10, withinMs = WAIT_MS }: UntilOptions = {},
): Promise<State> {
  const endMs = performance.now() + withinMs;
  let seen: unknown = NOTHING;
  const late = (): WaitTimeout => new WaitTimeout(what, withinMs, seen);
  for (;;) {
    const state = await settled(Promise.resolve(read()), Math.max(0, endMs - performance.now()), late);
    if (isDone(state)) return state;
    seen = state;
    if (performance.now() > endMs) throw late();
    await sleep(pauseMs);
  }
}

/**
 * The result of a promise that settles when an event in another thread or process happens.
 * @throws WaitTimeout with `lastSeen()` if it does not settle in time
 */
export function within<Result>(
  what: string,
  event: Promise<Result>,
  { withinMs = WAIT_MS, lastSeen }: { readonly withinMs?: number; readonly lastSeen?: () => unknown } = {},
): Promise<Result> {
  const result = settled(event, withinMs, () => new WaitTimeout(what, withinMs, lastSeen?.() ?? NOTHING));
  // If a test no longer awaits the result, its rejection must not fail another suite that runs at the deadline.
  result.catch(() => undefined);
  return result;
}

async function settled<Result>(
  event: Promise<Result>,
  leftMs: number,
  late: () => WaitTimeout,
): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<typeof LATE>((resolve) => {
    timer = setTimeout(() => resolve(LATE), leftMs);
  });
  try {
    const result = await Promise.race([event, deadline]);
    if (result === LATE) throw late();
    return result;
  } finally {
    clearTimeout(timer);
  }
}
