/** The access that the claims of a provider grant, according to the configuration; none by default. Pure. */
import type { Config } from '../../../../config/schema.ts';
import type { Role } from '../../../../shared/api/auth-api.ts';

/** All claims of the provider about a person. */
export type Claims = Readonly<Record<string, unknown>> & { readonly sub: string };

/** The access of a person: that of an existing user of Weir, or a role. */
export type GrantedAccess =
  { readonly username: string } | { readonly role: Role; readonly wantedName: string };

type Rules = Pick<
  Config['auth']['oidc'],
  'user_claim' | 'allowed_users' | 'role_claim' | 'admin_values' | 'family_values' | 'viewer_values'
>;

/** The access that these claims grant; null for none. A named user takes precedence over a role. */
export function grantedAccess(claims: Claims, rules: Rules): GrantedAccess | null {
  const person = nameIn(claims, rules.user_claim);
  const entry = rules.allowed_users.map(entryOf).find(({ value }) => value === person);
  if (entry !== undefined) return { username: entry.username };
  const role = roleIn(claims, rules);
  return role === null ? null : { role, wantedName: userNameFrom(person ?? claims.sub) };
}

/** An email address identifies a person only if the provider has verified it. */
function nameIn(claims: Claims, claim: string): string | null {
  const value = claimOf(claims, claim);
  if (typeof value !== 'string' || value === '') return null;
  return claim === 'email' && claims['email_verified'] !== true ? null : value;
}

/** Reads `value=user`, or one word that is both value and user. */
function entryOf(entry: string): { value: string; username: string } {
  const at = entry.lastIndexOf('=');
  return at < 0
    ? { value: entry, username: entry }
    : { value: entry.slice(0, at), username: entry.slice(at + 1) };
}

function roleIn(claims: Claims, rules: Rules): Role | null {
  const { role_claim: claim, admin_values: admins, family_values: family, viewer_values: viewers } = rules;
  const value = claimOf(claims, claim);
  const values = (Array.isArray(value) ? (value as unknown[]) : [value]).filter(
    (one): one is string => typeof one === 'string',
  );
  if (values.some((one) => admins.includes(one))) return 'admin';
  if (values.some((one) => family.includes(one))) return 'family';
  return values.some((one) => viewers.includes(one)) ? 'viewer' : null;
}

/** Ignores properties that every object inherits. */
function claimOf(claims: Claims, claim: string): unknown {
  return Object.hasOwn(claims, claim) ? claims[claim] : undefined;
}

/** A user name that is valid in the API and as close as possible to a person's name. */
function userNameFrom(text: string): string {
  const plain = text
    .normalize('NFKD')
    .replaceAll(/[^A-Za-z0-9._@+-]/g, '')
    .slice(0, 48)
    .replaceAll(/^[^A-Za-z0-9]+|[^A-Za-z0-9]+$/g, '');
  return plain === '' ? 'person' : plain;
}
