/** SQL of `grants`. `policy/change/policy-store.ts` reads the active grants. */
import type { GrantCreate } from '../../../shared/api/policy/grants-api.ts';
import { conflict, notFound, unknownReference } from '../../api/api-error.ts';
import { isForeignKeyViolation } from '../../storage/db/database-errors.ts';
import type { Queryable } from '../../storage/db/database.ts';
import type { PolicyGrant } from '../../policy/change/rows.ts';

/** A grant as it is stored: without the MAC and address of its client. */
export type StoredGrant = Omit<PolicyGrant, 'mac' | 'address'>;

/** Value of the domain column in grants for a service, see the migration. */
const SERVICE_DOMAIN = 'service.invalid';

/** Values of a new grant. */
export interface NewGrant extends Pick<
  GrantCreate,
  'domain' | 'service_id' | 'subdomains' | 'client_id' | 'group_id' | 'action'
> {
  readonly createdMs: number;
  /** Null = no end. */
  readonly untilMs: number | null;
}

interface GrantRow {
  readonly id: number;
  readonly domain: string | null;
  readonly service_id: string | null;
  readonly subdomains: boolean;
  readonly client_id: number | null;
  readonly group_id: number | null;
  readonly action: 'allow' | 'block';
  readonly until: Date | null;
  readonly created_at: Date;
}

const COLUMNS = 'id, domain, service_id, subdomains, client_id, group_id, action, until, created_at';
/** Maximum number of grants, which limits the cost of a snapshot. */
const MAX_GRANTS = 10_000;
/** Maximum number of grants for services; smaller, because a service may have thousands of names. */
const MAX_SERVICE_GRANTS = 200;
/** Milliseconds for which expired rows are kept in case the clock is wrong, unless a node saw them expire. */
const KEPT_MS = 86_400_000;

/** Stores a grant; throws 400 for an unknown client or group, 409 if there are too many. Deletes old grants. */
export async function insertGrant(db: Queryable, grant: NewGrant): Promise<StoredGrant> {
  const { domain, service_id: serviceId, client_id: clientId, group_id: groupId } = grant;
  const { action, untilMs, createdMs } = grant;
  await db.query('DELETE FROM grants WHERE until < $1', [new Date(createdMs - KEPT_MS)]);
  const text = `INSERT INTO grants (domain, subdomains, client_id, group_id, action, until, created_at, service_id)
    SELECT $1, $2, $3, $4, $5, $6, $7, $8::text WHERE (SELECT count(*) FROM grants) < ${MAX_GRANTS}
      AND ($8::text IS NULL OR (SELECT count(service_id) FROM grants) < ${MAX_SERVICE_GRANTS}) RETURNING ${COLUMNS}`;
  const until = untilMs === null ? null : new Date(untilMs);
  const names = serviceId === null ? [domain, grant.subdomains] : [SERVICE_DOMAIN, false];
  const values = [...names, clientId, groupId, action, until, new Date(createdMs), serviceId];
  try {
    const { rows } = await db.query<GrantRow>(text, values);
    const max = `the maximum of ${MAX_GRANTS} grants, or of ${MAX_SERVICE_GRANTS} grants for services`;
    if (rows[0] === undefined) throw conflict(`${max}, is reached; delete a grant first`);
    return toGrant(rows[0]);
  } catch (error) {
    if (!isForeignKeyViolation(error)) throw error;
    const [path, what] = clientId === null ? ['group_id', 'group'] : ['client_id', 'client'];
    throw unknownReference(path, what);
  }
}

/** One grant; throws 404 if it does not exist. */
export async function readGrant(db: Queryable, id: number): Promise<StoredGrant> {
  const { rows } = await db.query<GrantRow>(`SELECT ${COLUMNS} FROM grants WHERE id = $1`, [id]);
  if (rows[0] === undefined) throw notFound(`grant ${id}`);
  return toGrant(rows[0]);
}

/** Deletes a grant and returns its last state; throws 404 if it does not exist. */
export async function deleteGrant(db: Queryable, id: number): Promise<StoredGrant> {
  const { rows } = await db.query<GrantRow>(`DELETE FROM grants WHERE id = $1 RETURNING ${COLUMNS}`, [id]);
  if (rows[0] === undefined) throw notFound(`grant ${id}`);
  return toGrant(rows[0]);
}

/** Deletes expired grants. */
export async function deleteEnded(db: Queryable, ids: readonly number[]): Promise<void> {
  await db.query('DELETE FROM grants WHERE id = ANY($1::integer[])', [ids]);
}

function toGrant(row: GrantRow): StoredGrant {
  return {
    id: row.id,
    domain: row.service_id === null ? row.domain : null,
    ...(row.service_id !== null && { serviceId: row.service_id }),
    subdomains: row.subdomains || row.service_id !== null,
    clientId: row.client_id,
    groupId: row.group_id,
    action: row.action,
    untilMs: row.until?.getTime() ?? null,
    createdMs: row.created_at.getTime(),
  };
}
