import { expect, test } from '@jest/globals';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { holdNetwork, useOwnLock } from '../weir/machine-network.ts';
import { DashboardFixture } from './dashboard-fixture.ts';

const { children } = createRequire(import.meta.url)(
  join(import.meta.dirname, '../../../.config/leftovers.cjs'),
) as { children: () => string[] };

// This lock is used only by this suite, so no other suite waits for it.
useOwnLock();

test('DashboardFixture.open() leaves no process and no lock if Weir does not start', async () => {
  const before = new Set(children());
  await expect(DashboardFixture.open({ toml: 'not a table', database: 'none' })).rejects.toThrow(
    'the process ended',
  );
  expect(children().filter((pid) => !before.has(pid))).toEqual([]);
  const release = await holdNetwork('alone');
  await release();
});
