/** How long clients may keep what an upstream answered, and what they are told of a failure. */
import { describe, expect, test } from '@jest/globals';
import type { TestRecord } from '../fixtures/messages.ts';
import { a, cname, octets, u32, wireName } from '../fixtures/messages.ts';
import { type AskedQuery, Forwarding } from '../support/forwarding.ts';
import { decodeMessage } from '../../shared/dns/codec.ts';

const NAME = 'www.example.org';
const EDNS_BADVERS = 16;

function soa(ttl: number, minimum: number): TestRecord {
  const numbers = [1, 2, 3, 4, minimum].flatMap(u32);
  return { owner: 'example.org', type: 6, ttl, rdata: octets(wireName('ns.example.org'), [0], numbers) };
}

/** TTLs of a reply, answers and authorities. */
function ttlsOf({ reply }: AskedQuery): { answers: number[]; authorities: number[] } {
  const { answers, authorities } = decodeMessage(reply!) as unknown as Record<string, { ttl: number }[]>;
  const ttls = (records: { ttl: number }[] | undefined): number[] => (records ?? []).map(({ ttl }) => ttl);
  return { answers: ttls(answers), authorities: ttls(authorities) };
}

describe('a denial', () => {
  test('reaches clients with a TTL of negative_max_ttl_secs at most, at once and from the cache', () => {
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

  test('is bounded without its aliases', () => {
    using forwarding = new Forwarding({ negativeMaxTtlSecs: 60 });
    const asked = forwarding.ask(NAME);
    const answers = [cname(NAME, 'other.example.org', 600)];
    forwarding.answer({ answers, authorities: [soa(3600, 1800)] });
    expect(ttlsOf(asked)).toEqual({ answers: [600], authorities: [60] });
  });

  test('is not prolonged by min_ttl_secs, as an answer is', () => {
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

  test('keeps its bound when it is served stale', () => {
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

describe('an rcode over 15', () => {
  test('is SERVFAIL for a client without EDNS, not another rcode', () => {
    using forwarding = new Forwarding();
    const asked = forwarding.ask(NAME);
    forwarding.settle({ kind: 'failed', reason: 'servfail', rcode: EDNS_BADVERS, upstream: 0 });
    expect(asked.reply![3]! & 0x0f).toBe(2);
    expect(forwarding.lastLogged).toMatchObject({ rcode: 2 });
    // From the cache as well.
    expect(forwarding.ask(NAME).reply![3]! & 0x0f).toBe(2);
  });

  test('is whole for a client with EDNS', () => {
    using forwarding = new Forwarding();
    const asked = forwarding.ask(NAME, { edns: true });
    forwarding.settle({ kind: 'failed', reason: 'servfail', rcode: EDNS_BADVERS, upstream: 0 });
    const { reply } = asked;
    expect([reply![3]! & 0x0f, reply![reply!.length - 6]]).toEqual([0, 1]);
  });
});
