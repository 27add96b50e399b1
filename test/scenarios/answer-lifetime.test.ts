/** TTLs of upstream answers as clients get them, and answers after a failure. */
import { describe, expect, test } from '@jest/globals';
import type { TestRecord } from '../support/dns/built-messages.ts';
import { a, cname, octets, response, u32, wireName } from '../support/dns/built-messages.ts';
import { type AskedQuery, type AskOptions, Forwarding, replyOf } from '../support/parts/forwarding.ts';
import { systemClock } from '../../shared/clock.ts';
import { decodeMessage } from '../../shared/dns/codec.ts';
import { DnssecStatus } from '../../shared/query-log.ts';
import { readResponse } from '../../dns-worker/resolve/response/response-reader.ts';

const NAME = 'www.example.org';
const EDNS_BADVERS = 16;

function soa(ttl: number, minimum: number): TestRecord {
  const numbers = [1, 2, 3, 4, minimum].flatMap(u32);
  return { owner: 'example.org', type: 6, ttl, rdata: octets(wireName('ns.example.org'), [0], numbers) };
}

/** TTLs of a reply, in the answer and authority sections. */
function ttlsOf({ reply }: AskedQuery): { answers: number[]; authorities: number[] } {
  const { answers, authorities } = decodeMessage(reply!) as unknown as Record<string, { ttl: number }[]>;
  const ttls = (records: { ttl: number }[] | undefined): number[] => (records ?? []).map(({ ttl }) => ttl);
  return { answers: ttls(answers), authorities: ttls(authorities) };
}

describe('a negative answer', () => {
  test('reaches clients with a TTL of at most negative_max_ttl_secs, from the upstream and from the cache', () => {
    using forwarding = new Forwarding({ negativeMaxTtlSecs: 60 });
    const asked = forwarding.ask(NAME);
    forwarding.answer({ flags: 0x8183, authorities: [soa(3600, 1800)] });
    expect(ttlsOf(asked)).toEqual({ answers: [], authorities: [60] });
    forwarding.clock.advance(50_000);
    expect(ttlsOf(forwarding.ask(NAME))).toEqual({ answers: [], authorities: [10] });
    forwarding.clock.advance(10_000);
    forwarding.ask(NAME);
    expect(forwarding.held).toHaveLength(1);
  });

  test('has a bounded TTL, but the CNAME records before it keep their own TTLs', () => {
    using forwarding = new Forwarding({ negativeMaxTtlSecs: 60 });
    const asked = forwarding.ask(NAME);
    const answers = [cname(NAME, 'other.example.org', 600)];
    forwarding.answer({ answers, authorities: [soa(3600, 1800)] });
    expect(ttlsOf(asked)).toEqual({ answers: [600], authorities: [60] });
  });

  test('is not extended by min_ttl_secs, which extends positive answers', () => {
    using forwarding = new Forwarding({ minTtlSecs: 300 });
    const denied = forwarding.ask('no.example.org');
    forwarding.answer({ flags: 0x8183, authorities: [soa(20, 20)] });
    expect(ttlsOf(denied).authorities).toEqual([20]);
    const answered = forwarding.ask(NAME);
    forwarding.answer({ answers: [a(NAME, '192.0.2.1', 20)] });
    expect(ttlsOf(answered).answers).toEqual([300]);
    forwarding.clock.advance(20_000);
    forwarding.ask('no.example.org');
    forwarding.ask(NAME);
    expect(forwarding.held).toHaveLength(1);
  });

  test('keeps its TTL bound when it is served stale', () => {
    using forwarding = new Forwarding({ negativeMaxTtlSecs: 5 });
    forwarding.ask(NAME);
    forwarding.answer({ flags: 0x8183, authorities: [soa(3600, 1800)] });
    forwarding.clock.advance(100_000);
    const asked = forwarding.ask(NAME);
    forwarding.settle({ kind: 'failed', reason: 'timeout', rcode: 2, upstream: 0 });
    expect(forwarding.lastLogged).toMatchObject({ status: 'STALE' });
    expect(ttlsOf(asked).authorities).toEqual([5]);
  });
});

describe('an upstream answer with an RCODE over 15', () => {
  test('is returned as SERVFAIL, not as a different RCODE, to a client without EDNS', () => {
    using forwarding = new Forwarding();
    const asked = forwarding.ask(NAME);
    forwarding.settle({ kind: 'failed', reason: 'servfail', rcode: EDNS_BADVERS, upstream: 0 });
    expect(asked.reply![3]! & 0x0f).toBe(2);
    expect(forwarding.lastLogged).toMatchObject({ rcode: 2 });
    // The second failure is a reply from the cache.
    expect(forwarding.ask(NAME).reply![3]! & 0x0f).toBe(2);
  });

  test('is returned unchanged to a client with EDNS', () => {
    using forwarding = new Forwarding();
    const asked = forwarding.ask(NAME, { edns: true });
    forwarding.settle({ kind: 'failed', reason: 'servfail', rcode: EDNS_BADVERS, upstream: 0 });
    const { reply } = asked;
    expect([reply![3]! & 0x0f, reply![reply!.length - 6]]).toEqual([0, 1]);
  });
});

