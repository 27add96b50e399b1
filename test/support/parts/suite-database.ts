/** A real embedded database for a suite of the API, emptied between its tests. */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lockDataDir } from '../../../control-plane/storage/db/data-dir-lock.ts';
import { startDatabase } from '../../../control-plane/storage/db/database.ts';
import type { Database } from '../../../control-plane/storage/db/database.ts';
import { asOwner } from './as-owner.ts';
import { layCluster } from './made-cluster.ts';
import { MemoryLogger } from './memory-logger.ts';

/** A database of one suite, in a folder that is deleted together with the database. */
export interface SuiteDatabase {
  readonly database: Database;
  /** Empties the tables that the API fills, as if Weir had just been installed. */
  reset(): Promise<void>;
  close(): Promise<void>;
}

/** Tables that the API fills, except sources and groups. */
const FILLED = [
  'sessions, api_tokens, admin_credential, login_failures, second_factors, provided_users',
  'managed_domains, regex_filters, blocked_services, custom_services, revisions, forward_zones, config_values',
  'safe_search_configs, local_records, schedule_profiles, schedule_slots, group_schedules, blocking_switch, grants',
  'unblock_requests',
  'audit_log, clients, client_subnets, query_blocks, query_runs, query_counts, query_names',
];
/**
 * Empties only tables that have rows, because most tables are empty after most tests, and emptying takes longer than a
 * check.
 */
const EMPTY_ALL = `DO $$
DECLARE
  name text;
  is_filled boolean;
  filled text;
BEGIN
  FOREACH name IN ARRAY string_to_array('${FILLED.join(', ')}', ', ') LOOP
    EXECUTE format('SELECT EXISTS (SELECT FROM %I)', name) INTO is_filled;
    IF is_filled THEN filled := concat_ws(', ', filled, name); END IF;
  END LOOP;
  IF filled IS NOT NULL THEN EXECUTE 'TRUNCATE ' || filled || ' CASCADE'; END IF;
  DELETE FROM list_sources;
  DELETE FROM groups WHERE id <> 1;
  DELETE FROM users WHERE id <> 1;
  DELETE FROM meta WHERE key = 'config_seeded';
END $$`;

/** Starts an embedded server with all migrations applied. */
export async function openSuiteDatabase(): Promise<SuiteDatabase> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-api-'));
  await chmod(folder, 0o755); // Under root, the server runs as another user, who must be able to enter it.
  await layCluster(folder);
  const lock = lockDataDir(folder);
  const database = startDatabase({ urls: '', lock, logger: new MemoryLogger() });
  await database.whenUp();
  return {
    database,
    reset: async () => {
      await asOwner(database, EMPTY_ALL);
    },
    close: async () => {
      await database.close();
      lock.release();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
