import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { asOwner } from '../../../../test/support/parts/as-owner.ts';
import { EMPTY, layCluster, runAsOwner, withDatabase } from '../../../../test/support/parts/made-cluster.ts';
import {
  makeTempDir,
  startTestDatabase,
  type TestDatabase,
} from '../../../../test/support/parts/test-database.ts';
import { until } from '../../../../test/support/parts/until.ts';
import { codeOf } from '../../../../shared/errors.ts';
import { ensurePartitions, partitionOf } from '../../../query-log/store/partition-store.ts';
import type { Database } from '../database.ts';

const FORBIDDEN = '42501';

let own: TestDatabase;
beforeAll(async () => {
  own = await startTestDatabase();
});
afterAll(() => own.stop());

async function codeFor(sql: string): Promise<string> {
  return own.database
    .withClient((client) => client.query(sql))
    .then(
      () => 'was done',
      (error: unknown) => (error instanceof Error ? codeOf(error) : ''),
    );
}

const roleOf = async (database: Database): Promise<unknown> =>
  (await database.query<{ name: string }>('SELECT current_user AS name')).rows[0]!.name;

describe('an injected SQL statement', () => {
  test.each([
    `COPY groups TO PROGRAM 'true'`,
    `COPY groups FROM PROGRAM 'true'`,
    `COPY groups FROM '/etc/passwd'`,
    `COPY groups TO '/etc/groups'`,
    `SELECT pg_read_file('postgresql.conf')`,
    `SELECT pg_read_binary_file('postgresql.conf')`,
    `SELECT pg_ls_dir('.')`,
    `SELECT pg_stat_file('postgresql.conf')`,
    `SELECT lo_import('/etc/passwd')`,
    `SELECT lo_export(lo_creat(-1), '/etc/large-object')`,
    `LOAD '/usr/lib/any.so'`,
  ])('cannot access programs and files: %s', async (sql) => {
    expect(await codeFor(sql)).toBe(FORBIDDEN);
  });

  test.each([
    'SET ROLE weir',
    'SET SESSION AUTHORIZATION weir',
    'ALTER ROLE weir_app SUPERUSER',
    'ALTER ROLE weir_app CREATEROLE',
    `ALTER ROLE weir PASSWORD 'another'`,
    'ALTER ROLE weir SET search_path = pg_temp',
    'CREATE ROLE another SUPERUSER',
    'GRANT weir TO weir_app',
    'GRANT pg_execute_server_program TO weir_app',
    'SELECT rolpassword FROM pg_authid',
    'SELECT passwd FROM pg_shadow',
    'UPDATE pg_proc SET prosecdef = true',
    `SET session_replication_role = 'replica'`,
    `SET session_preload_libraries = 'any'`,
    `ALTER SYSTEM SET archive_command = 'true'`,
    `ALTER DATABASE postgres SET search_path = pg_temp`,
    'SELECT pg_reload_conf()',
    'SELECT pg_hba_file_rules()',
    'SELECT pg_switch_wal()',
    'CREATE DATABASE another',
  ])('cannot change its role or settings of the server: %s', async (sql) => {
    expect(await codeFor(sql)).toBe(FORBIDDEN);
  });

  test.each([
    'CREATE TABLE another (n integer)',
    'CREATE TEMPORARY TABLE groups (n integer)',
    'SELECT 1 AS n INTO another',
    'CREATE VIEW another AS SELECT 1',
    'CREATE SEQUENCE another',
    'CREATE SCHEMA weir_app',
    'CREATE EXTENSION plperl',
    'CREATE EXTENSION hstore',
    `CREATE FUNCTION now() RETURNS timestamptz LANGUAGE sql AS 'SELECT NULL'`,
    `CREATE FUNCTION pg_temp.now() RETURNS timestamptz LANGUAGE sql SECURITY DEFINER AS 'SELECT NULL'`,
    `SET search_path = pg_temp, public; CREATE FUNCTION count() RETURNS bigint LANGUAGE sql AS 'SELECT 1'`,
    `SET search_path = pg_catalog; CREATE FUNCTION count() RETURNS bigint LANGUAGE sql AS 'SELECT 1'`,
    'CREATE OPERATOR = (FUNCTION = int4eq, LEFTARG = int4, RIGHTARG = int4)',
    'CREATE TRIGGER another AFTER INSERT ON groups EXECUTE FUNCTION note_table_version()',
    'CREATE RULE another AS ON INSERT TO groups DO INSTEAD NOTHING',
    'CREATE EVENT TRIGGER another ON ddl_command_end EXECUTE FUNCTION note_table_version()',
    'CREATE INDEX ON groups (name)',
    'ALTER TABLE groups OWNER TO weir_app',
    'ALTER TABLE groups DISABLE TRIGGER ALL',
    'ALTER FUNCTION note_table_version() SECURITY DEFINER',
    'CREATE OR REPLACE FUNCTION note_table_version() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN END $$',
    'TRUNCATE audit_log',
    'DROP TABLE audit_log',
    `INSERT INTO schema_migrations (name, run_on) VALUES ('0001_schema', now())`,
    'DELETE FROM schema_migrations',
  ])('cannot create, change or delete a table, function or schema: %s', async (sql) => {
    const made = own.database.transaction((tx) => tx.query(sql));
    await expect(made).rejects.toMatchObject({ code: FORBIDDEN });
  });

  test('cannot use a function with the rights of the owner, or see the statements of the owner', async () => {
    const { rows } = await own.database.query(
      `SELECT oid::regprocedure FROM pg_proc WHERE prosecdef AND has_function_privilege(oid, 'EXECUTE')`,
    );
    expect(rows).toEqual([]);
    await own.database.transactionAsOwner(async (tx) => {
      const { rows: pids } = await tx.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
      const { pid } = pids[0]!;
      const seen = await own.database.query('SELECT query FROM pg_stat_activity WHERE pid = $1', [pid]);
      expect(seen.rows).toEqual([{ query: '<insufficient privilege>' }]);
      expect(await codeFor(`SELECT pg_terminate_backend(${pid})`)).toBe(FORBIDDEN);
    });
  });
});

