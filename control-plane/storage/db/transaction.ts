/** One transaction on one connection, retried if another one was in its way. */
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

const MOST_ATTEMPTS = 5;
/** Longest pause before the second attempt, milliseconds; it grows with each. Random, so that two do not meet again. */
const PAUSE_MS = 20;

/**
 * Runs `work` between `begin` and COMMIT; what it throws rolls back and is passed on.
 * @throws {OutcomeUnknown} if no answer to COMMIT came
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
    // A connection that cannot even roll back is broken, and the first error is the one to report. A connection that
    // did not answer would not answer this either; ending it rolls back.
    if (!isBusy(error)) await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

async function commit(client: PoolClient): Promise<void> {
  try {
    await client.query('COMMIT');
  } catch (error) {
    if (!isUnavailable(error) || !isConnectionLost(error)) throw error;
    throw new OutcomeUnknown(`commit: ${reasonOf(error)}`, { cause: error });
  }
}

/**
 * Does again what the server undid because of a deadlock or a serialization failure (SQLSTATE 40P01, 40001), or refused
 * because of a stale plan, whose connection `Connections` ends.
 * @throws {DatabaseBusy} after the last attempt
 */
export async function despiteConflicts<T>(attempt: () => Promise<T>): Promise<T> {
  for (let attempts = 1; ; attempts++) {
    try {
      return await attempt();
    } catch (error) {
      if (!isConflict(error) && !isStalePlan(error)) throw error;
      if (attempts === MOST_ATTEMPTS)
        throw new DatabaseBusy('the database is busy with changes of the same rows', { cause: error });
      await sleep(Math.random() * PAUSE_MS * attempts);
    }
  }
}
