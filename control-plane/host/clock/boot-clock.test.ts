import { expect, test } from '@jest/globals';
import { uptime } from 'node:os';
import { bootClock } from './boot-clock.ts';

test('bootMs() is the time since the machine started', () => {
  const beforeMs = uptime() * 1000;
  const readMs = bootClock.bootMs!();
  expect(readMs).toBeGreaterThanOrEqual(beforeMs - 10);
  expect(readMs).toBeLessThanOrEqual(uptime() * 1000 + 10);
});
