/** SQL of `blocked_services` and `custom_services`. `service-catalog.ts` has the built-in services. */
import type {
  BlockedService,
  CategoryId,
  CustomService,
  CustomServiceCreate,
  CustomServiceUpdate,
  ServiceBlock,
} from '../../../shared/api/policy/services-api.ts';
import { CATEGORY_NAMES } from '../../../shared/api/policy/services-api.ts';
import { conflict, invalid, notFound, unknownReference } from '../../api/api-error.ts';
import { isForeignKeyViolation, isUniqueViolation } from '../../storage/db/database-errors.ts';
import type { Queryable } from '../../storage/db/database.ts';

interface BlockRow {
  readonly id: number;
  readonly service_id: string;
  readonly group_id: number;
  readonly profile_id: number | null;
  readonly created_at: Date;
}

interface CustomRow {
  readonly service_id: string;
  readonly name: string;
  readonly category: CategoryId;
  readonly domains: string[];
  readonly created_at: Date;
  readonly updated_at: Date;
}

const BLOCK = 'id, service_id, group_id, profile_id, created_at';
const CUSTOM = 'service_id, name, category, domains, created_at, updated_at';
/**
 * Maximum number of ids that are tried for a custom service, because an id that is derived from its name may already
 * exist.
 */
const MAX_SLUGS = 1000;

/** Blocked services of one group or of all groups. */
export async function listBlocked(db: Queryable, groupId: number | undefined): Promise<BlockedService[]> {
  const text = `SELECT ${BLOCK} FROM blocked_services WHERE $1::integer IS NULL OR group_id = $1 ORDER BY id`;
  const { rows } = await db.query<BlockRow>(text, [groupId ?? null]);
  return rows.map(toBlocked);
}

/** Ids of the services that are blocked for at least one group. */
export async function readBlockedIds(db: Queryable): Promise<ReadonlySet<string>> {
  const { rows } = await db.query<BlockRow>('SELECT DISTINCT service_id FROM blocked_services');
  return new Set(rows.map(({ service_id: id }) => id));
}

/** Blocks a service; throws 409 if it is already blocked, 400 for an unknown group or profile. */
export async function insertBlocked(db: Queryable, block: ServiceBlock): Promise<BlockedService> {
  const { service_id: serviceId, group_id: groupId, profile_id: profileId } = block;
  const text = `INSERT INTO blocked_services (service_id, group_id, profile_id) VALUES ($1, $2, $3) RETURNING ${BLOCK}`;
  try {
    const { rows } = await db.query<BlockRow>(text, [serviceId, groupId, profileId]);
    return toBlocked(rows[0]!);
  } catch (error) {
    if (isUniqueViolation(error, 'blocked_services_once_key'))
      throw conflict(`service ${serviceId} is already blocked for group ${groupId}`);
    throw asUnknownReference(error);
  }
}

/** One block; throws 404 if the service is not blocked for the group. */
export async function readBlocked(
  db: Queryable,
  { service_id: serviceId, group_id: groupId }: Pick<ServiceBlock, 'service_id' | 'group_id'>,
): Promise<BlockedService> {
  const text = `SELECT ${BLOCK} FROM blocked_services WHERE service_id = $1 AND group_id = $2`;
  const { rows } = await db.query<BlockRow>(text, [serviceId, groupId]);
  return toBlocked(existingBlock(rows[0], serviceId, groupId));
}

/** Changes the times at which a service is blocked; throws 404 if it is not blocked, 400 for an unknown profile. */
export async function updateBlocked(db: Queryable, block: ServiceBlock): Promise<BlockedService> {
  const { service_id: serviceId, group_id: groupId, profile_id: profileId } = block;
  const text = `UPDATE blocked_services SET profile_id = $3 WHERE service_id = $1 AND group_id = $2 RETURNING ${BLOCK}`;
  try {
    const { rows } = await db.query<BlockRow>(text, [serviceId, groupId, profileId]);
    return toBlocked(existingBlock(rows[0], serviceId, groupId));
  } catch (error) {
    throw asUnknownReference(error);
  }
}

function existingBlock(row: BlockRow | undefined, serviceId: string, groupId: number): BlockRow {
  if (row === undefined) throw notFound(`block of service ${serviceId} for group ${groupId}`);
  return row;
}

/** Converts a foreign-key violation to 400. */
function asUnknownReference(error: unknown): unknown {
  if (isForeignKeyViolation(error, 'blocked_services_profile_id_fkey'))
    return unknownReference('profile_id', 'schedule profile');
  return isForeignKeyViolation(error) ? unknownReference('group_id', 'group') : error;
}

