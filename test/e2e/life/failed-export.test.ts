/** A node whose finished days of the query log cannot be written as files. */
import { describe, expect, test } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Health } from '../../../shared/api/system-api.ts';
import { until } from '../../support/parts/until.ts';
import { makeTempDir, prepareDataDir } from '../../support/weir/data-dir.ts';
import { Weir } from '../../support/weir/weir-process.ts';

const POLL_MS = 100;

type DatabaseCheck = Health['checks']['database'];

describe('the daily export of the query log', () => {
  test('is reported in health and metrics, with the reason, if finished days are not exported', async () => {
    const tempDir = makeTempDir();
    await prepareDataDir(tempDir.dataDir);
    const file = join(tempDir.path, 'no-folder');
    writeFileSync(file, '');
    const toml = `[database]\nexport_dir = ${JSON.stringify(join(file, 'days'))}\n`;
    const weir = await Weir.start({ tempDir, toml, database: 'later' });
    await weir.untilOutput(/database is up/);
    const api = await weir.api();
    const database = async (): Promise<DatabaseCheck> =>
      (await api.call<Health>('GET', '/health')).body.checks.database;
    const isReported = ({ detail }: DatabaseCheck): boolean => /could not export/.test(detail ?? '');
    const check = await until('the failure in the health', database, isReported, { pauseMs: POLL_MS });
    expect(check).toEqual({
      status: 'degraded',
      detail: expect.stringMatching(/^could not export finished days of the query log: ENOTDIR/),
    });
    expect((await api.metrics()).sum('weir_query_log_export_failures_total')).toBe(1);
    await weir.stop();
    tempDir.remove();
  });
});
