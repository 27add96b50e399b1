/** SQL of `client_subnets`. The snapshot determines which of several networks applies to an address. */
import type { ClientSubnet, ClientSubnetCreate } from '../../../shared/api/policy/clients-api.ts';
import { conflict, notFound, unknownReference } from '../../api/api-error.ts';
import { isForeignKeyViolation, isUniqueViolation } from '../../storage/db/database-errors.ts';
import type { Queryable } from '../../storage/db/database.ts';

interface SubnetRow extends Omit<ClientSubnet, 'created_at'> {
  readonly created_at: Date;
}

const columns = (table: string): string =>
  `${table}.id, ${table}.cidr::text AS subnet_cidr, ${table}.group_id, g.name AS group_name, ${table}.comment,
   ${table}.created_at`;

/** All networks, IPv4 first, in address order. */
export async function listSubnets(db: Queryable): Promise<ClientSubnet[]> {
  const { rows } = await db.query<SubnetRow>(
    `SELECT ${columns('s')} FROM client_subnets s JOIN groups g ON g.id = s.group_id ORDER BY s.cidr`,
  );
  return rows.map(toSubnet);
}

/** One network; throws 404 if it does not exist. */
export async function readSubnet(db: Queryable, id: number): Promise<ClientSubnet> {
  const { rows } = await db.query<SubnetRow>(
    `SELECT ${columns('s')} FROM client_subnets s JOIN groups g ON g.id = s.group_id WHERE s.id = $1`,
    [id],
  );
  if (rows[0] === undefined) throw notFound(`subnet ${id}`);
  return toSubnet(rows[0]);
}

/** Stores a network; throws 409 if it exists, 400 for an unknown group. */
export async function insertSubnet(db: Queryable, subnet: ClientSubnetCreate): Promise<ClientSubnet> {
  try {
    const { rows } = await db.query<SubnetRow>(
      `WITH s AS (INSERT INTO client_subnets (cidr, group_id, comment) VALUES ($1, $2, $3) RETURNING *)
       SELECT ${columns('s')} FROM s JOIN groups g ON g.id = s.group_id`,
      [subnet.subnet_cidr, subnet.group_id, subnet.comment],
    );
    return toSubnet(rows[0]!);
  } catch (error) {
    if (isUniqueViolation(error)) throw conflict(`subnet ${subnet.subnet_cidr} already exists`);
    if (isForeignKeyViolation(error)) throw unknownReference('group_id', 'group');
    throw error;
  }
}

/** Deletes a network and returns it; throws 404 if it does not exist. */
export async function deleteSubnet(db: Queryable, id: number): Promise<ClientSubnet> {
  const { rows } = await db.query<SubnetRow>(
    `WITH s AS (DELETE FROM client_subnets WHERE id = $1 RETURNING *)
     SELECT ${columns('s')} FROM s JOIN groups g ON g.id = s.group_id`,
    [id],
  );
  if (rows[0] === undefined) throw notFound(`subnet ${id}`);
  return toSubnet(rows[0]);
}

function toSubnet(row: SubnetRow): ClientSubnet {
  return { ...row, created_at: row.created_at.toISOString() };
}
