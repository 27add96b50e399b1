/**
 * Serves routes to the tests of one file: opens a database and an API that uses the database, and closes both at the
 * end.
 */
import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals';
import { type ApiOptions, type Rows, RunningApi } from './running-api.ts';
import { openSuiteDatabase, type SuiteDatabase } from './suite-database.ts';

export interface ServedSuite {
  readonly suite: SuiteDatabase;
  readonly api: RunningApi;
}

/** Options of a suite. */
export interface ServeOptions extends ApiOptions {
  /** Whether each test gets a separate API; by default, all tests share one. */
  readonly perTest?: boolean;
}

/**
 * Registers the hooks of a suite. Before each test, the database is reset to the state after an installation. `take`
 * receives the suite and its API at the start and after each restart. The returned function restarts the API with other
 * options.
 */
export function serveSuite(
  rows: Rows,
  take: (served: ServedSuite) => void,
  options: ServeOptions = {},
): (options: ApiOptions) => Promise<void> {
  const { perTest = false, ...startOptions } = options;
  let suite: SuiteDatabase;
  let api: RunningApi;
  const start = async (apiOptions: ApiOptions): Promise<void> => {
    api = await RunningApi.start(suite.database, rows, apiOptions);
    take({ suite, api });
  };
  beforeAll(async () => {
    suite = await openSuiteDatabase();
    if (!perTest) await start(startOptions);
  });
  beforeEach(async () => {
    await suite.reset();
    if (perTest) await start(startOptions);
  });
  afterEach(async () => {
    if (perTest) await api.close();
  });
  afterAll(async () => {
    if (!perTest) await api.close();
    await suite.close();
  });
  return async (apiOptions) => {
    await api.close();
    await start(apiOptions);
  };
}
