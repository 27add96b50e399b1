import { describe, expect, test } from '@jest/globals';
import { type KeptRows, PolicyMemory } from './policy-memory.ts';
import { NO_POLICY_ROWS } from './rows.ts';

const UNCHANGED = Object.fromEntries(
  [...Object.keys(NO_POLICY_ROWS), 'services'].map((name) => [name, null]),
) as { readonly [Name in keyof KeptRows]: null };
const managed = (id: number, domain: string) => {
  return { id, name: `${id}`, domain, suffix: false, action: 'deny', groupId: null } as const;
};

describe('PolicyMemory', () => {
  test('take() keeps rows that were not read again, and merges changed managed domains', () => {
    const memory = new PolicyMemory();
    const [one, two, three] = [managed(1, 'a.example'), managed(2, 'b.example'), managed(3, 'c.example')];
    const groups = [{ id: 1, enabled: true }];
    const first = { ...UNCHANGED, groups, managedDomains: [one, two] };
    memory.take({ managed_domains: 'x' }, first, { tip: '5 place', changes: null });
    expect([memory.tip(), memory.versions()]).toEqual(['5 place', { managed_domains: 'x' }]);
    const changes = { ids: [2, 3], rows: [three] };
    const rows = memory.take({ managed_domains: 'y' }, UNCHANGED, { tip: '7 place', changes });
    expect(rows.managedDomains).toEqual([one, three]);
    expect([rows.groups, rows.managedDomains[0]]).toEqual([groups, one]);
    expect(rows.groups).toBe(groups);
  });
});
