/**
 * Finds the embedded PostgreSQL that a running Weir server has started in a data directory, for commands that run at
 * the same time.
 */
import { reasonOf } from '../../../shared/errors.ts';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseUnavailable } from './database-errors.ts';
import { DATABASE, ROLE, type PostgresAddress } from './postgres/postgres-address.ts';
import { openPostgresHome } from './postgres/postgres-home.ts';

/** Indexes of lines in PostgreSQL's `postmaster.pid`. */
const PORT_LINE = 3;
const SOCKET_LINE = 4;
const HOST_LINE = 5;
const STATUS_LINE = 7;

/**
 * Address of the running server; throws DatabaseUnavailable if it is not ready, or if this user cannot read its files.
 */
export function runningServerAddress(dataDir: string): PostgresAddress {
  const lines = readPrivate(join(openPostgresHome(dataDir).cluster, 'postmaster.pid')).split('\n');
  if (lines[STATUS_LINE]?.trim() !== 'ready')
    throw new DatabaseUnavailable('could not connect to the embedded database: it is starting');
  const socket = lines[SOCKET_LINE]!.trim();
  return {
    host: socket === '' ? lines[HOST_LINE]!.trim() : socket,
    port: Number(lines[PORT_LINE]),
    user: ROLE,
    password: readPrivate(join(dataDir, 'postgres.password')).trim(),
    database: DATABASE,
  };
}

function readPrivate(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const reason = reasonOf(error);
    throw new DatabaseUnavailable(`could not connect to the embedded database: ${reason}`);
  }
}