describe('a cached answer', () => {
  const DAY_MS = 86_400_000;

  test.each([
    ['set back by a day', -DAY_MS],
    ['set forward by a day', DAY_MS],
    ['set on beyond 2038', 20 * 365 * DAY_MS],
  ])('expires after its TTL even if the clock is %s', (_what, stepMs) => {
    using forwarding = new Forwarding();
    forwarding.ask(NAME);
    forwarding.answer({ answers: [a(NAME, '192.0.2.1', 300)] });
    forwarding.clock.wallMs += stepMs;
    forwarding.clock.advance(100_000);
    expect(ttlsOf(forwarding.ask(NAME)).answers).toEqual([200]);
    forwarding.clock.advance(200_000);
    forwarding.ask(NAME);
    expect(forwarding.held).toHaveLength(1);
  });

  test('keeps its full TTL if it is stored after 2038', () => {
    using forwarding = new Forwarding();
    forwarding.clock.wallMs = Date.UTC(2040, 0, 1);
    forwarding.ask(NAME);
    forwarding.answer({ answers: [a(NAME, '192.0.2.1', 300)] });
    expect(ttlsOf(forwarding.ask(NAME)).answers).toEqual([300]);
    expect(forwarding.held).toHaveLength(0);
  });

  test('is removed on time when stale even if the clock is set back', () => {
    using forwarding = new Forwarding({ serveStaleSecs: 600 });
    forwarding.ask(NAME);
    forwarding.answer({ answers: [a(NAME, '192.0.2.1', 300)] });
    forwarding.clock.wallMs -= DAY_MS;
    forwarding.clock.advance(900_000);
    forwarding.ask(NAME);
    forwarding.settle({ kind: 'failed', reason: 'timeout', rcode: 2, upstream: 0 });
    expect(forwarding.lastLogged).toMatchObject({ status: 'TIMEOUT' });
  });
});

describe('systemClock', () => {
  test('monotonicMs() in seconds fits in a signed 32-bit integer for any year', () => {
    expect(systemClock.monotonicMs() / 1000).toBeLessThan(2 ** 31);
    const hrtimeMs = (): number => Number(process.hrtime.bigint()) / 1e6;
    const before = hrtimeMs();
    const between = systemClock.monotonicMs();
    expect(between).toBeGreaterThan(before - 1000);
    expect(between).toBeLessThan(hrtimeMs() + 1000);
  });
});

describe('a stale answer', () => {
  const TIMED_OUT = { kind: 'failed', reason: 'timeout', rcode: 2, upstream: 0 } as const;
  const BOGUS = { ...TIMED_OUT, reason: 'bogus', dnssec: DnssecStatus.bogus } as const;
  const FAILED = { rcode: 'SERVFAIL', answers: [] };
  const TARGET = 'host.example.net';
  const KEPT = { rcode: 'NOERROR', answers: [['CNAME', TARGET], ['A', '192.0.2.1']] }; // prettier-ignore

  /** Stores a secure answer with an alias in the cache, then lets it expire. */
  function keepStale(forwarding: Forwarding): void {
    forwarding.use([]);
    forwarding.ask(NAME, { wantsAuthentic: true });
    const { question, done } = forwarding.held.shift()!;
    const reading = readResponse(
      response(question, { answers: [cname(NAME, TARGET), a(TARGET, '192.0.2.1')] }),
      question,
    );
    if (reading.kind !== 'answer') throw new Error('the answer cannot be read');
    done({ kind: 'answer', answer: reading.answer, upstream: 0, dnssec: DnssecStatus.secure });
    forwarding.clock.advance(400_000);
  }

  test.each<[string, string, AskOptions]>([
    ['another name below the same wildcard', 'mail.example.org', {}],
    ['another type', NAME, { qtype: 28 }],
    ['DO', NAME, { dnssecOk: true }],
    ['CD', NAME, { checkingDisabled: true }],
  ])('is not returned for a query with %s (CVE-2026-46582)', (_what, name, options) => {
    using forwarding = new Forwarding();
    keepStale(forwarding);
    const asked = forwarding.ask(name, options);
    forwarding.settle(TIMED_OUT);
    expect(replyOf(asked)).toEqual(FAILED);
  });

  test('is filtered, marked and refused like a fresh answer (CVE-2026-55717, CVE-2026-56444)', () => {
    const block = { kind: 'block', subdomains: false } as const;
    using forwarding = new Forwarding();
    keepStale(forwarding);
    const asked = forwarding.ask(NAME, { wantsAuthentic: true });
    forwarding.settle(TIMED_OUT);
    expect(replyOf(asked)).toEqual(KEPT);
    // The proof of the stale answer may no longer be valid, so AD is not set.
    expect(asked.reply![3]! & 0x20).toBe(0);
    forwarding.clock.advance(6000);
    // The target of the alias is now blocked; when the answer was cached, it was not.
    forwarding.use([{ text: `${TARGET}\n`, reading: block }]);
    const filtered = forwarding.ask(NAME);
    forwarding.settle(TIMED_OUT);
    expect(replyOf(filtered)).toEqual({ rcode: 'NOERROR', answers: [['A', '0.0.0.0']] });
    expect(forwarding.lastLogged).toMatchObject({ status: 'BLOCKED_CNAME' });
    forwarding.use([]);
    forwarding.clock.advance(6000);
    const bogus = forwarding.ask(NAME);
    forwarding.settle(BOGUS);
    expect(replyOf(bogus)).toEqual(FAILED);
    expect(replyOf(forwarding.ask(NAME))).toEqual(FAILED);
  });

  test('is served for one day after it expired; then the failure is returned and cached for 1 s', () => {
    using forwarding = new Forwarding({ serveStaleSecs: 86_400 });
    keepStale(forwarding);
    forwarding.clock.advance(86_400_000);
    const asked = forwarding.ask(NAME);
    forwarding.settle(TIMED_OUT);
    expect(replyOf(asked)).toEqual(FAILED);
    forwarding.ask(NAME);
    expect(forwarding.held).toEqual([]);
    forwarding.clock.advance(1000);
    forwarding.ask(NAME);
    expect(forwarding.held).toHaveLength(1);
  });
});
