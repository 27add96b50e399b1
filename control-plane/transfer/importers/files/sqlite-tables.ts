/**
 * Reads tables of an untrusted SQLite database, up to fixed limits. Views, virtual tables and generated columns are
 * refused, because they would execute content of the file. Only this file imports node:sqlite, which is synchronous, so
 * it must run in a thread.
 */
import { writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { reasonOf } from '../../../../shared/errors.ts';
import { importFault, ImportFault } from './import-fault.ts';

/** A row by column. */
export type SqliteRow = Readonly<Record<string, unknown>>;

/** Maximum number of rows of a table, and of bytes of one value. */
const MAX_ROWS = 200_000;
const MAX_VALUE_LENGTH = 65_536;
/** Offsets of the header bytes that are 2 if the database has a write-ahead log, which an upload does not contain. */
const JOURNAL_AT = [18, 19] as const;

/** The tables of one database. */
export class SqliteTables {
  private readonly database: DatabaseSync;
  private readonly name: string;

  /**
   * Writes the database to a new file at `path`, which the caller deletes; throws an ImportFault, as do all methods.
   */
  constructor(name: string, content: Buffer, path: string) {
    this.name = name;
    const copy = Buffer.from(content);
    for (const at of JOURNAL_AT) if (copy[at] === 2) copy[at] = 1;
    writeFileSync(path, copy, { mode: 0o600, flag: 'wx' });
    this.database = this.guarded(() => new DatabaseSync(path, { readOnly: true, allowExtension: false }));
    this.guarded(() => this.database.exec('PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON'));
  }

  /** The rows of a table with these columns; a missing column is absent. Undefined if there is no such table. */
  rows(table: string, columns: readonly string[]): SqliteRow[] | undefined {
    return this.guarded(() => {
      const known = this.columnsOf(table);
      if (known === undefined) return undefined;
      const wanted = columns.filter((column) => known.has(column));
      if (wanted.length === 0) return [];
      const rows: SqliteRow[] = [];
      const list = wanted.map((column) => `"${column}"`).join(', ');
      for (const row of this.database.prepare(`SELECT ${list} FROM "${table}"`).iterate()) {
        if (rows.length >= MAX_ROWS) throw importFault('table_rows', { file: this.name, table });
        for (const value of Object.values(row)) this.refuseLong(value, table);
        rows.push(row);
      }
      return rows;
    });
  }

  close(): void {
    this.database.close();
  }

  private columnsOf(table: string): ReadonlySet<string> | undefined {
    const found = this.database
      .prepare(`SELECT type, rootpage FROM sqlite_schema WHERE name = ? COLLATE NOCASE`)
      .get(table);
    if (found === undefined) return undefined;
    // A virtual table has no root page in the file.
    if (found['type'] !== 'table' || Number(found['rootpage']) <= 0) throw this.odd(table);
    const columns = this.database.prepare(`SELECT name, hidden FROM pragma_table_xinfo(?)`).all(table);
    if (columns.some(({ hidden }) => hidden !== 0)) throw this.odd(table);
    return new Set(columns.map(({ name }) => String(name)));
  }

  private odd(table: string): ImportFault {
    return importFault('table_odd', { file: this.name, table });
  }

  private refuseLong(value: unknown, table: string): void {
    const length = typeof value === 'string' || value instanceof Uint8Array ? value.length : 0;
    if (length > MAX_VALUE_LENGTH) throw importFault('table_long', { file: this.name, table });
  }

  private guarded<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      if (error instanceof ImportFault) throw error;
      throw importFault('file_damaged', { file: this.name, reason: reasonOf(error) });
    }
  }
}
