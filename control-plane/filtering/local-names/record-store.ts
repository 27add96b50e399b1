/** SQL of `local_records`. */
import type { LocalRecordType } from '../../../shared/policy/local-record.ts';
import { conflict, notFound } from '../../api/api-error.ts';
import type { RowFaults } from '../../api/row-faults.ts';
import { isUniqueViolation } from '../../storage/db/database-errors.ts';
import type { Queryable } from '../../storage/db/database.ts';

/** The writable fields of a record. */
export interface RecordFields {
  /** Part of `fqdn` before `domain`. */
  readonly hostname: string;
  /** Domain of the name; '' = none. */
  readonly domain: string;
  readonly fqdn: string;
  readonly record_type: LocalRecordType;
  /** Value in canonical form. */
  readonly value: string;
  /** In seconds. */
  readonly ttl: number;
  readonly comment: string;
}

/** A record as it is stored. */
export interface StoredRecord extends RecordFields {
  readonly id: number;
  readonly created_at: string;
  readonly updated_at: string;
}

interface RecordRow extends RecordFields {
  readonly id: number;
  readonly created_at: Date;
  readonly updated_at: Date;
}

const FIELDS = 'hostname, domain, fqdn, record_type, value, ttl, comment';
const COLUMNS = `id, ${FIELDS}, created_at, updated_at`;

/** All records, oldest first, which is their order of precedence. */
export async function listRecords(db: Queryable): Promise<StoredRecord[]> {
  const { rows } = await db.query<RecordRow>(`SELECT ${COLUMNS} FROM local_records ORDER BY id`);
  return rows.map(toRecord);
}

/** One record; throws 404 if it does not exist. */
export async function findRecord(db: Queryable, id: number): Promise<StoredRecord> {
  const { rows } = await db.query<RecordRow>(`SELECT ${COLUMNS} FROM local_records WHERE id = $1`, [id]);
  return existing(rows[0], id);
}

/** Stores a new record; throws 409 if it already exists. */
export async function insertRecord(db: Queryable, record: RecordFields): Promise<StoredRecord> {
  const text = `INSERT INTO local_records (${FIELDS}) VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING ${COLUMNS}`;
  const { rows } = await refusingDuplicates(() => db.query<RecordRow>(text, valuesOf(record)));
  return toRecord(rows[0]!);
}

/** Replaces a record; throws 404 for an unknown id, or 409 if it already exists. */
export async function replaceRecord(db: Queryable, id: number, record: RecordFields): Promise<StoredRecord> {
  const text = `UPDATE local_records SET hostname = $1, domain = $2, fqdn = $3, record_type = $4, value = $5,
    ttl = $6, comment = $7, updated_at = now() WHERE id = $8 RETURNING ${COLUMNS}`;
  const { rows } = await refusingDuplicates(() => db.query<RecordRow>(text, [...valuesOf(record), id]));
  return existing(rows[0], id);
}

/** Deletes a record and returns its last state; throws 404 if it does not exist. */
export async function deleteRecord(db: Queryable, id: number): Promise<StoredRecord> {
  const { rows } = await db.query<RecordRow>(`DELETE FROM local_records WHERE id = $1 RETURNING ${COLUMNS}`, [
    id,
  ]);
  return existing(rows[0], id);
}

/** Stores new records in order. If a record already exists, it is skipped, and a fault is added for it. */
export async function insertRecords(
  db: Queryable,
  records: readonly RecordFields[],
  faults: RowFaults,
): Promise<StoredRecord[]> {
  const keyOf = ({ fqdn, record_type: type, value }: RecordFields): string => `${fqdn} ${type} ${value}`;
  faults.repeated(records.map(keyOf), 'value');
  faults.throwIfAny();
  const text = `INSERT INTO local_records (${FIELDS}) SELECT ${FIELDS} FROM ROWS FROM (jsonb_to_recordset($1::jsonb)
      AS (hostname text, domain text, fqdn text, record_type text, value text, ttl integer, comment text))
      WITH ORDINALITY AS v (${FIELDS}, place) ORDER BY place ON CONFLICT DO NOTHING RETURNING ${COLUMNS}`;
  const { rows } = await db.query<RecordRow>(text, [JSON.stringify(records)]);
  const stored = new Map(rows.map((row) => [keyOf(row), toRecord(row)]));
  for (const [index, record] of records.entries())
    if (!stored.has(keyOf(record)))
      faults.conflict(
        `create.${index}.value`,
        'a local record with this name, type and value already exists',
      );
  return records.flatMap((record) => stored.get(keyOf(record)) ?? []);
}

/** Deletes records; adds a fault for each unknown id. */
export async function deleteRecords(db: Queryable, ids: readonly number[], faults: RowFaults): Promise<void> {
  const text = 'DELETE FROM local_records WHERE id = ANY($1::integer[]) RETURNING id';
  const { rows } = await db.query<{ id: number }>(text, [ids]);
  faults.missing(
    ids,
    rows.map(({ id }) => id),
  );
}

function valuesOf(record: RecordFields): unknown[] {
  const { hostname, domain, fqdn, record_type: type, value, ttl, comment } = record;
  return [hostname, domain, fqdn, type, value, ttl, comment];
}

function existing(row: RecordRow | undefined, id: number): StoredRecord {
  if (row === undefined) throw notFound(`local record ${id}`);
  return toRecord(row);
}

async function refusingDuplicates<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isUniqueViolation(error, 'local_records_record_key'))
      throw conflict('a local record with this name, type and value already exists');
    throw error;
  }
}

function toRecord(row: RecordRow): StoredRecord {
  return { ...row, created_at: row.created_at.toISOString(), updated_at: row.updated_at.toISOString() };
}
