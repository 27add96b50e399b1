/** A node whose finished days of the query log cannot be written as files. */
import { describe, expect, test } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Health } from '../../../shared/api/system-api.ts';
import { until } from '../../support/parts/until.ts';
import { makeTempDir, prepareDataDir } from '../../support/weir/data-dir.ts';
import { Weir } from '../../support/weir/weir-process.ts';

const LOOK_MS = 100;

describe('weir', () => {
  test('weir says in its health and metrics why finished days are not exported', async () => {
    const room = makeTempDir();
    await prepareDataDir(room.dataDir);
    const file = join(room.path, 'no-folder');
    writeFileSync(file, '');
    const toml = `[database]\nexport_dir = ${JSON.stringify(join(file, 'days'))}\n`;
    const weir = await Weir.start({ room, toml, database: 'later' });
    await weir.untilOutput(/database is up/);
    const api = await weir.api();
    const database = async (): Promise<Health['checks']['database']> =>
      (await api.call<Health>('GET', '/health')).body.checks.database;
    await until(async () => /not exported/.test((await database()).detail ?? ''), LOOK_MS);
    expect(await database()).toEqual({
      status: 'degraded',
      detail: expect.stringMatching(/^finished days of the query log are not exported: ENOTDIR/),
    });
    expect((await api.metrics()).sum('weir_query_log_export_failures_total')).toBe(1);
    await weir.stop();
    room.remove();
  });
});
