/**
 * Rows of the log as a Parquet file for other tools: DuckDB, pandas, polars, ClickHouse. A row group is written as soon
 * as it is full, so that an export needs only a few hundred bytes of memory per earlier row group.
 */
import { ByteWriter, type ColumnSource, ParquetWriter, type SchemaElement } from 'hyparquet-writer';
import type { LoggedQuery } from '../../../shared/api/query-log-api.ts';

/** Number of rows in a row group. */
const GROUP_ROWS = 20_000;

type Cell = ColumnSource['data'][number];

/** How a field is stored. */
interface Column {
  readonly element: Omit<SchemaElement, 'name' | 'repetition_type'>;
  readonly isNullable?: true;
  readonly cellOf: (row: LoggedQuery) => Cell;
}

const TEXT = { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } } as const;

function text(field: keyof LoggedQuery): Column {
  return { element: TEXT, cellOf: (row) => row[field] };
}

function nullableText(field: keyof LoggedQuery): Column {
  return { ...text(field), isNullable: true };
}

const COLUMNS: Readonly<Record<keyof LoggedQuery, Column>> = {
  id: { element: { type: 'INT64' }, cellOf: ({ id }) => BigInt(id) },
  timestamp: {
    element: {
      type: 'INT64',
      converted_type: 'TIMESTAMP_MILLIS',
      logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
    },
    cellOf: ({ timestamp }) => new Date(timestamp),
  },
  node: text('node'),
  client: text('client'),
  client_hostname: nullableText('client_hostname'),
  group_id: { element: { type: 'INT32' }, cellOf: (row) => row.group_id },
  domain: text('domain'),
  type: text('type'),
  protocol: text('protocol'),
  status: text('status'),
  block_source: nullableText('block_source'),
  block_rule: nullableText('block_rule'),
  rcode: text('rcode'),
  response_time_us: { element: { type: 'INT64' }, cellOf: (row) => BigInt(row.response_time_us) },
  cached: { element: { type: 'BOOLEAN' }, cellOf: ({ cached }) => cached },
  upstream: nullableText('upstream'),
  dnssec_status: text('dnssec_status'),
  // Stored as JSON, like in CSV, because the records of an answer do not have their own columns.
  answers: {
    element: TEXT,
    isNullable: true,
    cellOf: ({ answers }) => (answers === null ? null : JSON.stringify(answers)),
  },
  repeats: { element: { type: 'INT64' }, cellOf: ({ repeats }) => BigInt(repeats) },
  client_id: { element: { type: 'INT32' }, isNullable: true, cellOf: (row) => row.client_id },
  block_alias: nullableText('block_alias'),
  answer_type: nullableText('answer_type'),
  extended_error: { element: { type: 'INT32' }, isNullable: true, cellOf: (row) => row.extended_error },
  decision_origin: nullableText('decision_origin'),
};

/** A file that is being written. */
export class ParquetExport {
  private readonly bytes = new ByteWriter();
  private readonly writer = new ParquetWriter({ writer: this.bytes, schema: schema(), createdBy: 'weir' });
  private rows: LoggedQuery[] = [];

  /** Adds rows; returns the bytes that can already be sent. */
  add(rows: readonly LoggedQuery[]): Uint8Array {
    this.rows.push(...rows);
    if (this.rows.length >= GROUP_ROWS) this.writeGroup();
    return this.takeBytes();
  }

  /** The rest of the file. */
  end(): Uint8Array {
    if (this.rows.length > 0) this.writeGroup();
    void this.writer.finish(); // Must only be awaited if the writer flushes to a file, which this one does not.
    return this.takeBytes();
  }

  private writeGroup(): void {
    const { rows } = this;
    this.rows = [];
    const columnData = Object.entries(COLUMNS).map(([name, { isNullable = false, cellOf }]) => ({
      name,
      data: rows.map(cellOf),
      nullable: isNullable,
      offsetIndex: false,
    }));
    void this.writer.write({ columnData, rowGroupSize: rows.length });
  }

  /** Removes and returns the bytes written so far; the writer continues to count offsets from the start of the file. */
  private takeBytes(): Uint8Array {
    const bytes = this.bytes.getBytes().slice();
    this.bytes.index = 0;
    return bytes;
  }
}

function schema(): SchemaElement[] {
  const columns = Object.entries(COLUMNS);
  return [
    { name: 'root', num_children: columns.length },
    ...columns.map(([name, { element, isNullable }]): SchemaElement => ({
      ...element,
      name,
      repetition_type: isNullable === true ? 'OPTIONAL' : 'REQUIRED',
    })),
  ];
}