/** Unblocks a service; throws 404 if it is not blocked. */
export async function deleteBlocked(db: Queryable, serviceId: string, groupId: number): Promise<void> {
  const { rowCount } = await db.query(
    'DELETE FROM blocked_services WHERE service_id = $1 AND group_id = $2',
    [serviceId, groupId],
  );
  if (rowCount === 0) throw notFound(`block of service ${serviceId} for group ${groupId}`);
}

/** All custom services, by name. */
export async function listCustom(db: Queryable): Promise<CustomService[]> {
  const { rows } = await db.query<CustomRow>(`SELECT ${CUSTOM} FROM custom_services ORDER BY lower(name)`);
  return rows.map(toCustom);
}

/** One custom service; undefined if it does not exist. */
export async function findCustom(db: Queryable, serviceId: string): Promise<CustomService | undefined> {
  const text = `SELECT ${CUSTOM} FROM custom_services WHERE service_id = $1`;
  const { rows } = await db.query<CustomRow>(text, [serviceId]);
  return rows[0] === undefined ? undefined : toCustom(rows[0]);
}

/** Stores a custom service with an id derived from its name; throws 409 if the name is in use. */
export async function insertCustom(tx: Queryable, service: CustomServiceCreate): Promise<CustomService> {
  const slug = slugOf(service.name);
  const text = `INSERT INTO custom_services (service_id, name, category, domains)
    SELECT candidate, $2, $3, $4 FROM (
      SELECT CASE WHEN n = 1 THEN $1 ELSE $1 || '-' || n END AS candidate, n FROM generate_series(1, ${MAX_SLUGS}) n
    ) c WHERE NOT EXISTS (SELECT FROM custom_services s WHERE s.service_id = candidate) ORDER BY n LIMIT 1
    RETURNING ${CUSTOM}`;
  const values = [slug, service.name, service.category, service.domains];
  const { rows } = await refusingTakenNames(service.name, () => tx.query<CustomRow>(text, values));
  if (rows[0] === undefined)
    throw invalid([{ path: 'name', message: 'expected another name: the ids of similar names are taken' }]);
  return toCustom(rows[0]);
}

/** Changes the given fields; the id does not change. Throws 404 for an unknown id, or 409 if the name is in use. */
export async function updateCustom(
  tx: Queryable,
  serviceId: string,
  change: CustomServiceUpdate,
): Promise<CustomService> {
  const text = `UPDATE custom_services SET name = coalesce($2, name), category = coalesce($3, category),
    domains = coalesce($4, domains), updated_at = now() WHERE service_id = $1 RETURNING ${CUSTOM}`;
  const values = [serviceId, change.name, change.category, change.domains];
  const { rows } = await refusingTakenNames(change.name, () => tx.query<CustomRow>(text, values));
  if (rows[0] === undefined) throw notFound(`custom service ${serviceId}`);
  return toCustom(rows[0]);
}

/**
 * Deletes a custom service and returns its name; throws 404 if it does not exist. If groups block the service, throws
 * 409 or, with `force`, also deletes their blocks.
 */
export async function deleteCustom(tx: Queryable, serviceId: string, force: boolean): Promise<string> {
  const text = 'DELETE FROM custom_services WHERE service_id = $1 RETURNING name';
  const { rows } = await tx.query<{ name: string }>(text, [serviceId]);
  if (rows[0] === undefined) throw notFound(`custom service ${serviceId}`);
  const blocks = await tx.query<{ group_id: number }>(
    'DELETE FROM blocked_services WHERE service_id = $1 RETURNING group_id',
    [serviceId],
  );
  if (blocks.rows.length > 0 && !force) {
    const groups = blocks.rows.map(({ group_id: id }) => id).sort((a, b) => a - b);
    throw conflict(
      `custom service ${serviceId} is blocked for groups ${groups.join(', ')}; delete it with force`,
    );
  }
  return rows[0].name;
}

/** The id for a name: `custom-my-games` for `My Games!`; `custom-service` for a name without ASCII letters. */
function slugOf(name: string): string {
  const ascii = name.normalize('NFKD').toLowerCase();
  const slug = ascii
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 60);
  return `custom-${slug === '' ? 'service' : slug}`;
}

async function refusingTakenNames<T>(name: string | undefined, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isUniqueViolation(error, 'custom_services_name_key'))
      throw conflict(`a custom service named "${name}" already exists`);
    throw error;
  }
}

function toBlocked(row: BlockRow): BlockedService {
  return { ...row, created_at: row.created_at.toISOString() };
}

function toCustom(row: CustomRow): CustomService {
  return {
    ...row,
    category_name: CATEGORY_NAMES[row.category],
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}
