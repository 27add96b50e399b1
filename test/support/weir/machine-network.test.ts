/** Who may use the network of this machine at the same time, in a folder of this suite, so that others do not wait. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { rmSync } from 'node:fs';
import { makeTempDir } from '../parts/test-database.ts';
import { holdNetwork } from './machine-network.ts';

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

test('holdNetwork() lets many suites share the network, and gives it to one alone after them', async () => {
  const shares = [await holdNetwork('shared'), await holdNetwork('shared')];
  const steps: string[] = [];
  const alone = holdNetwork('alone').then((release) => {
    steps.push('alone');
    return release;
  });
  for (const release of shares) {
    steps.push('released');
    await release();
  }
  const release = await alone;
  expect(steps).toEqual(['released', 'released', 'alone']);
  const next = holdNetwork('shared');
  await release();
  await (
    await next
  )();
});