describe('prepareQueryRole()', () => {
  test('grants access to the rows of all tables, including new days and new tables, and nothing else', async () => {
    await ensurePartitions(own.database, [20_000]);
    await asOwner(
      own.database,
      'CREATE TABLE of_a_later_migration (id integer GENERATED ALWAYS AS IDENTITY)',
    );
    const { rows } = await own.database.query<{ rights: string; tables: string[] }>(
      `SELECT concat_ws(' ', VARIADIC ARRAY(SELECT privilege FROM unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE',
         'TRUNCATE', 'REFERENCES', 'TRIGGER']) AS privilege WHERE has_table_privilege(oid, privilege))) AS rights,
         array_agg(relname::text) AS tables
       FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') GROUP BY rights ORDER BY rights`,
    );
    expect(rows).toEqual([
      { rights: '', tables: ['schema_migrations'] },
      {
        rights: 'SELECT INSERT UPDATE DELETE',
        tables: expect.arrayContaining(['groups', partitionOf(20_000)]),
      },
    ]);
    await own.database.query('INSERT INTO of_a_later_migration DEFAULT VALUES');
  });

  test('creates the role and grants its rights again after it was removed', async () => {
    const stop = own.database.watch({
      channel: 'none',
      expression: 'SELECT count(*) FROM groups',
      take: () => undefined,
    });
    await own.database.query('SELECT 1');
    await asOwner(own.database, 'DROP OWNED BY weir_app; DROP ROLE weir_app');
    await until('the role to be there again', () =>
      own.database.query('SELECT FROM groups').catch(() => null),
    );
    expect(await roleOf(own.database)).toBe('weir_app');
    stop();
  });

  test('revokes extra privileges of the role, and reverts settings that the role changed on itself', async () => {
    const dataDir = join(makeTempDir(), 'data');
    try {
      await layCluster(dataDir);
      await withDatabase(dataDir, '', async (database) => {
        await database.query(`ALTER ROLE weir_app PASSWORD 'another'`);
        await database.query(`ALTER ROLE weir_app SET statement_timeout = 1`);
        await runAsOwner(dataDir, [
          'ALTER ROLE weir_app SUPERUSER CREATEDB NOLOGIN',
          `ALTER ROLE weir_app IN DATABASE postgres SET search_path = none`,
          'GRANT CREATE ON SCHEMA public TO PUBLIC',
          'GRANT TEMPORARY ON DATABASE postgres TO weir_app',
          'GRANT ALL ON schema_migrations TO weir_app',
        ]);
      });
      await withDatabase(dataDir, '', async (database) => {
        expect(database.status()).not.toHaveProperty('excess');
        const { rows } = await database.query(
          `SELECT rolsuper, rolcreatedb, has_schema_privilege('public', 'CREATE') AS schema,
             has_database_privilege('postgres', 'TEMPORARY') AS temporary,
             has_table_privilege('schema_migrations', 'SELECT') AS migrations, current_setting('statement_timeout') AS timeout
           FROM pg_roles WHERE rolname = current_user`,
        );
        expect(rows).toEqual([
          {
            ...{ rolsuper: false, rolcreatedb: false, schema: false },
            temporary: false,
            migrations: false,
            timeout: '0',
          },
        ]);
      });
    } finally {
      rmSync(join(dataDir, '..'), { recursive: true });
    }
  });

  test('works after the password file of the owner was lost and replaced', async () => {
    const dataDir = join(makeTempDir(), 'data');
    try {
      await layCluster(dataDir, EMPTY);
      rmSync(join(dataDir, 'postgres.password'));
      await withDatabase(dataDir, '', async (database) => expect(await roleOf(database)).toBe('weir_app'));
    } finally {
      rmSync(join(dataDir, '..'), { recursive: true });
    }
  });
});
