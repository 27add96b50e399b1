import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { asOwner } from '../../../test/support/parts/as-owner.ts';
import { type TestDatabase, startTestDatabase } from '../../../test/support/parts/test-database.ts';
import * as store from './rule-store.ts';
import { MANAGED_DOMAINS, REGEX_FILTERS, type RuleFields, type StoredRule } from './rule-store.ts';

let own: TestDatabase;

beforeAll(async () => {
  own = await startTestDatabase();
  await own.database.query("INSERT INTO groups (id, name) VALUES (7, 'kids')");
});
beforeEach(() => asOwner(own.database, 'TRUNCATE managed_domains, regex_filters RESTART IDENTITY'));
afterAll(() => own.stop());

function rule(change: Partial<RuleFields> = {}): RuleFields {
  return {
    name: 'games',
    text: 'games.example',
    action: 'deny',
    group_id: null,
    comment: '',
    enabled: true,
    ...change,
  };
}

function insert(change: Partial<RuleFields> = {}): Promise<StoredRule> {
  return store.insertRule(own.database, MANAGED_DOMAINS, rule(change));
}

describe.each([MANAGED_DOMAINS, REGEX_FILTERS])('rules of $table', (of) => {
  test('insertRule() stores a rule that readRule() and listRules() return unchanged', async () => {
    const first = await store.insertRule(own.database, of, rule({ group_id: 7, comment: 'why' }));
    const second = await store.insertRule(own.database, of, rule({ action: 'allow', enabled: false }));
    expect(first).toMatchObject({ ...rule({ group_id: 7, comment: 'why' }), id: 1 });
    expect(await store.readRule(own.database, of, 1)).toEqual(first);
    expect(await store.listRules(own.database, of)).toEqual([first, second]);
  });

  test('insertRule() refuses a rule with the same text, action and group (or no group) as another rule', async () => {
    for (const group_id of [null, 7]) {
      await store.insertRule(own.database, of, rule({ group_id }));
      await expect(store.insertRule(own.database, of, rule({ group_id, name: 'x' }))).rejects.toMatchObject({
        status: 409,
        message: `a ${of.noun} with this ${of.matches}, action and group already exists`,
      });
    }
    await expect(store.insertRule(own.database, of, rule({ group_id: 99 }))).rejects.toMatchObject({
      status: 400,
      fields: [{ path: 'group_id', message: 'expected the id of an existing group' }],
    });
  });
});

describe('updateRule()', () => {
  test('changes the given fields, accepts null as a group, and keeps the group if none is given', async () => {
    const { id } = await insert({ group_id: 7 });
    const update = (change: store.RuleChange): Promise<StoredRule> =>
      store.updateRule(own.database, MANAGED_DOMAINS, id, change);
    expect(await update({ text: 'a.example', enabled: false })).toMatchObject(
      rule({ text: 'a.example', enabled: false, group_id: 7 }),
    );
    expect(await update({ group_id: null, comment: 'why' })).toMatchObject(
      rule({ text: 'a.example', enabled: false, comment: 'why' }),
    );
  });

  test('refuses a change that makes two rules equal, and returns 404 for an unknown rule', async () => {
    await insert();
    const { id } = await insert({ text: 'other.example' });
    await expect(
      store.updateRule(own.database, MANAGED_DOMAINS, id, { text: 'games.example' }),
    ).rejects.toMatchObject({ status: 409 });
    await expect(store.updateRule(own.database, MANAGED_DOMAINS, 99, { name: 'x' })).rejects.toMatchObject({
      status: 404,
      message: 'managed domain 99 does not exist',
    });
  });
});

describe('deleteRule()', () => {
  test('returns the deleted rule, and fails with 404 the second time', async () => {
    const stored = await insert();
    expect(await store.deleteRule(own.database, MANAGED_DOMAINS, stored.id)).toEqual(stored);
    await expect(store.deleteRule(own.database, MANAGED_DOMAINS, stored.id)).rejects.toMatchObject({
      status: 404,
    });
    await expect(store.readRule(own.database, MANAGED_DOMAINS, stored.id)).rejects.toMatchObject({
      status: 404,
    });
  });
});

describe('pageRules()', () => {
  test('finds a text in the name, comment or pattern of a rule, ignoring case, and counts all matches', async () => {
    await insert({ text: 'a.example', name: 'one' });
    await insert({ text: 'b.example', name: 'TWO', comment: 'like one' });
    await insert({ text: 'one.example', name: 'three' });
    await insert({ text: 'c.example', name: '100% _' });
    const page = async (search: string | undefined, limit = 10, offset = 0): Promise<unknown[]> => {
      const { rules, total } = await store.pageRules(own.database, MANAGED_DOMAINS, {
        search,
        limit,
        offset,
      });
      return [total, ...rules.map(({ id }) => id)];
    };
    expect(await page(undefined, 2, 1)).toEqual([4, 2, 3]);
    expect(await page('ONE')).toEqual([3, 1, 2, 3]);
    expect(await page('one', 1, 2)).toEqual([3, 3]);
    expect(await page('two')).toEqual([1, 2]);
    // No character of a search text is a wildcard.
    expect(await page('%')).toEqual([1, 4]);
    expect(await page('e.ample')).toEqual([0]);
  });
});
