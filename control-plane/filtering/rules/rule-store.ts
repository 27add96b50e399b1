/**
 * SQL of the two tables of manual rules, `managed_domains` and `regex_filters`. They differ only in the column with the
 * domain or pattern.
 */
import { conflict, notFound, unknownReference } from '../../api/api-error.ts';
import type { RowFaults } from '../../api/row-faults.ts';
import { noteUnknownGroups } from '../../policy/change/known-groups.ts';
import { isForeignKeyViolation, isUniqueViolation } from '../../storage/db/database-errors.ts';
import type { Queryable } from '../../storage/db/database.ts';

/** A table of rules. The texts are inserted into SQL statements without escaping. */
export interface RuleTableName {
  readonly table: 'managed_domains' | 'regex_filters';
  readonly matches: 'domain' | 'pattern';
  /** Term for one rule in messages. */
  readonly noun: string;
  /** Code of one rule in descriptions of changes. */
  readonly code: 'managed_domain' | 'regex_filter';
}

export const MANAGED_DOMAINS: RuleTableName = {
  table: 'managed_domains',
  matches: 'domain',
  noun: 'managed domain',
  code: 'managed_domain',
};
export const REGEX_FILTERS: RuleTableName = {
  table: 'regex_filters',
  matches: 'pattern',
  noun: 'regex filter',
  code: 'regex_filter',
};

/** A rule of either table; `text` is its domain or its pattern. */
export interface StoredRule {
  readonly id: number;
  readonly name: string;
  readonly text: string;
  readonly action: 'allow' | 'deny';
  /** Null = every group. */
  readonly group_id: number | null;
  readonly comment: string;
  readonly enabled: boolean;
  readonly created_at: string;
  readonly updated_at: string;
}

/** Fields of a new rule. */
export type RuleFields = Omit<StoredRule, 'id' | 'created_at' | 'updated_at'>;
/** Changed fields of a rule; a field that is undefined does not change. */
export type RuleChange = { readonly [Field in keyof RuleFields]?: RuleFields[Field] | undefined };

interface RuleRow extends Omit<StoredRule, 'created_at' | 'updated_at'> {
  readonly created_at: Date;
  readonly updated_at: Date;
}

const columns = ({ matches }: RuleTableName): string =>
  `id, name, ${matches} AS text, action, group_id, comment, enabled, created_at, updated_at`;

/** All rules, oldest first. */
export async function listRules(db: Queryable, of: RuleTableName): Promise<StoredRule[]> {
  const { rows } = await db.query<RuleRow>(`SELECT ${columns(of)} FROM ${of.table} ORDER BY id`);
  return rows.map(toRule);
}

/** A page of the rules that contain `search` in their domain or pattern, name or comment; oldest first. */
export async function pageRules(
  db: Queryable,
  of: RuleTableName,
  page: { readonly limit: number; readonly offset: number; readonly search?: string | undefined },
): Promise<{ rules: StoredRule[]; total: number }> {
  const where = `WHERE $1::text IS NULL OR strpos(lower(concat_ws(E'\\n', ${of.matches}, name, comment)), lower($1)) > 0`;
  const search = page.search ?? null;
  const counted = await db.query<{ total: number }>(
    `SELECT count(*)::integer AS total FROM ${of.table} ${where}`,
    [search],
  );
  const { rows } = await db.query<RuleRow>(
    `SELECT ${columns(of)} FROM ${of.table} ${where} ORDER BY id LIMIT $2 OFFSET $3`,
    [search, page.limit, page.offset],
  );
  return { rules: rows.map(toRule), total: counted.rows[0]!.total };
}

/** Number of rules with an action, and number of enabled rules among them. */
export interface RuleCount {
  readonly total: number;
  readonly enabled: number;
}

/** Number of rules. */
export async function countRules(
  db: Queryable,
  { table }: RuleTableName,
): Promise<Record<StoredRule['action'], RuleCount>> {
  const { rows } = await db.query<RuleCount & { action: StoredRule['action'] }>(
    `SELECT action, count(*)::integer AS total, (count(*) FILTER (WHERE enabled))::integer AS enabled
     FROM ${table} GROUP BY action`,
  );
  const of = (action: StoredRule['action']): RuleCount => {
    const { total = 0, enabled = 0 } = rows.find((row) => row.action === action) ?? {};
    return { total, enabled };
  };
  return { allow: of('allow'), deny: of('deny') };
}

/** One rule; throws 404 if it does not exist. */
export async function readRule(db: Queryable, of: RuleTableName, id: number): Promise<StoredRule> {
  const { rows } = await db.query<RuleRow>(`SELECT ${columns(of)} FROM ${of.table} WHERE id = $1`, [id]);
  return toRule(existing(rows[0], of, id));
}

