/**
 * The limits for clients compared with exact models, by random sequences with a test clock: questions and NXDOMAIN
 * answers of client networks, stream connections, TLS handshakes, with several workers that share memory.
 * WEIR_TEST_SEQUENCES is the number of sequences of each kind (default 1,000).
 */
import { describe, test } from '@jest/globals';
import { RateLimiter } from '../../dns-worker/policy/rate-limiter.ts';
import { Query } from '../../dns-worker/query/query.ts';
import { ConnectionLimit } from '../../dns-worker/streams/connection-limit.ts';
import {
  HandshakeLimit,
  MAX_HANDSHAKES_PER_SECOND,
  MAX_PER_NETWORK,
} from '../../dns-worker/streams/handshake-limit.ts';
import {
  connectionBlocks,
  countConnections,
  createConnectionTable,
  releaseConnections,
} from '../../shared/memory/connection-table.ts';
import { createRateBuckets } from '../../shared/memory/rate-buckets.ts';
import { addressFromText } from '../../shared/net/ip.ts';
import { Protocol, PROTOCOL_NAMES } from '../../shared/query-log.ts';
import fc from '../support/parts/fast-check.ts';
import { rateLimitOf } from '../support/parts/test-rate-limit.ts';

const SEQUENCES = { numRuns: Number(process.env['WEIR_TEST_SEQUENCES'] ?? 1000) };
const WORKERS = 3;
const worker = fc.nat(WORKERS - 1);

/** Addresses, and the /24 or /48 network to which each belongs; the last address is never limited. */
const CLIENTS = [
  ['192.0.2.1', 'a'],
  ['192.0.2.200', 'a'],
  ['192.0.3.1', 'b'],
  ['2001:db8:1:1::1', 'c'],
  ['2001:db8:1:2::1', 'c'],
  ['2001:db9:1::1', 'd'],
  ['198.51.100.7', null],
] as const;
const ADDRESSES = CLIENTS.map(([text]) => addressFromText(text)!);
/** Intervals of whole milliseconds, so that no sum is rounded. */
const RATES = [1, 2, 4, 5, 10, 20, 50, 100, 200, 500, 1000];

/** A simple comparison, because `expect` would take most of the run time. */
function agree(actual: unknown, expected: unknown): void {
  if (actual !== expected)
    throw new Error(`the result is ${String(actual)}, the model has ${String(expected)}`);
}

/** A bucket of tokens. Its level is in milliseconds of the refill interval; 99 % of a token counts as a whole token. */
class Bucket {
  private levelMs: number;
  private atMs: number;
  private readonly fullMs: number;
  private readonly intervalMs: number;

  constructor(perSecond: number, burst: number, nowMs: number) {
    this.intervalMs = 1000 / perSecond;
    this.fullMs = burst * this.intervalMs;
    this.levelMs = this.fullMs;
    this.atMs = nowMs;
  }

  take(nowMs: number): boolean {
    this.levelMs = Math.min(this.fullMs, this.levelMs + nowMs - this.atMs);
    this.atMs = nowMs;
    if (this.levelMs * 100 < this.intervalMs * 99) return false;
    this.levelMs -= this.intervalMs;
    return true;
  }
}

describe('the rate limit shared by several workers', () => {
  const step = fc.record({
    worker,
    client: fc.nat(CLIENTS.length - 1),
    isProven: fc.boolean(),
    isNxdomain: fc.boolean(),
    afterMs: fc.oneof(fc.constant(0), fc.nat(30), fc.nat(3000)),
  });

  test('admits exactly the queries that a token bucket would admit, and slips every Nth limited query', () => {
    fc.assert(
      fc.property(
        fc.array(step, { minLength: 1, maxLength: 80 }),
        fc.record({
          queriesPerSecond: fc.constantFrom(...RATES),
          nxdomainPerSecond: fc.constantFrom(...RATES),
          burstSize: fc.integer({ min: 1, max: 20 }),
          slipRatio: fc.nat(4),
        }),
        (steps, settings) => {
          const memory = createRateBuckets(true, 7);
          const limit = rateLimitOf({ ...settings, whitelist: ['198.51.100.0/24'] });
          const limiters = Array.from({ length: WORKERS }, () => new RateLimiter(memory, limit));
          const buckets = new Map<string, Bucket>();
          const query = new Query();
          query.clientAt = 0;
          let nowMs = 5000;
          let limited = 0;
          for (const { worker: at, client, isProven, isNxdomain, afterMs } of steps) {
            nowMs += afterMs;
            query.protocol = isProven ? Protocol.tcp : Protocol.udp;
            query.clientBytes = ADDRESSES[client]!;
            query.arrivedMonotonicMs = nowMs;
            const limiter = limiters[at]!;
            const admitted = isNxdomain ? limiter.admitsNxdomain(query) : limiter.admitsQuestion(query);
            const network = CLIENTS[client]![1];
            const key = `${network} ${isProven} ${isNxdomain}`;
            const [rate, burst] = isNxdomain
              ? [settings.nxdomainPerSecond, settings.nxdomainPerSecond]
              : [settings.queriesPerSecond, settings.burstSize];
            if (!buckets.has(key)) buckets.set(key, new Bucket(rate, burst, nowMs));
            const expected = network === null || buckets.get(key)!.take(nowMs);
            agree(admitted, expected);
            if (admitted) continue;
            const slips = settings.slipRatio !== 0 && ++limited % settings.slipRatio === 0;
            agree(limiter.slips(), slips);
          }
        },
      ),
      SEQUENCES,
    );
  });
});

