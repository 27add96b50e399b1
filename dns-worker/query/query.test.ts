import { describe, expect, test } from '@jest/globals';
import { Query } from './query.ts';

/** What `begin` points at the message, and the facts that the listener fills in before. */
const OF_LISTENER = ['bytes', 'view', 'at', 'length', 'capacity', 'clientBytes', 'clientAt', 'protocol'];
/** Never set of a request (`isAddress`, `addressSize`), or read only where `hasEdns` is set. */
const UNREAD = ['isAddress', 'addressSize', 'optionsAt', 'optionsEnd'];
/** Written by `parseQuery` for each message. */
const PARSED = ['recursionDesired', 'checkingDisabled', 'authenticDataWanted'];

describe('Query', () => {
  test('begin() leaves nothing of the request before', () => {
    const query = new Query();
    const message = new Uint8Array(64);
    query.begin(message, 0, 12, 64);
    const fresh: Record<string, unknown> = Object.fromEntries(Object.entries(query));
    const facts = Object.entries(query).filter(
      ([name, value]) =>
        (typeof value === 'number' || typeof value === 'boolean') &&
        ![...OF_LISTENER, ...UNREAD, ...PARSED].includes(name) &&
        !name.startsWith('arrived'),
    );
    expect(facts.length).toBeGreaterThan(35);
    for (const [name, value] of facts)
      Object.assign(query, { [name]: typeof value === 'number' ? value + 7 : !value });
    query.begin(message, 0, 12, 64);
    const after: Record<string, unknown> = Object.fromEntries(Object.entries(query));
    const seen = facts.map(([name]) => [name, after[name]]);
    expect(seen).toEqual(facts.map(([name]) => [name, fresh[name]]));
  });

  test('discardAnswer() leaves nothing of the answer that was found', () => {
    const query = new Query();
    query.begin(new Uint8Array(64), 0, 12, 64);
    const bare = Object.fromEntries(Object.entries(query));
    Object.assign(query, { cached: 1, answersLength: 16, answersCount: 1, authorityCount: 1 });
    Object.assign(query, { replyFlags: 0x20, dnssec: 1, extendedError: 3 });
    query.discardAnswer();
    expect(Object.fromEntries(Object.entries(query))).toEqual(bare);
  });
});