/** Stores a new rule; throws 409 if it already exists, 400 for an unknown group. */
export async function insertRule(db: Queryable, of: RuleTableName, rule: RuleFields): Promise<StoredRule> {
  const text = `INSERT INTO ${of.table} (name, ${of.matches}, action, group_id, comment, enabled)
    VALUES ($1, $2, $3, $4, $5, $6) RETURNING ${columns(of)}`;
  const values = [rule.name, rule.text, rule.action, rule.group_id, rule.comment, rule.enabled];
  const { rows } = await refusingBadRules(of, () => db.query<RuleRow>(text, values));
  return toRule(rows[0]!);
}

/**
 * Changes the given fields; throws 404 for an unknown id, 409 if the rule already exists, or 400 for an unknown group.
 */
export async function updateRule(
  db: Queryable,
  of: RuleTableName,
  id: number,
  change: RuleChange,
): Promise<StoredRule> {
  const text = `UPDATE ${of.table} SET name = coalesce($2, name), ${of.matches} = coalesce($3, ${of.matches}),
    action = coalesce($4, action), group_id = CASE WHEN $5 THEN $6::integer ELSE group_id END,
    comment = coalesce($7, comment), enabled = coalesce($8, enabled), updated_at = now()
    WHERE id = $1 RETURNING ${columns(of)}`;
  const { name, text: matches, action, group_id: groupId, comment, enabled } = change;
  const values = [id, name, matches, action, groupId !== undefined, groupId, comment, enabled];
  const { rows } = await refusingBadRules(of, () => db.query<RuleRow>(text, values));
  return toRule(existing(rows[0], of, id));
}

/** Deletes a rule and returns its last state; throws 404 if it does not exist. */
export async function deleteRule(db: Queryable, of: RuleTableName, id: number): Promise<StoredRule> {
  const text = `DELETE FROM ${of.table} WHERE id = $1 RETURNING ${columns(of)}`;
  const { rows } = await db.query<RuleRow>(text, [id]);
  return toRule(existing(rows[0], of, id));
}

/** Stores new rules in order. If a rule already exists, it is skipped, and a fault is added for it. */
export async function insertRules(
  db: Queryable,
  of: RuleTableName,
  rules: readonly RuleFields[],
  faults: RowFaults,
): Promise<StoredRule[]> {
  const keyOf = ({ text, action, group_id: groupId }: RuleFields): string =>
    `${text} ${action} ${groupId ?? ''}`;
  faults.repeated(rules.map(keyOf), of.matches);
  await noteUnknownGroups(db, rules, faults);
  faults.throwIfAny();
  const text = `INSERT INTO ${of.table} (name, ${of.matches}, action, group_id, comment, enabled)
    SELECT name, text, action, group_id, comment, enabled FROM ROWS FROM (jsonb_to_recordset($1::jsonb)
      AS (name text, text text, action text, group_id integer, comment text, enabled boolean))
      WITH ORDINALITY AS v (name, text, action, group_id, comment, enabled, place) ORDER BY place
    ON CONFLICT DO NOTHING RETURNING ${columns(of)}`;
  const { rows } = await db.query<RuleRow>(text, [JSON.stringify(rules)]);
  const stored = new Map(rows.map((row) => [keyOf(row), toRule(row)]));
  for (const [index, rule] of rules.entries())
    if (!stored.has(keyOf(rule)))
      faults.conflict(`create.${index}.${of.matches}`, `already has a ${of.noun} with this action and group`);
  return rules.flatMap((rule) => stored.get(keyOf(rule)) ?? []);
}

/** Deletes rules; adds a fault for each unknown id. */
export async function deleteRules(
  db: Queryable,
  of: RuleTableName,
  ids: readonly number[],
  faults: RowFaults,
): Promise<void> {
  const text = `DELETE FROM ${of.table} WHERE id = ANY($1::integer[]) RETURNING id`;
  const { rows } = await db.query<{ id: number }>(text, [ids]);
  faults.missing(
    ids,
    rows.map(({ id }) => id),
  );
}

function existing(row: RuleRow | undefined, { noun }: RuleTableName, id: number): RuleRow {
  if (row === undefined) throw notFound(`${noun} ${id}`);
  return row;
}

async function refusingBadRules<T>(of: RuleTableName, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isUniqueViolation(error, `${of.table}_rule_key`))
      throw conflict(`a ${of.noun} with this ${of.matches}, action and group already exists`);
    if (isForeignKeyViolation(error)) throw unknownReference('group_id', 'group');
    throw error;
  }
}

function toRule(row: RuleRow): StoredRule {
  return { ...row, created_at: row.created_at.toISOString(), updated_at: row.updated_at.toISOString() };
}
