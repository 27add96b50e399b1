import { describe, expect, test } from '@jest/globals';
import { grantedAccess } from './granted-access.ts';

const NOTHING = {
  user_claim: 'sub',
  allowed_users: [],
  role_claim: 'groups',
  admin_values: [],
  family_values: [],
  viewer_values: [],
};

const ROLES = { ...NOTHING, admin_values: ['weir-admins'], viewer_values: ['family', 'staff'] };

describe('grantedAccess(), the role from OpenID Connect claims,', () => {
  test.each<[object, object]>([
    [{}, NOTHING],
    [{ groups: ['weir-admins'] }, NOTHING],
    [{ groups: [] }, ROLES],
    [{ groups: 'Weir-Admins' }, ROLES],
    [{ groups: { 0: 'weir-admins' } }, ROLES],
    [{ groups: [['weir-admins']] }, ROLES],
    [{ groups: null }, ROLES],
    [{}, { ...ROLES, role_claim: 'constructor' }],
    [{}, { ...NOTHING, allowed_users: ['admin', 'x=admin', '=admin'] }],
    [{ email: 'vera@example.org' }, { ...NOTHING, user_claim: 'email', allowed_users: ['vera@example.org'] }],
    [
      { email: 'vera@example.org', email_verified: 'true' },
      { ...NOTHING, user_claim: 'email', allowed_users: ['vera@example.org=vera'] },
    ],
  ])('for %j with %j returns no role', (claims, rules) => {
    expect(grantedAccess({ sub: 's', ...claims }, { ...NOTHING, ...rules })).toBeNull();
  });

  test.each<[object, object, object]>([
    [{ groups: ['x', 'weir-admins', 'family'] }, ROLES, { role: 'admin', wantedName: 's' }],
    [
      { groups: ['parents', 'staff'] },
      { ...ROLES, family_values: ['parents'] },
      { role: 'family', wantedName: 's' },
    ],
    [{ groups: 'staff' }, ROLES, { role: 'viewer', wantedName: 's' }],
    [{ groups: 'weir-admins' }, { ...ROLES, allowed_users: ['s=vera'] }, { username: 'vera' }],
    [{}, { ...NOTHING, allowed_users: ['a=b=vera', 's'] }, { username: 's' }],
    [{ name: 'a=b' }, { ...NOTHING, user_claim: 'name', allowed_users: ['a=b=vera'] }, { username: 'vera' }],
    [
      { email: 'vera@example.org', email_verified: true },
      { ...NOTHING, user_claim: 'email', allowed_users: ['vera@example.org=vera'] },
      { username: 'vera' },
    ],
    [
      { name: '.. Véra K/../<b>!', groups: ['family'] },
      { ...ROLES, user_claim: 'name' },
      { role: 'viewer', wantedName: 'VeraK..b' },
    ],
    [
      { name: '王', groups: ['family'] },
      { ...ROLES, user_claim: 'name' },
      { role: 'viewer', wantedName: 'person' },
    ],
  ])('for %j with %j returns the role and name %j', (claims, rules, access) => {
    expect(grantedAccess({ sub: 's', ...claims }, { ...NOTHING, ...rules })).toEqual(access);
  });
});
