/** A connection that is opened to see whether it can be. */
import pg, { type ClientConfig } from 'pg';
import { reasonOf } from '../../shared/thrown.ts';
import { DatabaseUnavailable } from './database-errors.ts';

/** @throws {DatabaseUnavailable} if the role that queries run as cannot connect */
export async function logIn(config: ClientConfig): Promise<void> {
  let client: pg.Client | undefined;
  try {
    client = new pg.Client(config); // Reads the files of certificates.
    client.on('error', () => undefined); // Its loss fails the connecting.
    await client.connect();
  } catch (error) {
    throw new DatabaseUnavailable(`connect with the role of database.url: ${reasonOf(error)}`, {
      cause: error,
    });
  } finally {
    await client?.end().catch(() => undefined); // Its purpose is done or has failed already.
  }
}
