/**
 * Users, their second factors, certificates, API tokens and grants in a backup. The administrator is never included: a
 * restore does not change that account. If a file lacks a hash, the current one is kept.
 */
import { type BackupKind, type Item, items, type KindName } from './backup-kind.ts';
import { certificates } from './certificate-items.ts';
import { secondFactors } from './factor-kind.ts';
import { CLIENT_OF, userClients, users } from './user-kinds.ts';

const TOKEN = items('name text, role text, prefix text, key_hash text, created_at timestamptz');
const IS_TOKEN = `t.name = v.name AND t.prefix = v.prefix
  AND date_trunc('milliseconds', t.created_at) = v.created_at`;
const apiTokens: BackupKind = {
  name: 'api_tokens',
  key: ['name', 'created_at', 'prefix'],
  read: `SELECT name, role, prefix, encode(key_hash, 'hex') AS key_hash,
      to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS created_at
    FROM api_tokens ORDER BY lower(name), created_at`,
  put: [
    `DELETE FROM sessions s USING api_tokens t, ${TOKEN} WHERE s.token_id = t.id AND ${IS_TOKEN}`,
    `UPDATE api_tokens t SET role = v.role, key_hash = decode(v.key_hash, 'hex')
     FROM ${TOKEN} WHERE ${IS_TOKEN}`,
    `INSERT INTO api_tokens (name, role, prefix, key_hash, created_at)
     SELECT v.name, v.role, v.prefix, decode(v.key_hash, 'hex'), v.created_at FROM ${TOKEN}
     WHERE NOT EXISTS (SELECT FROM api_tokens t WHERE ${IS_TOKEN})`,
  ],
  remove: [`DELETE FROM api_tokens t USING ${TOKEN} WHERE ${IS_TOKEN}`],
};

const GRANT = items(
  `domain text, service_id text, subdomains boolean, client text, "group" text, action text, until timestamptz`,
);
/** Domain in the row of a grant; a grant for a service has a reserved name. */
const STORED_DOMAIN = `CASE WHEN v.service_id IS NULL THEN v.domain ELSE 'service.invalid' END`;
/** Condition that the client or group of a grant exists, so that the grant does not apply to everyone. */
const IS_KNOWN = 'num_nonnulls(c.id, g.id) = num_nonnulls(v.client, v."group")';
const grants: BackupKind = {
  name: 'grants',
  key: ['domain', 'service_id', 'subdomains', 'client', 'group', 'action', 'until'],
  isTimed: true,
  read: `SELECT CASE WHEN t.service_id IS NULL THEN t.domain END AS domain, t.service_id,
      t.subdomains OR t.service_id IS NOT NULL AS subdomains, ${CLIENT_OF} AS client, g.name AS "group", t.action,
      to_char(t.until AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS until
    FROM grants t LEFT JOIN clients c ON c.id = t.client_id LEFT JOIN groups g ON g.id = t.group_id
    WHERE t.until > $1 OR t.until IS NULL ORDER BY t.until, t.id`,
  put: [
    `INSERT INTO grants (domain, service_id, subdomains, client_id, group_id, action, until, created_at)
     SELECT ${STORED_DOMAIN}, v.service_id, v.subdomains AND v.service_id IS NULL, c.id, g.id, v.action, v.until, now() FROM ${GRANT}
     LEFT JOIN clients c ON ${CLIENT_OF} = v.client LEFT JOIN groups g ON g.name = v."group"
     WHERE ${IS_KNOWN}`,
  ],
  remove: [
    `DELETE FROM grants t USING ${GRANT} LEFT JOIN clients c ON ${CLIENT_OF} = v.client
       LEFT JOIN groups g ON g.name = v."group"
     WHERE ${IS_KNOWN} AND t.domain IS NOT DISTINCT FROM ${STORED_DOMAIN}
       AND t.service_id IS NOT DISTINCT FROM v.service_id
       AND t.subdomains = (v.subdomains AND v.service_id IS NULL) AND t.client_id IS NOT DISTINCT FROM c.id
       AND t.group_id IS NOT DISTINCT FROM g.id AND t.action = v.action
       AND date_trunc('milliseconds', t.until) IS NOT DISTINCT FROM v.until`,
  ],
};

/** Clients in `$1`, by MAC, address or key, that this node knows. */
export const KNOWN_CLIENTS = `SELECT ${CLIENT_OF} AS client FROM clients c WHERE ${CLIENT_OF} = ANY ($1::text[])`;

/** The kinds of this file. */
export const ACCESS_KINDS: readonly BackupKind[] = [
  users,
  userClients,
  secondFactors,
  certificates,
  apiTokens,
  grants,
];

/** Fields that only a backup with secrets has. */
export const SECRET_FIELDS = {
  users: 'password_hash',
  second_factors: 'factor',
  certificates: 'key',
  api_tokens: 'key_hash',
} as const satisfies Partial<Record<KindName, string>>;

/** A kind with a secret field. */
export type KindWithSecret = keyof typeof SECRET_FIELDS;

/**
 * The description of an object in the response to a restore: with its permissions, and the earlier permissions if they
 * differ.
 */
export function rightsOf(item: Item, was: Item | undefined): string {
  const shown = ({ role, enabled }: Item): string =>
    `${String(role)}${enabled === false ? ', disabled' : ''}`;
  if (was === undefined) return shown(item);
  const parts = shown(was) === shown(item) ? [] : [`${shown(was)} → ${shown(item)}`];
  const isNewSecret = ['password_hash', 'key_hash'].some((field) => was[field] !== item[field]);
  return [...parts, ...(isNewSecret ? ['another password or key'] : [])].join(', ');
}
