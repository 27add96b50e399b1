/** What crosses to the thread that asks upstream servers once, before a configuration names them. */
import type { UpstreamSettings } from '../policy/upstream-settings.ts';
import type { WorkerSettings } from './messages.ts';

/** Which servers to ask, and with what. */
export interface UpstreamTestStart extends Pick<WorkerSettings, 'bootstrap' | 'extraCa'> {
  /** Each is asked on its own. */
  readonly servers: readonly UpstreamSettings[];
  /** Time for all of them. */
  readonly timeoutMs: number;
}

/** For each server, in order: null if it answered, else why not. */
export type UpstreamTestAnswer = readonly (string | null)[];
