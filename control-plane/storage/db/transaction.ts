/** Runs one transaction on one connection, and retries it after a conflict with another transaction. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { PoolClient } from 'pg';
import { reasonOf } from '../../../shared/errors.ts';
import {
  DatabaseBusy,
  isBusy,
  isConflict,
  isConnectionLost,
  isStalePlan,
  isUnavailable,
  OutcomeUnknown,
} from './database-errors.ts';

const MAX_ATTEMPTS = 5;
/**
 * Maximum pause in milliseconds before the second attempt; the maximum grows with each attempt. The pause is random, so
 * that two transactions do not collide again.
 */
const PAUSE_MS = 20;

/**
 * Runs `work` between `begin` and COMMIT; an error in `work` causes a rollback and is thrown again. @throws
 * {OutcomeUnknown} if there was no response to COMMIT
 */
export async function inTransaction<T>(
  client: PoolClient,
  work: (tx: PoolClient) => Promise<T>,
  begin = 'BEGIN',
): Promise<T> {
  try {
    await client.query(begin);
    const result = await work(client);
    await commit(client);
    return result;
  } catch (error) {
    // An error of ROLLBACK is ignored: the connection is then broken, and the first error must be reported. A
    // connection that did not respond would not respond to ROLLBACK either; the server rolls back when it is closed.
    if (!isBusy(error)) await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

async function commit(client: PoolClient): Promise<void> {
  try {
    await client.query('COMMIT');
  } catch (error) {
    if (!isUnavailable(error) || !isConnectionLost(error)) throw error;
    throw new OutcomeUnknown(`could not commit: ${reasonOf(error)}`, { cause: error });
  }
}

/**
 * Retries a transaction that the server rolled back because of a deadlock or a serialization failure (SQLSTATE 40P01,
 * 40001), or rejected because of a stale plan, after which `Connections` closes the connection. @throws {DatabaseBusy}
 * after the last attempt
 */
export async function despiteConflicts<T>(attempt: () => Promise<T>): Promise<T> {
  for (let attempts = 1; ; attempts++) {
    try {
      return await attempt();
    } catch (error) {
      if (!isConflict(error) && !isStalePlan(error)) throw error;
      if (attempts === MAX_ATTEMPTS)
        throw new DatabaseBusy('the database is busy with other changes to the same rows', { cause: error });
      await sleep(Math.random() * PAUSE_MS * attempts);
    }
  }
}
