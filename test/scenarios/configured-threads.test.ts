/** Keys of the configuration, from the text of the file to the part of a DNS thread that uses them. */
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { workerSettings } from '../../control-plane/node/thread-settings/worker-settings.ts';
import { RateLimiter } from '../../dns-worker/policy/rate-limiter.ts';
import { Query } from '../../dns-worker/query/query.ts';
import { Resolver } from '../../dns-worker/resolve/resolver.ts';
import { useSettings } from '../../dns-worker/threads/open-pipeline.ts';
import { createRateBuckets } from '../../shared/memory/rate-buckets.ts';
import { addressFromText } from '../../shared/net/ip.ts';
import { Protocol } from '../../shared/query-log.ts';
import type { UpstreamReport, WorkerSettings } from '../../shared/threads/messages.ts';
import { a } from '../support/dns/built-messages.ts';
import { Forwarding } from '../support/parts/forwarding.ts';
import { MemoryLogger } from '../support/parts/memory-logger.ts';
import { slotQuery } from '../support/parts/slot-query.ts';
import { TestClock } from '../support/parts/test-clock.ts';
import { testConfig } from '../support/parts/test-config.ts';

const NAME = 'www.example.org';
const HOOKS = { udpBackend: 'auto', faultInjection: false } as const;
const settingsOf = (toml: string): WorkerSettings => workerSettings(testConfig(toml), 5353, HOOKS);

afterEach(() => {
  jest.useRealTimers();
});

/** The state of an upstream without a listener, after a minute with these health checks. */
async function reportAfterMinute(toml: string): Promise<UpstreamReport> {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance', 'Date'] });
  const pools =
    'dns.pools = [{ name = "gone", servers = ["127.0.0.1:9"] }]\ndns.health_check.timeout_ms = 50';
  const resolver = new Resolver(settingsOf(`${pools}\n${toml}`), new TestClock(), new MemoryLogger());
  jest.advanceTimersByTime(60_000);
  const [report] = resolver.report();
  await resolver.close();
  return report!;
}

describe('dns.health_check.enabled', () => {
  test('set to false stops the probes of upstreams', async () => {
    const toml = 'dns.health_check.enabled = false';
    expect(await reportAfterMinute(toml)).toMatchObject({ status: 'Unknown', consecutiveFailures: 0 });
  });
});

describe('dns.health_check.interval_secs', () => {
  test('sets the time between two probes, plus or minus a fifth', async () => {
    const { consecutiveFailures } = await reportAfterMinute('dns.health_check.interval_secs = 2');
    expect(consecutiveFailures).toBeGreaterThanOrEqual(24);
    expect(consecutiveFailures).toBeLessThanOrEqual(37);
  });
});

describe('dns.rate_limit.ipv6_prefix_len', () => {
  test('sets the size of the IPv6 networks that share a token bucket', () => {
    const toml =
      'dns.rate_limit = { enabled = true, queries_per_second = 1, burst_size = 1, ipv6_prefix_len = 56 }';
    const limiter = new RateLimiter(createRateBuckets(true, 7), settingsOf(toml).rateLimit);
    const query = new Query();
    query.protocol = Protocol.udp;
    query.arrivedMonotonicMs = 1000;
    const isAdmitted = (client: string): boolean => {
      query.clientBytes = addressFromText(client)!;
      return limiter.admitsQuestion(query);
    };
    // The first two addresses are in one /48; the third is in the /56 of the second.
    expect(['2001:db8:1:100::1', '2001:db8:1:200::1', '2001:db8:1:2ff::2'].map(isAdmitted)).toEqual([
      true,
      true,
      false,
    ]);
  });
});

describe('cache.serve_stale_secs', () => {
  test('limits for how long a stale answer is served', () => {
    using forwarding = new Forwarding(settingsOf('cache.serve_stale_secs = 100').cache);
    forwarding.ask(NAME);
    forwarding.answer({ answers: [a(NAME, '192.0.2.1', 20)] });
    const statuses = [20 + 90, 20].map((secs) => {
      forwarding.clock.advance(secs * 1000);
      forwarding.ask(NAME);
      forwarding.settle({ kind: 'failed', reason: 'timeout', rcode: 2, upstream: 0 });
      return forwarding.lastLogged?.status;
    });
    expect(statuses).toEqual(['STALE', 'TIMEOUT']);
  });
});

describe('cache.optimistic_refresh', () => {
  /** For each of two queries shortly before an answer expires, whether the query refreshes the answer. */
  function refreshes(toml: string): boolean[] {
    using forwarding = new Forwarding();
    const given = { version: 1, settings: settingsOf(toml), rateBuckets: createRateBuckets(false, 0) };
    useSettings(forwarding.pipeline, given, new Int32Array(16));
    forwarding.ask(NAME);
    forwarding.answer({ answers: [a(NAME, '192.0.2.1', 300)] });
    forwarding.clock.advance(280_000);
    const nowSecs = Math.floor(forwarding.clock.monotonicMs() / 1000);
    return [1, 2].map(() => {
      const query = slotQuery(forwarding.pipeline.snapshot, NAME);
      forwarding.cache.answer(query, 0, nowSecs, false);
      return query.wantsRefresh;
    });
  }

  test('enables the refresh of frequently queried names before their answers expire', () => {
    expect(refreshes('cache.optimistic_refresh = true')).toEqual([false, true]);
    expect(refreshes('cache.optimistic_refresh = false')).toEqual([false, false]);
  });
});
