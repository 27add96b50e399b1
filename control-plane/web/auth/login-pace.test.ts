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

test('LoginPace ranks addresses with failures last, and addresses with a former success first', () => {
  failFrom(1);
  failFrom(1);
  pace.noteSuccess('198.51.100.1');
  pace.noteFailure('admin', '198.51.100.1');
  const ranks = ['198.51.100.1', '203.0.113.1', '192.0.2.0'].map((address) => pace.rankOf(address));
  expect(ranks).toEqual([PROVEN, 0, 2]);
  clock.advance(WINDOW_MS + 1);
  expect(['198.51.100.1', '192.0.2.0'].map((address) => pace.rankOf(address))).toEqual([PROVEN, 0]);
});

test('LoginPace delays logins to an account under attack, least for an address without failures', () => {
  failFrom(20);
  expect(pace.delayMs('admin', '192.0.2.0')).toBe(0);
  failFrom(10);
  expect(pace.delayMs('admin', '192.0.2.0')).toBe(200);
  failFrom(200);
  expect(pace.delayMs('admin', '192.0.2.0')).toBe(800);
  expect(pace.delayMs('admin', '203.0.113.1')).toBe(200);
  expect(pace.delayMs('vera', '192.0.2.0')).toBe(0);
  pace.noteSuccess('203.0.113.1');
  expect(pace.delayMs('admin', '203.0.113.1')).toBe(0);
  clock.advance(WINDOW_MS + 1);
  expect(pace.delayMs('admin', '192.0.2.0')).toBe(0);
});

test.each([
  ['IPv6', (n: number) => `2001:db8:1:${n.toString(16)}::/64`, '2001:db8:2:1::/64'],
  ['IPv4', (n: number) => `198.51.100.${n}`, '203.0.113.1'],
])(
  'LoginPace ranks new addresses of an attacking %s network after other networks, but before addresses that failed',
  (_, nth, other) => {
    for (let n = 0; n < 80; n++) pace.noteFailure('admin', nth(n));
    expect(pace.rankOf(other)).toBe(0);
    expect(pace.rankOf(nth(99))).toBeGreaterThan(0);
    expect(pace.rankOf(nth(99))).toBeLessThan(pace.rankOf(nth(1)));
    expect(['admin', 'vera'].map((name) => pace.delayMs(name, nth(99)))).toEqual([400, 0]);
    expect(pace.delayMs('admin', other)).toBe(200);
    pace.noteSuccess(nth(99));
    expect([pace.rankOf(nth(99)), pace.delayMs('admin', nth(99))]).toEqual([PROVEN, 0]);
  },
);

test('LoginPace ranks new addresses of a network after other networks while many logins from the network wait', () => {
  const ends = Array.from({ length: 20 }, (_, n) => pace.begin(`2001:db8:1:${n}::/64`));
  const ranks = () => ['2001:db8:1:99::/64', '2001:db8:2:1::/64'].map((address) => pace.rankOf(address));
  expect(ranks()).toEqual([20 / 1001, 0]);
  for (const end of ends) end();
  expect(ranks()).toEqual([0, 0]);
});

test('LoginPace keeps a limited number of addresses', () => {
  failFrom(1);
  for (let n = 0; n < 5000; n++) pace.noteFailure('admin', `2001:db8:${n.toString(16)}::`);
  expect(pace.rankOf('192.0.2.0')).toBe(0);
});

test('LoginPace delays logins for a second if a lockout rejected account and address in the last 5 s', () => {
  pace.noteLocked('admin', '192.0.2.1');
  clock.advance(5000);
  expect(pace.lockedDelayMs('admin', '192.0.2.1')).toBe(1000);
  expect(pace.lockedDelayMs('vera', '192.0.2.1')).toBe(0);
  expect(pace.lockedDelayMs('admin', '192.0.2.2')).toBe(0);
  clock.advance(1);
  expect(pace.lockedDelayMs('admin', '192.0.2.1')).toBe(0);
});
