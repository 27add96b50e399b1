/** One transaction on one connection. */
import type { PoolClient } from 'pg';
import { isBusy } from './database-errors.ts';

/** Runs `work` between `begin` and COMMIT; what it throws rolls back and is passed on. */
export async function inTransaction<T>(
  client: PoolClient,
  work: (tx: PoolClient) => Promise<T>,
  begin = 'BEGIN',
): Promise<T> {
  await client.query(begin);
  try {
    const result = await work(client);
    await client.query('COMMIT');
    return result;
  } catch (error) {
    // A connection that cannot even roll back is broken, and the first error is the one to tell. One that gave no
    // answer would give none to this either; its end rolls back.
    if (!isBusy(error)) await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}
