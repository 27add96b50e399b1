/** Waits until all nodes have a revision in force. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Queryable } from '../db/database.ts';
import { nodesBehind } from './node-figures.ts';

/** Milliseconds between two looks: a node says a new revision within so many. */
const LOOK_MS = 50;

/**
 * Resolves with the names of the nodes that run and have not put the revision into force, as soon as there are none, or
 * when the time is over or the caller is gone.
 */
export async function waitForNodes(
  database: Queryable,
  revision: number,
  withinMs: number,
  gone: AbortSignal,
): Promise<string[]> {
  const untilMs = performance.now() + withinMs;
  for (;;) {
    const behind = await nodesBehind(database, revision);
    if (behind.length === 0 || performance.now() >= untilMs || gone.aborted) return behind;
    await sleep(LOOK_MS);
  }
}
