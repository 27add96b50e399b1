/**
 * Tests of sharing this machine's network between suites. They use a separate lock, so that other suites do not wait.
 */
import { expect, test } from '@jest/globals';
import { holdNetwork, useOwnLock } from './machine-network.ts';

useOwnLock();

test('holdNetwork() lets many suites share the network, or gives one suite exclusive use', async () => {
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
