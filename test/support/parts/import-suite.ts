/** Imports over real HTTP into a real PostgreSQL. Lists are replaced by a stand-in, so nothing is downloaded. */
import { afterEach, beforeEach } from '@jest/globals';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { importRoutes } from '../../../control-plane/transfer/importers/import-routes.ts';
import {
  type ImportParts,
  SettingsImport,
} from '../../../control-plane/transfer/importers/import-settings.ts';
import { ServiceCatalog } from '../../../control-plane/filtering/services/service-catalog.ts';
import type { ImportReport } from '../../../shared/api/imports-api.ts';
import { importedPolicy } from './imported-policy.ts';
import type { RunningApi } from './running-api.ts';
import { serveSuite } from './served-suite.ts';
import type { SuiteDatabase } from './suite-database.ts';

/** A question and its expected result: client, name, type, status. */
export type ExpectedStatus = readonly [client: string, name: string, qtype: number, status: string];

/** The import used by the tests of a suite. */
export interface ImportSuite {
  readonly suite: () => SuiteDatabase;
  /** Folder of the test, for the files that an import writes. */
  readonly folder: () => string;
  readonly api: () => RunningApi;
  readonly post: (
    file: Uint8Array | string,
    query?: string,
    headers?: Readonly<Record<string, string>>,
  ) => ReturnType<RunningApi['send']>;
  /** The report; throws if the status is not 200. */
  readonly imported: (file: Uint8Array | string, query?: string) => Promise<ImportReport>;
  /** The rows, each with the status that Weir returns; `texts` are the fetched lists by URL. */
  readonly answered: (
    table: readonly ExpectedStatus[],
    texts?: Readonly<Record<string, string>>,
  ) => Promise<ExpectedStatus[]>;
}

/** Options of a suite. */
export interface ImportSuiteOptions {
  readonly parts?: Partial<typeof NO_OTHERS_ASKED>;
  /** Lines of the configuration file; authentication is disabled by default. */
  readonly toml?: string;
}

/** Parts for an import without answering upstreams or logged queries. */
export const NO_OTHERS_ASKED: Pick<ImportParts, 'testUpstreams' | 'loggedQueries'> = {
  testUpstreams: (servers) => Promise.resolve(new Map(servers.map((server) => [server, 'timeout']))),
  loggedQueries: () => Promise.resolve(null),
};

/** Registers the hooks of a suite. */
export function importSuite(options: ImportSuiteOptions = {}): ImportSuite {
  let api: RunningApi;
  let suite: SuiteDatabase;
  let folder = '';
  const catalog = new ServiceCatalog('/nowhere');
  serveSuite(
    ({ policy, clients, configuration, logger }) =>
      importRoutes({
        settingsImport: new SettingsImport({
          policy,
          clients,
          configuration,
          site: () => '',
          ...NO_OTHERS_ASKED,
          ...options.parts,
          sources: { adopt: (_written, _isNew, apply) => apply() },
          catalog,
          localNames: { live: () => ({ configRecords: [] }) },
          nodeName: 'node-a',
          listDirs: () => [join(folder, 'lists')],
          dataDir: () => folder,
          logger,
        }),
      }),
    (served) => ({ api, suite } = served),
    // Each test has its own API, because an import changes the configuration.
    { perTest: true, toml: options.toml ?? '[auth]\nenabled = false\n' },
  );
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'weir-import-'));
  });
  afterEach(async () => {
    await rm(folder, { recursive: true });
  });
  const post: ImportSuite['post'] = (file, query = '', headers = {}) =>
    api.send('POST', `/api/import${query}`, {
      raw: file,
      headers: { 'content-type': 'application/octet-stream', ...headers },
    });
  const imported: ImportSuite['imported'] = async (file, query) => {
    const answer = await post(file, query);
    if (answer.status !== 200) throw new Error(`import: ${answer.status} ${answer.text}`);
    return answer.body as ImportReport;
  };
  const answered: ImportSuite['answered'] = async (table, texts = {}) => {
    const ask = await importedPolicy(suite.database, texts);
    return table.map(([client, name, qtype]) => [client, name, qtype, ask(client, name, qtype).status]);
  };
  return { suite: () => suite, folder: () => folder, api: () => api, post, imported, answered };
}

/** Items of a kind as `result: reason`, by name. */
export function itemsOf({ items }: ImportReport, kind: string): Record<string, string> {
  const found = items.filter((item) => item.kind === kind);
  return Object.fromEntries(
    found.map(({ name, result, reason }) => [name, reason === null ? result : `${result}: ${reason}`]),
  );
}
