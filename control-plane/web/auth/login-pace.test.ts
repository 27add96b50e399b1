import { beforeEach, expect, test } from '@jest/globals';
import { TestClock } from '../../../test/support/parts/test-clock.ts';
import { LoginPace, PROVEN } from './login-pace.ts';

const WINDOW_MS = 900_000;
let clock: TestClock;
let pace: LoginPace;
beforeEach(() => {
  clock = new TestClock();
  pace = new LoginPace(clock, () => WINDOW_MS);
});

function failFrom(addresses: number, username = 'admin'): void {
  for (let n = 0; n < addresses; n++) pace.noteFailure(username, `192.0.2.${n}`);
}

test('puts addresses with failures behind others, and proven ones in front, for good', () => {
  failFrom(1);
  failFrom(1);
  pace.noteSuccess('198.51.100.1');
  pace.noteFailure('admin', '198.51.100.1');
  const ranks = ['198.51.100.1', '203.0.113.1', '192.0.2.0'].map((address) => pace.rankOf(address));
  expect(ranks).toEqual([PROVEN, 0, 2]);
  clock.advance(WINDOW_MS + 1);
  expect(['198.51.100.1', '192.0.2.0'].map((address) => pace.rankOf(address))).toEqual([PROVEN, 0]);
});

test('slows down an account that many addresses guess at, least for an address without failures', () => {
  failFrom(20);
  expect(pace.delayMs('admin', '192.0.2.0')).toBe(0);
  failFrom(10);
  expect(pace.delayMs('admin', '192.0.2.0')).toBe(200);
  failFrom(200);
  expect(pace.delayMs('admin', '192.0.2.0')).toBe(800);
  expect(pace.delayMs('admin', '203.0.113.1')).toBe(400);
  expect(pace.delayMs('vera', '192.0.2.0')).toBe(0);
  pace.noteSuccess('203.0.113.1');
  expect(pace.delayMs('admin', '203.0.113.1')).toBe(0);
  clock.advance(WINDOW_MS + 1);
  expect(pace.delayMs('admin', '192.0.2.0')).toBe(0);
});

test('keeps a bounded number of addresses', () => {
  failFrom(1);
  for (let n = 0; n < 5000; n++) pace.noteFailure('admin', `2001:db8:${n.toString(16)}::`);
  expect(pace.rankOf('192.0.2.0')).toBe(0);
});
