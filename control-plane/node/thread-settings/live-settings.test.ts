import { describe, expect, test } from '@jest/globals';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { testConfig } from '../../../test/support/parts/test-config.ts';
import type { WorkerSettings } from '../../../shared/threads/messages.ts';
import { LiveSettings } from './live-settings.ts';
import { PoolNumbers } from './pool-numbers.ts';
import { workerSettings } from './worker-settings.ts';

const HOOKS = { udpBackend: 'auto', faultInjection: false } as const;
const POOLS = 'dns.pools = [{ name = "other", servers = ["192.0.2.9"] }]';

/** Creates live settings of a node; the test controls its threads and its cache. */
function open() {
  const delivered: WorkerSettings[] = [];
  const obeys = { behind: 0, emptied: 0, cacheFails: false, filesAreGone: false };
  const logger = new MemoryLogger();
  const first = testConfig();
  const live = new LiveSettings(first, workerSettings(first, 53, HOOKS), {
    settingsOf: async (config) => {
      if (obeys.filesAreGone) throw new Error('no such file');
      return workerSettings(config, 53, HOOKS);
    },
    deliver: async (settings) => {
      delivered.push(settings);
      return obeys.behind;
    },
    delivered: () => undefined,
    emptyCache: async () => {
      if (obeys.cacheFails) throw new Error('busy');
      obeys.emptied++;
    },
    logger,
  });
  return { live, delivered, obeys, logger, first };
}

describe('LiveSettings use()', () => {
  test('sends changed settings to the threads, and sends nothing if they already use them', async () => {
    const { live, delivered, first } = open();
    await live.use(first);
    await live.use(testConfig('database.query_log_days = 3'));
    expect(delivered).toEqual([]);
    await live.use(testConfig('dns.query_timeout_ms = 500'));
    expect(delivered.map(({ queryTimeoutMs }) => queryTimeoutMs)).toEqual([500]);
  });

  test('empties the cache only if it may contain answers that the new settings would change', async () => {
    const { live, obeys } = open();
    await live.use(testConfig('cache.min_ttl_secs = 9'));
    expect(obeys.emptied).toBe(0);
    await live.use(testConfig(POOLS));
    await live.use(testConfig(`${POOLS}\ndns.dnssec_enabled = true`));
    await live.use(testConfig(`${POOLS}\ndns.dnssec_enabled = true\ncache.enabled = false`));
    expect(obeys.emptied).toBe(3);
    await live.use(testConfig(`${POOLS}\ndns.dnssec_enabled = true`));
    expect(obeys.emptied).toBe(3);
  });

  test('retries if the cache cannot be emptied, and reports no settings of the cached answers until then', async () => {
    const { live, obeys } = open();
    const other = testConfig(POOLS);
    obeys.cacheFails = true;
    await expect(live.use(other)).rejects.toThrow('busy');
    expect(live.ofCache()).toBeNull();
    obeys.cacheFails = false;
    await live.use(other);
    expect(live.ofCache()).toMatchObject({ pools: [{ name: 'other' }] });
  });

  test('sends the settings again while threads are behind', async () => {
    const { live, delivered, obeys } = open();
    obeys.behind = 1;
    const other = testConfig(POOLS);
    await live.use(other);
    expect(live.threadsBehind()).toBe(1);
    obeys.behind = 0;
    await live.use(other);
    expect([delivered.length, live.threadsBehind()]).toEqual([2, 0]);
  });

  test('keeps the previous settings if the new ones name a file that does not exist, and logs that', async () => {
    const { live, delivered, obeys, logger } = open();
    obeys.filesAreGone = true;
    const other = testConfig(POOLS);
    await live.use(other);
    expect(delivered).toEqual([]);
    expect(logger.text()).toContain('the previous ones stay active {"reason":"no such file"}');
    obeys.filesAreGone = false;
    await live.use(other);
    expect(delivered).toHaveLength(1);
  });
});

describe('PoolNumbers', () => {
  test('number the servers in order, and keep the number of a server that is removed and added again', () => {
    const numbers = new PoolNumbers();
    const poolsOf = (...servers: string[]) =>
      workerSettings(
        testConfig(`dns.pools = [{ name = "a", servers = ${JSON.stringify(servers)} }]`),
        53,
        HOOKS,
      ).pools;
    const given = (...servers: string[]) =>
      numbers.number(poolsOf(...servers)).flatMap((pool) => pool.servers.map(({ number }) => number));
    expect(given('192.0.2.1', '192.0.2.2')).toEqual([0, 1]);
    expect(given('192.0.2.3', '192.0.2.2')).toEqual([2, 1]);
    expect(given('192.0.2.1')).toEqual([0]);
    expect([0, 1, 2, 3].map((number) => numbers.addressOf(number))).toEqual([
      ...['192.0.2.1', '192.0.2.2', '192.0.2.3'],
      undefined,
    ]);
  });
});
