import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { parseConfig } from '../../../config/parse-config.ts';
import type { Config } from '../../../config/schema.ts';
import { addressFromText } from '../../../shared/net/ip.ts';
import { admitsAddress, type Access } from '../../../shared/policy/access.ts';
import { TestClock } from '../../../test/support/parts/test-clock.ts';
import { ActiveAccess } from './active-access.ts';

const DAY_MS = 86_400_000;
let clock: TestClock;
let toml: string;
let connected: string[];
let addresses: string[];
let access: ActiveAccess;

beforeEach(() => {
  clock = new TestClock();
  toml = '';
  connected = ['198.51.100.1/24', '2001:db8::1/64'];
  addresses = [];
  access = new ActiveAccess({
    configuration: {
      current: config,
      sources: () => ({ 'dns.allowed_clients': toml.includes('allowed_clients') ? 'file' : 'default' }),
    },
    clients: { addressesOfMac: (mac) => (mac === '02:00:5e:10:00:01' ? addresses : []) },
    clock,
    connected: () => connected,
  });
});

function config(): Config {
  const result = parseConfig({ file: { name: 'weir.toml', text: toml }, env: {} });
  if (!result.ok) throw new Error(JSON.stringify(result.faults));
  return result.value.config;
}

const fail = (error: unknown): void => {
  throw error;
};
const NO_GRACE = { accessGraceEndMs: null };
const may = (of: Access, address: string): boolean => admitsAddress(of, addressFromText(address)!);

describe('ActiveAccess', () => {
  test('admits private and directly connected networks by default', () => {
    const now = access.current(NO_GRACE);
    expect(['10.1.2.3', '198.51.100.9', '2001:db8::9'].map((address) => may(now, address))).toEqual([
      true,
      true,
      true,
    ]);
    expect(['198.51.101.9', '2001:db8:0:1::9'].map((address) => may(now, address))).toEqual([false, false]);
  });

  test('includes the networks of this machine', () => {
    const own = new ActiveAccess({
      configuration: { current: config, sources: () => ({}) },
      clients: { addressesOfMac: () => [] },
      clock,
    });
    expect(may(own.current(NO_GRACE), '127.0.0.1')).toBe(true);
    expect(may(own.current(NO_GRACE), '203.0.113.77')).toBe(false);
  });

  test('admits all clients except blocked ones during the grace period of an upgrade', () => {
    toml = 'dns.blocked_clients = ["203.0.113.8"]';
    const rows = { accessGraceEndMs: clock.nowMs() + DAY_MS };
    expect(access.graceEndMs(rows)).toBe(rows.accessGraceEndMs);
    expect(['203.0.113.7', '203.0.113.8'].map((address) => may(access.current(rows), address))).toEqual([
      true,
      false,
    ]);
    expect(may(access.afterGrace(), '203.0.113.7')).toBe(false);
    clock.advance(DAY_MS);
    expect(access.graceEndMs(rows)).toBeNull();
    expect(may(access.current(rows), '203.0.113.7')).toBe(false);
  });

  test('limits the grace period to one day if the clock was wrong during the upgrade', () => {
    const rows = { accessGraceEndMs: Number.MAX_SAFE_INTEGER };
    expect(access.graceEndMs(rows)).toBe(clock.nowMs() + DAY_MS);
    expect(may(access.current(rows), '203.0.113.7')).toBe(true);
  });

  test('ignores a network interface with a mask of 0 bits', () => {
    connected = ['198.51.100.1/0', '2001:db8::1/0'];
    expect(may(access.current(NO_GRACE), '198.51.100.1')).toBe(false);
    expect(may(access.current(NO_GRACE), '2001:db8::1')).toBe(false);
  });

  test('gives no grace period after a user has set the allowed clients', () => {
    toml = 'dns.allowed_clients = ["192.0.2.0/24"]';
    const rows = { accessGraceEndMs: clock.nowMs() + DAY_MS };
    expect(access.graceEndMs(rows)).toBeNull();
    expect(may(access.current(rows), '203.0.113.7')).toBe(false);
  });

  test('blocks a client by MAC at each of its addresses', () => {
    toml = 'dns.blocked_clients = ["02:00:5E:10:00:01"]';
    expect(may(access.current(NO_GRACE), '192.168.1.7')).toBe(true);
    addresses = ['192.168.1.7'];
    expect(may(access.current(NO_GRACE), '192.168.1.7')).toBe(false);
  });

  test('follow() reports networks that appear and disappear, and the end of the grace period', () => {
    jest.useFakeTimers();
    try {
      const changed = jest.fn(async () => undefined);
      const rows = { accessGraceEndMs: clock.nowMs() + DAY_MS };
      const stop = access.follow(() => rows, changed, fail);
      jest.advanceTimersByTime(20_000);
      expect(changed).not.toHaveBeenCalled();
      clock.advance(DAY_MS);
      jest.advanceTimersByTime(5000);
      expect(changed).toHaveBeenCalledTimes(1);
      connected = ['192.0.2.1/24'];
      jest.advanceTimersByTime(5000);
      jest.advanceTimersByTime(5000);
      expect(changed).toHaveBeenCalledTimes(2);
      stop();
      connected = [];
      jest.advanceTimersByTime(10_000);
      expect(changed).toHaveBeenCalledTimes(2);
    } finally {
      jest.useRealTimers();
    }
  });

  test('follow() retries a failed change, and ignores an additional address in a known network', async () => {
    jest.useFakeTimers();
    try {
      const failed = jest.fn();
      const apply = jest.fn<() => Promise<void>>(() => Promise.resolve());
      apply.mockRejectedValueOnce(new Error('no thread'));
      const stop = access.follow(() => NO_GRACE, apply, failed);
      connected = [...connected, '2001:db8::77/64'].reverse();
      await jest.advanceTimersByTimeAsync(5000);
      expect(apply).not.toHaveBeenCalled();
      connected = [];
      await jest.advanceTimersByTimeAsync(5000);
      expect([apply.mock.calls.length, failed.mock.calls.length]).toEqual([1, 1]);
      await jest.advanceTimersByTimeAsync(10_000);
      expect([apply.mock.calls.length, failed.mock.calls.length]).toEqual([2, 1]);
      stop();
    } finally {
      jest.useRealTimers();
    }
  });
});
