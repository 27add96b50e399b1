/**
 * Rows of a table in some ranges, asked for again and again. PostgreSQL sends the rows that came or changed since the last
 * time, and a digest of all others. Only if that is the digest of the rows that are known are they still the ones that are
 * there; else all are read. So a row that was removed, a restored database or another server cost time and nothing else.
 */
import type { Queryable } from '../../db/database.ts';

/** What is read of a table. */
export interface TableRows<Row> {
  readonly table: string;
  /** Columns that `values` needs. */
  readonly columns: string;
  /** What is read of a row, in SQL; it comes as JSON. `$1` is '0' where all rows are read. */
  readonly values: readonly string[];
  /** A bigint that is another one for each row, and once the row has changed. */
  readonly digest: string;
  /** What a row still has once it has changed, and no other one has. */
  readonly keyOf: (row: Row) => string;
  readonly toRow: (values: readonly unknown[], digest: string) => Row;
}

/** Rows of a table. */
export interface RowRange<Row> {
  /** A condition; `put` gives the name of a parameter. */
  readonly sql: (put: (value: unknown) => string) => string;
  /** The same condition on a row that was read. */
  readonly holds: (row: Row) => boolean;
}

interface KnownRow<Row> {
  readonly row: Row;
  /** `keyOf()` */
  readonly key: string;
  /** Place of its range. */
  readonly range: number;
  /** A transaction that was under way at the last reading, or began after it, may have written it: it is read again. */
  readonly isRecent: boolean;
  readonly digest: Digest;
}

/** Halves of 64 bits. */
type Digest = readonly [number, number];

interface Reading<Row> {
  /** The oldest transaction under way. */
  readonly since: string;
  readonly changed: KnownRow<Row>[];
  /** All other rows. */
  readonly same: { readonly count: number; readonly digest: Digest };
}

interface Answer {
  readonly since: string;
  readonly total: number;
  readonly same: number;
  readonly digest: string | null;
  readonly changed: [range: number, isRecent: boolean, digest: string, ...values: unknown[]][] | null;
}

/** Most rows. */
const MOST_ROWS = 4096;
/** Readings for which rows that were too many are not asked for. */
const READINGS_LEFT_OUT = 16;
/** Every row was written after it. */
const FIRST = '0';

/** The rows of one table. One reading at a time. */
export class ChangedRows<Row> {
  private readonly table: TableRows<Row>;
  private readonly mostRows: number;
  private known: readonly KnownRow<Row>[] = [];
  private since = FIRST;
  private readingsToLeaveOut = 0;

  constructor(table: TableRows<Row>, mostRows = MOST_ROWS) {
    this.table = table;
    this.mostRows = mostRows;
  }

  /** The rows of each range, in no order; null if there are too many, or were a short while ago. */
  async read(tx: Queryable, ranges: readonly RowRange<Row>[]): Promise<Row[][] | null> {
    if (ranges.length === 0) return [];
    if (this.readingsToLeaveOut > 0) {
      this.readingsToLeaveOut--;
      return null;
    }
    let reading = await this.ask(tx, ranges, this.since);
    let same = reading === null ? [] : this.unchanged(reading, ranges);
    if (reading !== null && !isSame(same, reading)) {
      reading = await this.ask(tx, ranges, FIRST);
      same = [];
    }
    this.known = reading === null ? [] : [...same, ...reading.changed];
    this.since = reading?.since ?? FIRST;
    if (reading === null) this.readingsToLeaveOut = READINGS_LEFT_OUT;
    return reading === null ? null : this.byRange(ranges.length);
  }

  /** The known rows that should be there as they were. */
  private unchanged({ changed }: Reading<Row>, ranges: readonly RowRange<Row>[]): KnownRow<Row>[] {
    const written = new Set(changed.map(({ key }) => key));
    const same: KnownRow<Row>[] = [];
    for (const known of this.known) {
      if (known.isRecent || written.has(known.key)) continue;
      for (let range = 0; range < ranges.length; range++)
        if (ranges[range]!.holds(known.row)) same.push(range === known.range ? known : { ...known, range });
    }
    return same;
  }

  private byRange(count: number): Row[][] {
    const rows = Array.from({ length: count }, (): Row[] => []);
    for (const { row, range } of this.known) rows[range]!.push(row);
    return rows;
  }

  /** What changed since a transaction; null if there are too many rows. */
  private async ask(
    tx: Queryable,
    ranges: readonly RowRange<Row>[],
    since: string,
  ): Promise<Reading<Row> | null> {
    const { text, values } = this.statement(ranges, since);
    const [answer] = (await tx.query<Answer>(text, values)).rows;
    const { total, same, changed } = answer!;
    if (total > this.mostRows) return null;
    return {
      since: answer!.since,
      same: { count: same, digest: toDigest(answer!.digest ?? '0') },
      changed: (changed ?? []).map(([range, isRecent, digest, ...rest]) => {
        const row = this.table.toRow(rest, digest);
        return { row, key: this.table.keyOf(row), range, isRecent, digest: toDigest(digest) };
      }),
    };
  }

  /** By the age of the transaction that wrote it: of a row that was there long PostgreSQL does not know it any more. */
  private statement(
    ranges: readonly RowRange<Row>[],
    since: string,
  ): { text: string; values: readonly unknown[] } {
    const { table, columns, values: columnValues, digest } = this.table;
    const values: unknown[] = [since];
    const put = (value: unknown): string => `$${values.push(value)}`;
    const selects = ranges.map(
      ({ sql }, range) =>
        `SELECT ${range} AS range, age(xmin) AS age, ${digest} AS digest, ${columns} FROM ${table} WHERE ${sql(put)}`,
    );
    const oldest = 'pg_snapshot_xmin(pg_current_snapshot())::xid';
    const changed = ['range', `age <= (SELECT age(${oldest}))`, 'digest::text', ...columnValues];
    const isNew = 'age <= (SELECT age($1::text::xid))';
    const text = `SELECT ${oldest}::text AS since, count(*)::integer AS total,
         count(*) FILTER (WHERE NOT ${isNew})::integer AS same,
         (bit_xor(digest) FILTER (WHERE NOT ${isNew}))::text AS digest,
         json_agg(json_build_array(${changed.join(', ')})) FILTER (WHERE ${isNew}) AS changed
       FROM (SELECT * FROM (${selects.join('\nUNION ALL ')}) AS found LIMIT ${this.mostRows + 1}) AS bounded`;
    return { text, values };
  }
}

function isSame(known: readonly KnownRow<unknown>[], { same }: Reading<unknown>): boolean {
  let [high, low] = [0, 0];
  for (const { digest } of known) {
    high ^= digest[0];
    low ^= digest[1];
  }
  return known.length === same.count && high === same.digest[0] && low === same.digest[1];
}

function toDigest(text: string): Digest {
  const value = BigInt(text);
  return [Number(BigInt.asIntN(32, value >> 32n)), Number(BigInt.asIntN(32, value))];
}
