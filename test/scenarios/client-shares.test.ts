/** Replies to clients while the resolver is at capacity; such failures are not cached. */
import { describe, expect, test } from '@jest/globals';
import { ExtendedError, Rcode } from '../../shared/dns/iana.ts';
import { Reply } from '../support/dns/dns-message.ts';
import { a } from '../support/dns/built-messages.ts';
import { type AskedQuery, Forwarding } from '../support/parts/forwarding.ts';

const NAME = 'www.example.org';
const GREEDY = '192.0.2.1';
const NEIGHBOUR = '192.0.2.200';
const STRANGER = '198.51.100.1';

function codesOf({ reply }: AskedQuery): { rcode: number; extendedErrors: number[] } | null {
  if (reply === null) return null;
  const { rcode, extendedErrors } = new Reply(reply, '');
  return { rcode, extendedErrors };
}

/** Queries names from one network until it is refused; returns the number of waiting questions. */
function exhaust(forwarding: Forwarding): number {
  for (let waiting = 0; ; waiting++)
    if (forwarding.ask(`n${String(waiting)}.example`, { client: GREEDY }).reply !== null) return waiting;
}

describe('a client network that has used its share of the resolver', () => {
  test('is refused with EDE 18, logged as RATE_LIMITED and not forwarded; other networks get answers', () => {
    using forwarding = new Forwarding();
    expect(exhaust(forwarding)).toBe(8192);
    const refused = { rcode: Rcode.REFUSED, extendedErrors: [ExtendedError.PROHIBITED] };
    expect(codesOf(forwarding.ask(NAME, { client: NEIGHBOUR, edns: true }))).toEqual(refused);
    expect(forwarding.lastLogged).toMatchObject({ status: 'RATE_LIMITED', rcode: Rcode.REFUSED });
    expect(forwarding.held).toHaveLength(8192);
    const asked = forwarding.ask(NAME, { client: STRANGER });
    expect(forwarding.held.at(-1)?.question).toMatchObject({ network: expect.any(String) });
    forwarding.answerLast({ answers: [a(NAME, '192.0.2.7')] });
    expect(codesOf(asked)).toMatchObject({ rcode: Rcode.NOERROR });
    // The failure was not cached for the name.
    expect(codesOf(forwarding.ask(NAME, { client: NEIGHBOUR }))).toMatchObject({ rcode: Rcode.NOERROR });
  });

  test('can send queries to the resolver again when its earlier queries have been answered', () => {
    using forwarding = new Forwarding();
    exhaust(forwarding);
    forwarding.settle({ kind: 'failed', reason: 'timeout', rcode: Rcode.SERVFAIL, upstream: 0 });
    expect(forwarding.ask(NAME, { client: GREEDY }).reply).toBeNull();
    expect(codesOf(forwarding.ask('other.example', { client: GREEDY }))).toMatchObject({
      rcode: Rcode.REFUSED,
    });
  });

  test('gets a stale answer instead of REFUSED', () => {
    using forwarding = new Forwarding();
    forwarding.ask(NAME);
    forwarding.answer({ answers: [a(NAME, '192.0.2.7', 60)] });
    forwarding.clock.advance(61_000);
    exhaust(forwarding);
    forwarding.ask(NAME, { client: GREEDY });
    expect(forwarding.lastLogged).toMatchObject({ status: 'STALE', rcode: Rcode.NOERROR });
  });
});

describe('a query for which the resolver has no capacity', () => {
  test('gets SERVFAIL with EDE 14, which is neither cached nor counted as a failure of the name', () => {
    using forwarding = new Forwarding();
    const asked = forwarding.ask(NAME, { edns: true });
    forwarding.settle({ kind: 'failed', reason: 'overloaded', rcode: Rcode.SERVFAIL, upstream: -1 });
    expect(codesOf(asked)).toEqual({ rcode: Rcode.SERVFAIL, extendedErrors: [ExtendedError.NOT_READY] });
    const again = forwarding.ask(NAME);
    expect(forwarding.held).toHaveLength(1);
    forwarding.answer({ answers: [a(NAME, '192.0.2.7')] });
    expect(codesOf(again)).toMatchObject({ rcode: Rcode.NOERROR });
  });
});
