import { beforeEach, afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { openSuiteDatabase, type SuiteDatabase } from '../../../test/support/parts/suite-database.ts';
import type { RefusedFilter } from '../../policy/snapshot/build/manual-rules.ts';
import type { KindChange } from './backup-items.ts';
import type { Item, KindName } from './backup-kind.ts';
import { KINDS } from './backup-kinds.ts';
import { storeChanges, type StoredChanges } from './store-changes.ts';

let suite: SuiteDatabase;
beforeAll(async () => {
  suite = await openSuiteDatabase();
});
beforeEach(() => suite.reset());
afterAll(() => suite.close());

function changeOf(name: KindName, change: Partial<Omit<KindChange, 'kind'>>): KindChange {
  const kind = KINDS.find((one) => one.name === name)!;
  return { kind, created: [], changed: [], were: [], removed: [], ...change };
}

/** Stores changes; returns the result, and the filters that exceed the regex budget. */
async function store(
  ...changes: readonly KindChange[]
): Promise<{ stored: StoredChanges; refused: readonly RefusedFilter[] }> {
  const refused: RefusedFilter[] = [];
  const stored = await suite.database.transaction((tx) =>
    storeChanges(tx, changes, async (some) => void refused.push(...some)),
  );
  return { stored, refused };
}

/** A filter that uses a noticeable part of the regex budget. */
const heavy = (index: number): Item => {
  const [one, other] = [index % 26, Math.floor(index / 26)].map((at) => String.fromCharCode(97 + at));
  const pattern = `[${one!}-z][a-z0-9.-]{6}${other!}${one!}`;
  return { name: pattern, pattern, action: 'deny', group: null, comment: '', enabled: true };
};
const heavyOnes = (from: number, to: number): Item[] =>
  Array.from({ length: to - from }, (_, index) => heavy(from + index));

describe('storeChanges()', () => {
  test('reports only filters that it adds beyond the limit', async () => {
    const first = await store(changeOf('regex_filters', { created: heavyOnes(0, 300) }));
    expect(first.refused.length).toBeGreaterThan(0);
    const { refused } = await store(changeOf('regex_filters', { created: heavyOnes(300, 310) }));
    const patterns = new Set(heavyOnes(300, 310).map((filter) => filter['pattern']));
    expect(refused.every(({ pattern }) => patterns.has(pattern))).toBe(true);
    expect(refused).toHaveLength(10);
  });

  test('returns the changed and the deleted clients', async () => {
    const client = (mac: string, name: string): Item => ({
      ...{ ip_address: null, mac_address: mac, client_key: null, name, group: null },
    });
    const [tv, box] = [client('02:00:5e:00:00:01', 'tv'), client('02:00:5e:00:00:02', 'box')];
    const { stored: first } = await store(changeOf('clients', { created: [tv, box] }));
    expect(first.clients.map(({ name }) => name).sort()).toEqual(['box', 'tv']);
    const radio = { ...box, name: 'radio' };
    const { stored } = await store(changeOf('clients', { changed: [radio], were: [box], removed: [tv] }));
    expect(stored.clients).toMatchObject([{ mac: '02:00:5e:00:00:02', name: 'radio' }]);
    expect(stored.goneClients).toEqual(first.clients.filter(({ name }) => name === 'tv').map(({ id }) => id));
    expect(stored.outside).toEqual([]);
  });

  test('returns for the audit log the configuration keys that are in no revision, with secrets masked', async () => {
    const keys = [
      { key: 'auth.oidc.client_secret', value: 'hunter2-of-the-provider' },
      { key: 'auth.session_ttl_hours', value: 12 },
      { key: 'dns.cookies', value: false },
    ];
    const { stored } = await store(changeOf('configuration', { created: keys }));
    expect(stored.outside).toEqual([
      {
        table: 'configuration',
        key: 'auth.oidc.client_secret',
        before: null,
        after: { key: 'auth.oidc.client_secret', value: '***' },
      },
      {
        table: 'configuration',
        key: 'auth.session_ttl_hours',
        before: null,
        after: { key: 'auth.session_ttl_hours', value: 12 },
      },
    ]);
  });

  test('stores and returns thousands of clients', async () => {
    const clients = Array.from({ length: 5000 }, (_, index): Item => {
      const address = `2001:db8::${index.toString(16)}`;
      return { ip_address: address, mac_address: null, client_key: null, name: `n${index}`, group: null };
    });
    const { stored } = await store(changeOf('clients', { created: clients }));
    expect(stored.clients).toHaveLength(5000);
  });
});
