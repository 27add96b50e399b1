/**
 * The role used for queries. It can only read and write the rows of Weir's tables, so that an injected SQL statement
 * cannot run programs, read files, or change tables. Another role owns the tables: it migrates them, creates and drops
 * the days of the log, and grants this role its privileges each time Weir connects, so that they also apply to the
 * tables of a restore.
 */
import { createHmac } from 'node:crypto';
import { escapeIdentifier, escapeLiteral } from 'pg';
import type { ClientBase } from 'pg';
import { createHash, pbkdf2, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';

/** Error: an administrator must create the role. */
export class RoleMissing extends Error {
  override readonly name = 'RoleMissing';
}

/** The role, as the owner sets it up. */
export interface QueryRole {
  readonly name: string;
  /** In ASCII. Null = an administrator creates the role and chooses its password. */
  readonly password: string | null;
}

/**
 * Key of the lock that lets only one node at a time change privileges, because PostgreSQL rejects concurrent changes to
 * the privileges of a table.
 */
const LOCK_KEY = 0x77_65_69_73;

const ATTRIBUTES = `LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS CONNECTION LIMIT -1 VALID UNTIL 'infinity'`;

/** The role's privileges on tables and sequences, by the letter of `pg_default_acl.defaclobjtype`. */
const RIGHTS = { r: ['SELECT', 'INSERT', 'UPDATE', 'DELETE'], S: ['USAGE'] } as const;
const lacksAny = (has: string, of: string, rights: readonly string[]): string =>
  `NOT (${rights.map((right) => `${has}($1::name, ${of}, '${right}')`).join(' AND ')})`;

/** Only the owner may change this table, because it decides which migrations the owner runs. */
const OWNERS_TABLE = 'schema_migrations';

/** SQL of the statements that grant missing privileges to the role and revoke privileges that it must not have. */
const DUE = `
  SELECT format('GRANT USAGE ON SCHEMA public TO %I', $1::name) AS sql
  WHERE NOT has_schema_privilege($1::name, 'public', 'USAGE')
  UNION ALL
  SELECT format('GRANT ${RIGHTS.r.join(', ')} ON %s TO %I', oid::regclass, $1::name) FROM pg_class
  WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND relname <> '${OWNERS_TABLE}'
    AND pg_has_role(relowner, 'USAGE') AND ${lacksAny('has_table_privilege', 'oid', RIGHTS.r)}
  UNION ALL
  SELECT format('GRANT ${RIGHTS.S.join(', ')} ON SEQUENCE %s TO %I', oid::regclass, $1::name) FROM pg_class
  WHERE relnamespace = 'public'::regnamespace AND pg_has_role(relowner, 'USAGE')
    -- In no other order: of a table, the function fails.
    AND CASE WHEN relkind = 'S' THEN ${lacksAny('has_sequence_privilege', 'oid', RIGHTS.S)} END
  UNION ALL
  SELECT format('ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT %s ON %s TO %I', rights, things, $1::name)
  FROM (VALUES ('r', '${RIGHTS.r.join(', ')}', 'TABLES'), ('S', '${RIGHTS.S.join(', ')}', 'SEQUENCES'))
    AS wanted (type, rights, things)
  WHERE NOT EXISTS (
    SELECT FROM pg_default_acl, aclexplode(defaclacl)
    WHERE defaclrole = current_user::regrole AND defaclnamespace = 'public'::regnamespace
      AND defaclobjtype::text = type AND grantee = (SELECT oid FROM pg_roles WHERE rolname = $1::name))
  UNION ALL
  SELECT format('REVOKE ALL ON ${OWNERS_TABLE} FROM %I', $1::name)
  WHERE has_table_privilege($1::name, to_regclass('public.${OWNERS_TABLE}'), 'SELECT, INSERT, UPDATE, DELETE')
  UNION ALL
  SELECT format('REVOKE CREATE ON SCHEMA public FROM PUBLIC, %I', $1::name)
  WHERE has_schema_privilege($1::name, 'public', 'CREATE')
  UNION ALL
  SELECT format('REVOKE CREATE, TEMPORARY ON DATABASE %I FROM PUBLIC, %I', current_database(), $1::name)
  WHERE has_database_privilege($1::name, current_database(), 'CREATE, TEMPORARY')`;

/** SQL of unnecessary privileges, as text; `$2`: whether another role owns the tables. */
const EXCESS = `SELECT CASE
    WHEN rolsuper THEN 'queries run as a superuser, who can run programs on the machine of PostgreSQL: '
      || 'give database.url a role that is not one'
    WHEN $2::boolean AND pg_has_role(oid, current_user, 'MEMBER')
      THEN 'queries run as a role that can become the one of database.owner_url'
  END AS excess FROM pg_roles WHERE rolname = coalesce($1::name, current_user)`;

/**
 * The role of the embedded server, with a password that is derived from the owner's password, so that only one secret
 * must be stored.
 */
export function embeddedQueryRole(ownerPassword: string): { name: string; password: string } {
  const name = 'weir_app';
  return { name, password: createHmac('sha256', ownerPassword).update(name).digest('base64url') };
}

/**
 * Gives the role exactly the privileges that it needs. The tables must exist; `owner` is a connection of the role that
 * owns them. @throws {RoleMissing} if the role does not exist, and Weir does not know its password
 */
export async function prepareQueryRole(owner: ClientBase, { name, password }: QueryRole): Promise<void> {
  const exists = (await owner.query('SELECT FROM pg_roles WHERE rolname = $1', [name])).rows.length > 0;
  if (password !== null) await makeRole(owner, { name, password, exists });
  else if (!exists)
    throw new RoleMissing(
      `the role "${name}" of database.url does not exist: create it again with its password, as by CREATE ROLE ${name} LOGIN`,
    );
  const { rows } = await owner.query<{ sql: string }>(DUE, [name]);
  if (rows.length === 0) return;
  // The statements are sent in one message, which makes them one transaction.
  await owner.query([`SELECT pg_advisory_xact_lock(${LOCK_KEY})`, ...rows.map(({ sql }) => sql)].join(';\n'));
}

/**
 * Message for users about unnecessary privileges of the role for queries; null = there are none that an administrator
 * should change.
 */
export async function excessOf(client: ClientBase, role: QueryRole | undefined): Promise<string | null> {
  const { rows } = await client.query<{ excess: string | null }>(EXCESS, [
    role?.name ?? null,
    role !== undefined,
  ]);
  return rows[0]?.excess ?? null;
}

/** Creates the role, or resets all its properties, which an administrator or the role itself may have changed. */
async function makeRole(
  owner: ClientBase,
  { name, password, exists }: { name: string; password: string; exists: boolean },
): Promise<void> {
  const role = escapeIdentifier(name);
  const secret = escapeLiteral(await scramVerifier(password));
  const verb = exists ? 'ALTER' : 'CREATE';
  await owner.query(`${verb} ROLE ${role} ${ATTRIBUTES} PASSWORD ${secret};
    ALTER ROLE ${role} RESET ALL; ALTER ROLE ${role} IN DATABASE postgres RESET ALL`);
}

/** Number of iterations, the default of PostgreSQL. */
const ITERATIONS = 4096;
const SALT_BYTES = 16;
const KEY_BYTES = 32;

/** The verifier of an ASCII password, in the form of `pg_authid.rolpassword` (RFC 5802 section 3, RFC 7677). */
export async function scramVerifier(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const salted = await promisify(pbkdf2)(password, salt, ITERATIONS, KEY_BYTES, 'sha256');
  const keyFor = (text: string): Buffer => createHmac('sha256', salted).update(text).digest();
  const stored = createHash('sha256').update(keyFor('Client Key')).digest('base64');
  const server = keyFor('Server Key').toString('base64');
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString('base64')}$${stored}:${server}`;
}
