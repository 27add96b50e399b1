/** Waits of tests for events elsewhere: each has a name and a deadline, and fails with the last state seen. */
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';

/** Default deadline of one wait: well within a test's time limit (300 s), long enough for a starved machine. */
export const WAIT_MS = 90_000;

const SEEN_LENGTH = 2000;

/** How often and how long to look. */
export interface UntilOptions {
  /** Between two looks; longer if a look costs a server something. */
  readonly pauseMs?: number;
  readonly withinMs?: number;
}

/** The deadline of a wait that has passed. */
export class WaitTimeout extends Error {
  constructor(what: string, withinMs: number, lastSeen: unknown) {
    const seen = typeof lastSeen === 'string' ? lastSeen : inspect(lastSeen, { depth: 5 });
    super(`waited ${withinMs / 1000} s for ${what}; last seen: ${seen.slice(-SEEN_LENGTH)}`);
    this.name = 'WaitTimeout';
  }
}

/**
 * Reads a state until `isDone` accepts it, and returns that state. `what` completes "waited for …".
 * @throws WaitTimeout with the last state read
 */
export async function until<State>(
  what: string,
  read: () => State | Promise<State>,
  isDone?: (state: State) => boolean,
  options?: UntilOptions,
): Promise<State>;
export async function until(test: () => boolean | Promise<boolean>, pauseMs?: number): Promise<void>;
export async function until<State>(
  what: string | (() => State | Promise<State>),
  read: number | (() => State | Promise<State>) = 10,
  isDone: (state: State) => boolean = Boolean,
  options: UntilOptions = {},
): Promise<unknown> {
  if (typeof what !== 'string') return untilDone('something', what, isDone, { pauseMs: read as number });
  return untilDone(what, read as () => State | Promise<State>, isDone, options);
}

async function untilDone<State>(
  what: string,
  read: () => State | Promise<State>,
  isDone: (state: State) => boolean,
  { pauseMs = 10, withinMs = WAIT_MS }: UntilOptions,
): Promise<State> {
  const endMs = performance.now() + withinMs;
  for (;;) {
    const state = await within(what, Promise.resolve(read()), { withinMs });
    if (isDone(state)) return state;
    if (performance.now() > endMs) throw new WaitTimeout(what, withinMs, state);
    await sleep(pauseMs);
  }
}

/**
 * The result of a promise that settles when an event elsewhere happens.
 * @throws WaitTimeout with `lastSeen()` if it does not settle in time
 */
export async function within<Result>(
  what: string,
  event: Promise<Result>,
  { withinMs = WAIT_MS, lastSeen }: { readonly withinMs?: number; readonly lastSeen?: () => unknown } = {},
): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new WaitTimeout(what, withinMs, lastSeen?.() ?? 'nothing')), withinMs);
  });
  try {
    return await Promise.race([event, late]);
  } finally {
    clearTimeout(timer);
  }
}
