/**
 * Stops the parts of a node in reverse order of their start, each within its own time limit, and all of them within the
 * timeout of a service manager. A part that hangs or fails does not prevent the others from stopping.
 */
import { reasonOf } from '../../shared/errors.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../shared/log.ts';

/** Stops a part; the result is awaited for at most `withinMs`. */
export type Stop = (withinMs: number) => Promise<void> | void;

/** A stop function with its own time limit. */
export interface TimedStop {
  readonly stop: Stop;
  /** Maximum milliseconds for the part; by default all remaining time. */
  readonly withinMs?: number;
  /** Milliseconds reserved for the part, even if parts that stop earlier take long. */
  readonly keptMs?: number;
}

/** Started parts with their stop functions, in the order of starting. */
export type Stops = (Stop | TimedStop)[];

/** Milliseconds for stopping all parts. */
const STOP_MS = 4800;
/** Default milliseconds for a part: enough to wait for an SQL statement. */
const PART_MS = 1000;

/** Stops all parts, last first. */
export async function stopInReverse(stops: Stops, logger: Logger, withinMs = STOP_MS): Promise<void> {
  const untilMs = performance.now() + withinMs;
  for (let part = stops.pop(); part !== undefined; part = stops.pop()) {
    const { stop, withinMs: mostMs = Infinity } =
      typeof part === 'function' ? { stop: part, withinMs: PART_MS } : part;
    const keptMs = stops.reduce(
      (sum, left) => sum + (typeof left === 'function' ? 0 : (left.keptMs ?? 0)),
      0,
    );
    await stopPart(stop, Math.max(0, Math.min(mostMs, untilMs - performance.now() - keptMs)), logger);
  }
}

async function stopPart(stop: Stop, withinMs: number, logger: Logger): Promise<void> {
  const inTime = new AbortController();
  const late = sleep(withinMs, 'late', { signal: inTime.signal }).catch(() => 'in time');
  try {
    const stopped = Promise.resolve(stop(withinMs)).then(() => 'in time');
    stopped.catch(() => undefined); // Failures in time are reported below.
    if ((await Promise.race([stopped, late])) === 'late')
      logger.warn('could not stop a component in time', { waited_ms: Math.round(withinMs) });
  } catch (error) {
    logger.error('could not stop a component', { reason: reasonOf(error) });
  } finally {
    inTime.abort();
  }
}