describe('the connection limit shared by several workers', () => {
  const protocol = fc.constantFrom(Protocol.tcp, Protocol.dot, Protocol.doh);
  const step = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({ kind: fc.constant('open' as const), worker, protocol, client: fc.nat(4) }),
    },
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('close' as const), which: fc.nat(1000) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('limit' as const), to: fc.nat(4) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('death' as const), worker }) },
  );
  const table = createConnectionTable(WORKERS, 7);
  const MOST = 6;

  test('admits the same connections as a model that lists open connections, and counts each close', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 60 }), fc.nat(4), (steps, first) => {
        interface Open {
          readonly worker: number;
          readonly protocol: number;
          readonly client: number;
        }
        let open: Open[] = [];
        let max = first;
        const made = new Map<string, ConnectionLimit>();
        const limitOf = ({
          worker: at,
          protocol: of,
        }: {
          worker: number;
          protocol: number;
        }): ConnectionLimit => {
          const key = `${at} ${of}`;
          const found =
            made.get(key) ??
            new ConnectionLimit({
              ...{ table, worker: at, max: MOST, maxPerAddress: max },
              protocol: of as 1 | 2 | 3,
            });
          made.set(key, found);
          return found;
        };
        for (const each of steps) {
          if (each.kind === 'open') {
            const ofThread = open.filter((it) => it.worker === each.worker && it.protocol === each.protocol);
            const ofClient = open.filter((it) => it.client === each.client && it.protocol === each.protocol);
            const expected = ofThread.length < MOST && (max === 0 || ofClient.length < max);
            agree(limitOf(each).enter(ADDRESSES[each.client]!), expected);
            if (expected) open.push(each);
          } else if (each.kind === 'close' && open.length > 0) {
            const [gone] = open.splice(each.which % open.length, 1);
            limitOf(gone!).leave(ADDRESSES[gone!.client]!);
          } else if (each.kind === 'limit') {
            max = each.to;
            for (const limit of made.values()) limit.limitTo(max);
          } else if (each.kind === 'death') {
            // The kernel closes the connections of a thread that ends; the replacement of the thread starts with zero
            // connections.
            open = open.filter((it) => it.worker !== each.worker);
            releaseConnections(table, each.worker);
            for (const key of [...made.keys()]) if (key.startsWith(`${each.worker} `)) made.delete(key);
          }
        }
        for (const gone of open) limitOf(gone).leave(ADDRESSES[gone.client]!);
        const left = connectionBlocks(table).flatMap((block) =>
          countConnections(block, PROTOCOL_NAMES.length),
        );
        agree(left.join(), left.map(() => 0).join());
      }),
      SEQUENCES,
    );
  });
});

describe('the limit of TLS handshakes per second', () => {
  const step = fc.record({
    client: fc.nat(CLIENTS.length - 1),
    count: fc.integer({ min: 1, max: 90 }),
    afterMs: fc.nat(700),
  });

  test('admits handshakes up to the limit of the second, in total and per client network', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 40 }), (steps) => {
        const limit = new HandshakeLimit();
        const begun = new Map<string, number>();
        let nowMs = 0;
        for (const { client, count, afterMs } of steps) {
          nowMs += afterMs;
          const second = Math.floor(nowMs / 1000);
          const [all, own] = [`${second}`, `${second} ${networkOf(client)}`];
          for (let i = 0; i < count; i++) {
            const ofAll = begun.get(all) ?? 0;
            const ofOwn = begun.get(own) ?? 0;
            const expected = ofAll < MAX_HANDSHAKES_PER_SECOND && ofOwn < MAX_PER_NETWORK;
            agree(limit.admits(ADDRESSES[client]!, nowMs), expected);
            if (!expected) continue;
            begun.set(all, ofAll + 1);
            begun.set(own, ofOwn + 1);
          }
        }
      }),
      SEQUENCES,
    );
  });

  /** The network that is limited: an IPv4 address, or the first 64 bits of an IPv6 address. */
  function networkOf(client: number): string {
    const text = CLIENTS[client]![0];
    return text.includes(':') ? text.replace('::1', '') : text;
  }
});
