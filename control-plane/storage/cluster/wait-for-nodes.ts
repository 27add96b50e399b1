/** Waits until a change is active on all nodes. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Queryable } from '../db/database.ts';
import { setMark } from './policy-position.ts';
import { nodesBehind } from './node-figures.ts';

/** Milliseconds between two polls; nodes report a new mark within this time. */
const POLL_MS = 50;

/**
 * Waits until all running nodes have applied everything that was committed before the call. Resolves with the names of
 * the nodes that have not: an empty array as soon as all have, or the remaining nodes when the time limit is reached or
 * the caller has disconnected. It does not wait for lists that are not downloaded yet or that a node has rejected.
 */
export async function waitForNodes(
  database: Queryable,
  withinMs: number,
  gone: AbortSignal,
): Promise<string[]> {
  const untilMs = performance.now() + withinMs;
  const mark = await setMark(database);
  for (;;) {
    // The time is read before the poll, so that the last poll includes everything that was reported in time.
    const isLast = performance.now() >= untilMs || gone.aborted;
    const behind = await nodesBehind(database, mark);
    if (behind.length === 0 || isLast) return behind;
    await sleep(POLL_MS);
  }
}
