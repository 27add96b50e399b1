/**
 * Sets the priority of processes, mainly of the embedded server: if CPU time is scarce, answering queries takes
 * precedence over the log.
 */
import { writeFileSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import type { ClientBase } from 'pg';
import type { Logger } from '../../../../shared/log.ts';

/**
 * Niceness of a process relative to the DNS threads. A long read has a lower priority than the log, but not much lower:
 * the log waits for locks that the read holds, and with niceness 19 the log stopped for ten seconds.
 */
export const NICENESS = { behindDns: 4, behindLog: 12 } as const;

const MAX_NICENESS = 19;
/**
 * Priority of the DNS threads, which is that of the process at its start; the control plane later lowers its own
 * priority. In a thread that starts later, this constant has a different value.
 */
export const FIRST_PRIORITY = getPriority();

/** Lowers the priority of a process below `first`; leaves it unchanged if the system does not allow this. */
export function lowerPriority(pid: number, niceness: number, logger: Logger, first = FIRST_PRIORITY): void {
  try {
    setPriority(pid, Math.min(first + niceness, MAX_NICENESS));
    // Each process of PostgreSQL is a separate session, and Linux may first divide CPU time among sessions, so that
    // niceness has no effect between them (sched(7), autogroup); so the priority of the session is also set.
    if (process.platform === 'linux') writeFileSync(`/proc/${pid}/autogroup`, String(niceness));
  } catch (error) {
    logger.debug('could not lower the priority of a process', { pid, error: String(error) });
  }
}

/** Lowers the priority of the process behind a connection of the embedded server. */
export function lowerSession(client: ClientBase, niceness: number, logger: Logger, first?: number): void {
  const { processID } = client as ClientBase & { readonly processID: number | null };
  if (processID !== null) lowerPriority(processID, niceness, logger, first);
}
