import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { Rcode } from '../../shared/dns/iana.ts';
import { DnssecStatus } from '../../shared/query-log.ts';
import { a } from '../../test/support/dns/built-messages.ts';
import { Reply } from '../../test/support/dns/dns-message.ts';
import { type AskedQuery, Forwarding, replyOf } from '../../test/support/parts/forwarding.ts';

const NAME = 'www.example.org';
const ANSWERED = { rcode: 'NOERROR', answers: [['A', '192.0.2.7']] };
const SERVFAIL = { rcode: 'SERVFAIL', answers: [] };
const TIMED_OUT = { kind: 'failed', reason: 'timeout', rcode: Rcode.SERVFAIL, upstream: 1 } as const;
const BOGUS = {
  kind: 'failed',
  reason: 'bogus',
  rcode: Rcode.SERVFAIL,
  upstream: 0,
  dnssec: DnssecStatus.bogus,
  extendedError: 6,
} as const;

let forwarding: Forwarding;
beforeEach(() => {
  forwarding = new Forwarding();
});
afterEach(() => {
  jest.useRealTimers();
  forwarding[Symbol.dispose]();
});

function answer(ttl = 60): void {
  forwarding.answer({ answers: [a(NAME, '192.0.2.7', ttl)] });
}

/** Puts an answer that expired a second ago into the cache. */
function keepStale(): void {
  forwarding.ask(NAME);
  answer();
  forwarding.clock.advance(61_000);
}

describe('Forwarder.take(), which resolves a cache miss,', () => {
  test('forwards the query, replies once, logs the upstream, and caches the answer', () => {
    const asked = forwarding.ask(NAME);
    answer();
    expect([replyOf(asked), asked.replies]).toEqual([ANSWERED, 1]);
    expect(forwarding.lastLogged).toMatchObject({ status: 'ALLOWED', upstream: 1 });
    expect(replyOf(forwarding.ask(NAME))).toEqual(ANSWERED);
    expect(forwarding.held).toEqual([]);
    expect(forwarding.lastLogged).toMatchObject({ status: 'CACHED', upstream: 1 });
  });

  test('sends a new upstream query when the TTL of an answer has expired', () => {
    forwarding.ask(NAME);
    answer();
    forwarding.clock.advance(59_000);
    forwarding.ask(NAME);
    expect(forwarding.held).toHaveLength(0);
    forwarding.clock.advance(1000);
    forwarding.ask(NAME);
    expect(forwarding.held).toHaveLength(1);
  });

  test('sends one upstream query for two clients', () => {
    const both = [forwarding.ask(NAME), forwarding.ask(NAME, { client: '198.51.100.1' })];
    expect(forwarding.held).toHaveLength(1);
    answer();
    expect(both.map(replyOf)).toEqual([ANSWERED, ANSWERED]);
  });

  test('returns a stale answer if no upstream answers (RFC 8767)', () => {
    keepStale();
    const asked = forwarding.ask(NAME);
    forwarding.settle(TIMED_OUT);
    expect(replyOf(asked)).toEqual(ANSWERED);
    expect(new Reply(asked.reply!, '').answers[0]!.ttl).toBe(30);
    expect(forwarding.lastLogged?.status).toBe('STALE');
  });

  test('does not replace a bogus answer with a stale answer', () => {
    keepStale();
    const asked: AskedQuery = forwarding.ask(NAME, { edns: true });
    forwarding.settle(BOGUS);
    expect(replyOf(asked)).toEqual(SERVFAIL);
    expect(new Reply(asked.reply!, '').extendedErrors).toEqual([6]);
  });

  test('returns a stale answer after the maximum wait of the client, and caches the late upstream answer', () => {
    jest.useFakeTimers();
    keepStale();
    const asked = forwarding.ask(NAME);
    expect(asked.reply).toBeNull();
    jest.advanceTimersByTime(1800);
    expect([replyOf(asked), forwarding.lastLogged?.status]).toEqual([ANSWERED, 'STALE']);
    answer(600);
    expect(asked.replies).toBe(1);
    forwarding.ask(NAME);
    expect(forwarding.lastLogged?.status).toBe('CACHED');
  });

  test.each([
    ['timeout', 'TIMEOUT'],
    ['network', 'SERVFAIL'],
    ['refused', 'SERVFAIL'],
  ] as const)(
    'logs a failure of kind %s as %s, and caches the failure for a short time',
    (reason, status) => {
      const asked = forwarding.ask(NAME);
      forwarding.settle({ ...TIMED_OUT, reason });
      expect(replyOf(asked)).toEqual(SERVFAIL);
      expect(forwarding.lastLogged).toMatchObject({ status, upstream: 2 });
      expect(replyOf(forwarding.ask(NAME))).toEqual(SERVFAIL);
      expect(forwarding.held).toEqual([]);
    },
  );

  test('caches nothing if the cache is disabled', () => {
    using uncached = new Forwarding({ enabled: false });
    uncached.ask(NAME);
    uncached.answer({ answers: [a(NAME, '192.0.2.7')] });
    uncached.ask(NAME);
    expect(uncached.held).toHaveLength(1);
  });
});

describe('Forwarder.idle(), used at shutdown,', () => {
  test('resolves its promise when the last request has received a reply', async () => {
    await forwarding.forwarder.idle();
    forwarding.ask(NAME);
    forwarding.ask('other.example');
    let isIdle = false;
    const idle = forwarding.forwarder.idle().then(() => (isIdle = true));
    answer();
    await Promise.resolve();
    expect(isIdle).toBe(false);
    forwarding.settle(TIMED_OUT);
    await idle;
    expect(isIdle).toBe(true);
  });
});
