/** The configuration over HTTP, for the tests of its routes: the API over a real file and real rows. */
import { expect } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { configRoutes } from '../../../control-plane/policy/settings/config-routes.ts';
import { readConfigRows } from '../../../control-plane/policy/settings/config-store.ts';
import { ConfigAnswer } from '../../../shared/api/settings-api.ts';
import { asOwner } from './as-owner.ts';
import type { TestUpstreams } from '../../../control-plane/policy/settings/silent-pools.ts';
import type { Rows, RunningApi, TestAnswer } from './running-api.ts';
import { serveSuite } from './served-suite.ts';
import type { SuiteDatabase } from './suite-database.ts';

/** Contents of the configuration file, without the lines that individual tests add. */
export const CONFIG_TEXT = `# The house of the Does.

[auth] # not in a test
enabled = false

[cache]
max_bytes = 2097152   # two megabytes
# Live at least.
min_ttl_secs = 5 # seconds

[dns]
\tquery_timeout_ms = 2500
#rebinding_protection = true

[[dns.pools]]
name = "home" # the router
servers = ["192.0.2.53"]

[blocking]
mode = 'nodata'
`;

/** API of a suite that changes the configuration. */
export class ConfigSuite {
  api!: RunningApi;
  suite!: SuiteDatabase;
  /** By default, all servers answer. */
  testUpstreams: TestUpstreams = async (servers) => new Map(servers.map((server) => [server, null]));

  readonly path = (): string => join(this.api.folder, 'weir.toml');
  readonly file = (): Promise<string> => readFile(this.path(), 'utf8');
  readonly rows = () => readConfigRows(this.suite.database);
  readonly patch = (json: unknown): Promise<TestAnswer> => this.api.send('PATCH', '/api/config', { json });
  readonly reload = (): Promise<TestAnswer> => this.api.send('POST', '/api/config/reload');
  readonly read = async (): Promise<ConfigAnswer> =>
    ConfigAnswer.parse((await this.api.send('GET', '/api/config')).body);
  readonly audit = async (): Promise<Record<string, unknown>[]> =>
    (
      await this.suite.database.query<Record<string, unknown>>(
        'SELECT actor, action, subject, revision, before, after FROM audit_log ORDER BY id',
      )
    ).rows;

  /**
   * Makes the database reject each change of the configuration at COMMIT; returns a function that removes the
   * restriction.
   */
  readonly refuseAtEnd = async (): Promise<() => Promise<unknown>> => {
    const { database } = this.suite;
    await asOwner(
      database,
      `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'refused at the end'; END $$;
      CREATE CONSTRAINT TRIGGER refuse AFTER UPDATE ON config_values
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse()`,
    );
    return () => asOwner(database, 'DROP FUNCTION refuse CASCADE');
  };

  /** Expects the file, the rows and the active values to be unchanged, and no entry in the audit log. */
  readonly expectUntouched = async (before: string): Promise<void> => {
    expect(await this.file()).toBe(before);
    expect(await this.rows()).toMatchObject({ 'cache.min_ttl_secs': 5, 'blocking.mode': 'nodata' });
    expect((await this.read()).cache).toMatchObject({ min_ttl_secs: 5, max_bytes: 2097152 });
    expect(await this.audit()).toEqual([]);
  };
}

/** Registers the hooks of a suite. */
export function configSuite(): ConfigSuite {
  const config = new ConfigSuite();
  const rows: Rows = (parts) =>
    configRoutes({ ...parts, testUpstreams: (...given) => config.testUpstreams(...given) });
  serveSuite(rows, (served) => Object.assign(config, served), { perTest: true, toml: CONFIG_TEXT });
  return config;
}
