import { describe, expect, test } from '@jest/globals';
import { nameFromText } from '../../shared/dns/name.ts';
import { addressFromText } from '../../shared/net/ip.ts';
import type { NameGrant } from '../../shared/snapshot/name-rules.ts';
import fc from '../../test/support/parts/fast-check.ts';
import { openLists, queryFor } from '../../test/support/parts/test-lists.ts';
import type { Query } from '../query/query.ts';
import { EVERY_NAME, GrantTable } from './grant-table.ts';
import { NOT_FOUND } from './name-table.ts';

const OPEN = openLists([]);
const { seedLow, seedHigh } = OPEN.rules;
const GROUP_IDS = [1, 5, 7];

function asked(name: string, client: string, groupIndex: number): Query {
  const query = queryFor(name, OPEN);
  query.clientBytes = addressFromText(client)!;
  query.groupIndex = groupIndex;
  return query;
}

/** A grant as a test writes it. */
interface Written {
  readonly name: string | null;
  readonly subdomains: boolean;
  /** Who has the grant: a group id, an address, or null for everyone. */
  readonly for: number | string | null;
  readonly isAllowing: boolean;
  readonly endsAtSecs: number;
}

function grantOf({ name, subdomains, isAllowing, endsAtSecs, for: asker }: Written, id: number): NameGrant {
  return {
    id,
    name: name === null ? null : nameFromText(name),
    coversSubdomains: subdomains,
    groupId: typeof asker === 'number' ? asker : null,
    clientId: typeof asker === 'string' ? 9 : null,
    addresses: typeof asker === 'string' ? addressFromText(asker)! : new Uint8Array(0),
    isAllowing,
    endsAtSecs,
  };
}

/** Grant that must decide according to the contract; undefined = none. */
function expectedId(
  written: readonly Written[],
  name: string,
  client: string,
  groupId: number,
): number | undefined {
  const covers = ({ name: domain, subdomains }: Written): boolean =>
    domain === null || name === domain || (subdomains && name.endsWith(`.${domain}`));
  const rankOf = (one: Written): number => [null, groupId, client].indexOf(one.for);
  const fitting = written.map((one, id) => ({ ...one, id })).filter((one) => covers(one) && rankOf(one) >= 0);
  fitting.sort(
    (x, y) =>
      rankOf(y) - rankOf(x) ||
      (y.name?.length ?? -1) - (x.name?.length ?? -1) ||
      (x.name === null ? 0 : Number(x.subdomains) - Number(y.subdomains)) ||
      Number(y.isAllowing) - Number(x.isAllowing) ||
      y.endsAtSecs - x.endsAtSecs ||
      x.id - y.id,
  );
  return fitting[0]?.id;
}

describe('GrantTable, the temporary rules in shared memory,', () => {
  test('find() returns nothing if there are no grants', () => {
    const table = new GrantTable([], GROUP_IDS, seedLow, seedHigh);
    expect([table.size, table.find(asked('a.example', '192.0.2.1', 0))]).toEqual([0, NOT_FOUND]);
  });

  test('find() returns the same grant as a linear search from the highest priority, for random grants', () => {
    const names = ['example', 'a.example', 'b.a.example', 'c.b.a.example', 'xa.example', 'org'];
    const clients = ['192.0.2.1', '192.0.2.2', '2001:db8::1', '::'];
    const arbitraryGrant = fc.record<Written>({
      name: fc.option(fc.constantFrom(...names)),
      subdomains: fc.boolean(),
      for: fc.constantFrom<number | string | null>(null, ...GROUP_IDS, 99, ...clients),
      isAllowing: fc.boolean(),
      endsAtSecs: fc.integer({ min: 1, max: 3 }),
    });
    fc.assert(
      fc.property(fc.array(arbitraryGrant, { maxLength: 40 }), (written) => {
        const table = new GrantTable(written.map(grantOf), GROUP_IDS, seedLow, seedHigh);
        for (const name of names)
          for (const client of clients)
            for (const [index, groupId] of GROUP_IDS.entries()) {
              const number = table.find(asked(name, client, index));
              const found = number === NOT_FOUND ? undefined : table.grant(number);
              expect(found?.id).toBe(expectedId(written, name, client, groupId));
              if (found?.name === null) expect(table.label).toBe(EVERY_NAME);
            }
      }),
      { numRuns: 100 },
    );
  });

  test('find() returns the grants of a client with a key, and no grants of other clients at its address', () => {
    const written: Written = {
      name: null,
      subdomains: true,
      for: '192.0.2.1',
      isAllowing: true,
      endsAtSecs: 1,
    };
    const ofOther = { ...grantOf(written, 0), clientId: 7 };
    const own = { ...ofOther, id: 1, clientId: 9, addresses: new Uint8Array(0) };
    const table = new GrantTable([ofOther, own], GROUP_IDS, seedLow, seedHigh);
    const query = asked('a.example', '192.0.2.1', 0);
    const idOf = (clientId: number): number | null => {
      query.keyed = { key: 'x', clientId, record: 0, admits: null, exclusion: 0, names: [] };
      const number = table.find(query);
      return number === NOT_FOUND ? null : table.grant(number).id;
    };
    expect([idOf(9), idOf(8)]).toEqual([1, null]);
    query.keyed = null;
    expect(table.grant(table.find(query)).id).toBe(0);
  });

  test('find() sets the label of the name at which the grant matches', () => {
    const written: Written = { name: 'a.example', subdomains: true, for: 1, isAllowing: true, endsAtSecs: 1 };
    const table = new GrantTable([grantOf(written, 0)], GROUP_IDS, seedLow, seedHigh);
    table.find(asked('c.b.a.example', '192.0.2.1', 0));
    expect(table.label).toBe(2);
  });
});
