/**
 * `weir backup --full`: a copy of the whole embedded database, including the query log, while Weir runs. All tables are
 * read in one snapshot, so the copy is consistent.
 */
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { escapeIdentifier } from 'pg';
import type { ClientBase } from 'pg';
import type { CopiedFile, CopiedTable, CopyHead } from '../../../../shared/api/client/full-copy-api.ts';
import { hasErrorCode } from '../../../../shared/errors.ts';
import { copyRowsOut } from '../copy/copy-stream.ts';
import { listPartitions, listTables, sequencesAsSql } from '../major/relations.ts';
import { streamDurably } from '../../../host/files/durable-file.ts';
import type { Frame } from './row-frames.ts';
import { FRAME, jsonFrame, writeFrames } from './row-frames.ts';

/** Source and target of a copy. */
export interface FullCopyTask {
  readonly client: ClientBase;
  readonly dataDir: string;
  readonly file: string;
  readonly weir: string;
  /** Called before each table. */
  readonly report: (progress: { at: number; of: number; table: string; sizeBytes: number }) => void;
}

const PRIVATE = 0o600;
/** Files of the data directory that are not in the database and are needed on another machine. */
const FILES: readonly CopiedFile['path'][] = ['tls/cert.pem', 'tls/key.pem'];

/** Writes the copy; returns its size in bytes. If it fails, no file remains. */
export async function makeFullCopy(task: FullCopyTask): Promise<number> {
  await streamDurably(task.file, writeFrames(framesOf(task)), PRIVATE);
  return (await stat(task.file)).size;
}

async function* framesOf({ client, dataDir, weir, report }: FullCopyTask): AsyncGenerator<Frame> {
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  const { rows } = await client.query<{ name: string }>('SELECT name FROM schema_migrations ORDER BY id');
  const migrations = rows.map(({ name }) => name);
  const created = new Date().toISOString();
  yield jsonFrame(FRAME.head, { weir, created_at: created, migrations } satisfies CopyHead);
  const tables: (CopiedTable & { sizeBytes: number })[] = [
    ...(await listTables(client)),
    ...(await listPartitions(client)),
  ];
  // The lock keeps days of the log from being deleted until the copy is complete.
  const names = tables.map(({ name }) => escapeIdentifier(name)).join(', ');
  await client.query(`LOCK TABLE ${names} IN ACCESS SHARE MODE`);
  for (const [index, { sizeBytes, ...table }] of tables.entries()) {
    report({ at: index + 1, of: tables.length, table: table.name, sizeBytes });
    yield jsonFrame(FRAME.table, table satisfies CopiedTable);
    for await (const payload of copyRowsOut(client, table.route)) yield { type: FRAME.data, payload };
  }
  yield { type: FRAME.sequences, payload: Buffer.from(await sequencesAsSql(client)) };
  await client.query('COMMIT');
  for (const path of FILES) {
    const bytes = await readIfThere(join(dataDir, path));
    if (bytes !== null)
      yield jsonFrame(FRAME.file, { path, base64: bytes.toString('base64') } satisfies CopiedFile);
  }
}

async function readIfThere(path: string): Promise<Buffer | null> {
  try {
    return await readFile(path);
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return null;
    throw error;
  }
}
