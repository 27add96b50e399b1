import { describe, expect, test } from '@jest/globals';
import { clientsOf, mayCall, rolesOf } from './route-access.ts';

describe('mayCall()', () => {
  test.each([
    ['member', ['admin', 'family', 'viewer']],
    ['family', ['admin', 'family']],
    ['viewer', ['admin', 'viewer']],
    ['admin', ['admin']],
  ] as const)('for a route with access %s allows the roles %j, and no anonymous caller', (access, roles) => {
    const all = ['admin', 'family', 'viewer'] as const;
    expect(all.filter((role) => mayCall({ role }, access))).toEqual(roles);
    expect(mayCall(null, access)).toBe(false);
    expect(rolesOf(access)).toEqual(roles);
  });
});

describe('clientsOf()', () => {
  test('limits a caller of the role family to its linked clients, and to no client if none is linked', () => {
    expect(clientsOf({ role: 'family', clientIds: [3, 4] })).toEqual(new Set([3, 4]));
    expect(clientsOf({ role: 'family', clientIds: null })).toEqual(new Set());
  });

  test.each(['admin', 'viewer'] as const)('does not limit the role %s', (role) => {
    expect(clientsOf({ role, clientIds: null })).toBeNull();
  });
});
