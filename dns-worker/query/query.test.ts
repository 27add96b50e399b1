import { describe, expect, test } from '@jest/globals';
import { COOKIE_SIZE } from '../../shared/dns/wire.ts';
import { NO_EDE, Query } from './query.ts';

const SLOT = new Uint8Array(64);
const ECS = Uint8Array.of(0, 1, 24, 0, 192, 0, 2);

/** Fields that `begin` sets, and fields that the listener sets before `begin`. */
const OF_LISTENER = ['bytes', 'view', 'at', 'length', 'capacity', 'clientBytes', 'clientAt', 'protocol'];
/** Fields that are never set for a request (`isAddress`, `addressSize`), or read only if `hasEdns` is set. */
const UNREAD = ['isAddress', 'addressSize', 'optionsAt', 'optionsEnd'];
/** Fields that `parseQuery` writes for each message. */
const PARSED = ['recursionDesired', 'checkingDisabled', 'authenticDataWanted'];

describe('Query, the state of a query in a worker,', () => {
  test('begin() clears all data of the previous query', () => {
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

  test('discardAnswer() clears the data of an answer found earlier', () => {
    const query = new Query();
    query.begin(new Uint8Array(64), 0, 12, 64);
    const bare = Object.fromEntries(Object.entries(query));
    Object.assign(query, { cached: 1, answersLength: 16, answersCount: 1, authorityCount: 1 });
    Object.assign(query, { replyFlags: 0x20, dnssec: 1, extendedError: 3 });
    query.discardAnswer();
    expect(Object.fromEntries(Object.entries(query))).toEqual(bare);
  });
});

describe('Query.begin(), which starts a new query,', () => {
  test('refers to the message in its slot of the buffer', () => {
    const query = new Query();
    query.begin(SLOT.subarray(16), 8, 12, 40);
    SLOT[16 + 8] = 0x5a;
    expect(query.view.getUint8(query.at)).toBe(0x5a);
    expect([query.length, query.capacity, query.udpSize, query.extendedError]).toEqual([12, 40, 512, NO_EDE]);
    SLOT[16 + 8] = 0;
  });

  test('creates no new DataView for the same buffer', () => {
    const query = new Query();
    query.begin(SLOT, 0, 12, 40);
    const { view } = query;
    query.begin(SLOT, 16, 12, 40);
    expect(query.view).toBe(view);
  });
});

describe('Query.setEcs(), the ECS option of a query,', () => {
  test('keeps the data of the ECS option, and copyEcs() returns a copy of the data', () => {
    const query = new Query();
    query.begin(SLOT, 0, 12, 40);
    expect(query.copyEcs()).toBeNull();
    query.setEcs(Uint8Array.of(9, 9, ...ECS), 2, ECS.length);
    const copy = query.copyEcs();
    expect([...copy!]).toEqual([...ECS]);
    query.setEcs(new Uint8Array(7), 0, 7);
    expect([...copy!]).toEqual([...ECS]);
  });
});

describe('Query.setCookie(), the cookie of a query,', () => {
  test('keeps a cookie with its length, and copyCookie() returns a copy of the cookie', () => {
    const query = new Query();
    expect(query.copyCookie()).toBeNull();
    query.setCookie(new Uint8Array(COOKIE_SIZE).fill(7));
    expect([...query.copyCookie()!]).toEqual(Array<number>(COOKIE_SIZE).fill(7));
  });
});

describe('Query.isEcsSpecific, whether an answer is for one subnet only,', () => {
  test.each([
    [0, false],
    [4, false],
    [5, true],
  ])(
    'with an ECS option of %d bytes is %s: without address bytes the answer is for all clients',
    (length, expected) => {
      const query = new Query();
      query.begin(SLOT, 0, 12, 40);
      query.setEcs(ECS, 0, length);
      expect(query.isEcsSpecific).toBe(expected);
    },
  );
});
