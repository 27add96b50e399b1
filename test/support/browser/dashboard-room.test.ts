import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { makeTempDir } from '../parts/test-database.ts';
import { holdNetwork } from '../weir/machine-network.ts';
import { DashboardRoom } from './dashboard-room.ts';

const { children } = createRequire(import.meta.url)(
  join(import.meta.dirname, '../../../.config/leftovers.cjs'),
) as { children: () => string[] };

// A lock of this suite alone: it is also taken alone, for which no other suite need wait.
const run = process.env['WEIR_TEST_RUN'];
const folder = makeTempDir();
beforeAll(() => {
  process.env['WEIR_TEST_RUN'] = folder;
});
afterAll(() => {
  if (run === undefined) delete process.env['WEIR_TEST_RUN'];
  else process.env['WEIR_TEST_RUN'] = run;
  rmSync(folder, { recursive: true });
});

test('DashboardRoom.open() leaves no process and no lock when Weir does not start', async () => {
  const before = new Set(children());
  await expect(DashboardRoom.open({ toml: 'not a table', database: 'none' })).rejects.toThrow(
    'the process ended',
  );
  expect(children().filter((pid) => !before.has(pid))).toEqual([]);
  const release = await holdNetwork('alone');
  await release();
});
