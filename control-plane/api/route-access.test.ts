import { describe, expect, test } from '@jest/globals';
import { clientsOf, mayCall, rolesOf } from './route-access.ts';

describe('mayCall()', () => {
  test.each([
    ['member', ['admin', 'family', 'viewer']],
    ['family', ['admin', 'family']],
    ['viewer', ['admin', 'viewer']],
    ['admin', ['admin']],
  ] as const)('%s allows %j, but no anonymous caller', (access, roles) => {
    const all = ['admin', 'family', 'viewer'] as const;
    expect(all.filter((role) => mayCall({ role }, access))).toEqual(roles);
    expect(mayCall(null, access)).toBe(false);
    expect(rolesOf(access)).toEqual(roles);
  });
});

describe('clientsOf()', () => {
  test('limits the role family to its linked devices, and to none if it has none', () => {
    expect(clientsOf({ role: 'family', clientIds: [3, 4] })).toEqual(new Set([3, 4]));
    expect(clientsOf({ role: 'family', clientIds: null })).toEqual(new Set());
  });

  test.each(['admin', 'viewer'] as const)('does not limit the role %s', (role) => {
    expect(clientsOf({ role, clientIds: null })).toBeNull();
  });
});
