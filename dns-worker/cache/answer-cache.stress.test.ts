/**
 * Verifies that no reader gets a partly overwritten answer, or the answer of another key: more readers and writers than
 * cores use one cache that is far too small, while writers are killed during writes and write positions repeatedly wrap
 * around. The test suite runs this for a few seconds; WEIR_CACHE_STRESS_SECS=3600 runs it for an hour.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect, test } from '@jest/globals';
import { CacheHead, createAnswerCache, releaseCacheLock } from '../../shared/memory/answer-cache-layout.ts';
import { StressCount, type StressStart } from '../../test/support/parts/cache-stress-thread.ts';
import { until, within } from '../../test/support/parts/until.ts';
import { CacheMemory } from '../../shared/memory/cache-memory.ts';

const SECS = Number(process.env['WEIR_CACHE_STRESS_SECS'] ?? 4);
const THREAD = new URL('../../test/support/parts/cache-stress-thread.ts', import.meta.url);
const READERS = 3;
const WRITERS = 3;
/** Owner of the lock while the test itself advances the positions. */
const MOVER = 90;
/** Interval at which the test kills a writer at an arbitrary moment; other writers end themselves during a write. */
const KILL_EVERY_MS = 700;
/**
 * Minimum number of writers that must die while they own the lock: a run with fewer would not have tested this case.
 */
const MIN_BROKEN_LOCKS = 3;
const GRACE_MS = 60_000;

test(
  'AnswerCache returns only complete answers for the right key while other threads write, crash or move entries',
  async () => {
    const cache = createAnswerCache(0);
    const counts = new SharedArrayBuffer(StressCount.WORDS * 4);
    const count = new Int32Array(counts);
    const faults: string[] = [];
    let seed = 1;
    const start = (role: StressStart['role'], worker: number): Worker => {
      const workerData: StressStart = { role, worker, seed: seed++, cache, counts };
      const thread = new Worker(THREAD, { workerData });
      thread.on('message', (fault: string) => faults.push(fault));
      thread.on('error', (error) => faults.push(String(error)));
      return thread;
    };
    const head = new CacheMemory(cache).head;
    let brokenLocks = 0;
    let moves = 0;
    const writers: Worker[] = [];
    const startWriter = (worker: number): void => {
      const writer = start('writer', worker);
      writers[worker] = writer;
      writer.on('exit', () => {
        if (Atomics.load(count, StressCount.STOP) === 1) return;
        // Release the lock, as the supervisor does when a thread dies.
        if (Atomics.load(head, CacheHead.LOCK_WORD) === worker + 1) brokenLocks++;
        releaseCacheLock(cache, worker);
        startWriter(worker);
      });
    };
    startPositionsOver(cache);
    const readers = Array.from({ length: READERS }, () => start('reader', 0));
    for (let worker = 0; worker < WRITERS; worker++) startWriter(worker);
    const untilMs = performance.now() + SECS * 1000;
    let kills = 0;
    const kill = async () => {
      if (startPositionsOver(cache)) moves++;
      await writers[kills++ % WRITERS]!.terminate();
      return { faults, brokenLocks, moves };
    };
    await until(
      'writers to die with the lock and positions to move',
      kill,
      (now) =>
        now.faults.length > 0 ||
        (performance.now() > untilMs && now.brokenLocks >= MIN_BROKEN_LOCKS && now.moves > 0),
      { pauseMs: KILL_EVERY_MS, withinMs: SECS * 1000 + GRACE_MS / 2 },
    );
    Atomics.store(count, StressCount.STOP, 1);
    await Promise.all([...readers, ...writers].map((thread) => endOf(thread)));
    expect(faults).toEqual([]);
    expect(count[StressCount.HITS]! >>> 0).toBeGreaterThan(0);
    expect(count[StressCount.MISSES]! >>> 0).toBeGreaterThan(0);
    expect(count[StressCount.STORED]! >>> 0).toBeGreaterThan(0);
    if (process.env['WEIR_CACHE_STRESS_SECS'] !== undefined) report(count, head, { brokenLocks, moves });
  },
  SECS * 1000 + GRACE_MS,
);

/**
 * Takes the lock like a writer that then dies, one slab before positions wrap around; false if another writer has the
 * lock.
 */
function startPositionsOver(cache: SharedArrayBuffer): boolean {
  const { head, positionLimit, slabUnits } = new CacheMemory(cache);
  if (Atomics.compareExchange(head, CacheHead.LOCK_WORD, 0, MOVER + 1) !== 0) return false;
  // The release advances the positions by a slab.
  Atomics.store(head, CacheHead.HEAD_WORD, (positionLimit - 2 * slabUnits) | 0);
  releaseCacheLock(cache, MOVER);
  return true;
}

async function endOf(thread: Worker): Promise<void> {
  if (thread.threadId !== -1) await within('a thread to end', once(thread, 'exit'));
}

/** Prints the counts of a long run. */
function report(count: Int32Array, head: Int32Array, more: Readonly<Record<string, number>>): void {
  const figures = {
    hits: count[StressCount.HITS]! >>> 0,
    misses: count[StressCount.MISSES]! >>> 0,
    stored: count[StressCount.STORED]! >>> 0,
    notStored: count[StressCount.REFUSED]! >>> 0,
    compactions: head[CacheHead.COMPACTIONS_WORD]! >>> 0,
    evictions: head[CacheHead.EVICTIONS_WORD]! >>> 0,
    ...more,
  };
  process.stdout.write(`${JSON.stringify(figures)}\n`);
}
