/** `weir restore --full`: restores the database of a full copy to an empty data directory. */
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { escapeIdentifier } from 'pg';
import type { ClientBase } from 'pg';
import { CopiedFile, CopiedTable, CopyHead } from '../../../../shared/api/client/full-copy-api.ts';
import type { Logger } from '../../../../shared/log.ts';
import { copyRowsIn } from '../copy/copy-stream.ts';
import { listTables } from '../major/relations.ts';
import { migrate, refuseOldMigrations } from '../migrate.ts';
import { writeDurably } from '../../../host/files/durable-file.ts';
import { DamagedCopy, FRAME, readFrames, readJson } from './row-frames.ts';
import type { Frame } from './row-frames.ts';
import { existsSync, renameSync, rmSync } from 'node:fs';
import { syncFolder } from '../../../host/files/durable-file.ts';
import { newPassword, writePassword } from '../embedded-cluster.ts';
import { nextOf } from '../major/cluster-folders.ts';
import { ROLE } from '../postgres/postgres-address.ts';
import { createCluster, syncCluster } from '../postgres/postgres-cluster.ts';
import { openPostgresHome } from '../postgres/postgres-home.ts';
import { findPostgresPackage, prepareRuntime } from '../postgres/postgres-runtime.ts';
import { useServer } from '../postgres/start-server.ts';

/** Source and target of a restore. */
export interface RestoreFullTask {
  readonly file: string;
  /** Data directory, which the caller has locked. */
  readonly dataDir: string;
  readonly logger: Logger;
  /** Called before each table. */
  readonly report: (table: string) => void;
}

/** Restores the copy. The whole file is checked first; a failure leaves the directory without a database. */
export async function restoreFullCopy({ file, dataDir, logger, report }: RestoreFullTask): Promise<CopyHead> {
  const head = await checkedHead(file);
  const files: CopiedFile[] = [];
  await createFilledCluster(dataDir, logger, async (client) => {
    await migrateTo(client, head, logger);
    await client.query('BEGIN; SET LOCAL session_replication_role = replica');
    const tables = await listTables(client);
    await client.query(`TRUNCATE ${tables.map(({ name }) => escapeIdentifier(name)).join(', ')}`);
    await storeFrames(client, readFrames(file), { files, report });
    // The claim that is in the copy must not keep the restored node from using its name.
    await client.query('UPDATE nodes SET run = NULL');
    await client.query('COMMIT');
    await migrate(client, logger);
    await client.query('ANALYZE');
  });
  for (const { path, base64 } of files) {
    const place = join(dataDir, path);
    await mkdir(dirname(place), { recursive: true, mode: 0o700 });
    await writeDurably(place, Buffer.from(base64, 'base64'));
  }
  return head;
}

/** Reads and checks the whole file. @throws {DamagedCopy} */
async function checkedHead(file: string): Promise<CopyHead> {
  let head: CopyHead | undefined;
  for await (const frame of readFrames(file)) if (frame.type === FRAME.head) head = readJson(CopyHead, frame);
  if (head === undefined) throw new DamagedCopy(`${file} is not a full copy`);
  return head;
}

/**
 * Creates the schema as it was when the copy was made. After the rows are restored, the schema is upgraded to that of
 * this release.
 */
async function migrateTo(client: ClientBase, { migrations, weir }: CopyHead, logger: Logger): Promise<void> {
  refuseOldMigrations('the copy', migrations);
  await migrate(client, logger, { count: migrations.length });
  const { rows } = await client.query<{ name: string }>('SELECT name FROM schema_migrations ORDER BY id');
  const missing = migrations.find((name, at) => rows[at]?.name !== name);
  if (missing !== undefined)
    throw new Error(
      `the copy was created by Weir ${weir}, whose migration ${missing} is unknown to this version: install that version`,
    );
}

/**
 * Patterns of the texts in a copy that are used as SQL. They are checked, because anyone can create a file with a
 * correct checksum.
 */
const SHAPES = {
  route: /^"\w+" \("\w+"(?:, "\w+")*\)$/,
  bound: /^(?:DEFAULT|FOR VALUES FROM \('?[\w :.+-]*'?\) TO \('?[\w :.+-]*'?\))$/,
  sequences: /^(?:SELECT setval\('\w+', -?\d+, '[tf]'\);\n?)*$/,
} as const;

function refuseOther(what: keyof typeof SHAPES, text: string): void {
  if (!SHAPES[what].test(text)) throw new DamagedCopy(`the copy has an invalid ${what}`);
}

async function storeFrames(
  client: ClientBase,
  frames: AsyncGenerator<Frame>,
  { files, report }: { files: CopiedFile[]; report: (table: string) => void },
): Promise<void> {
  let next = await frames.next();
  const rows = async function* (): AsyncGenerator<Buffer> {
    for (next = await frames.next(); next.done !== true; next = await frames.next()) {
      if (next.value.type !== FRAME.data) return;
      yield next.value.payload;
    }
  };
  while (next.done !== true) {
    const frame = next.value;
    if (frame.type === FRAME.table) {
      const table = readJson(CopiedTable, frame);
      refuseOther('route', table.route);
      report(table.name);
      if (table.parent !== undefined) await makePartition(client, table);
      await copyRowsIn(client, table.route, rows());
      continue;
    }
    if (frame.type === FRAME.sequences) {
      const sql = frame.payload.toString();
      refuseOther('sequences', sql);
      await client.query(sql);
    } else if (frame.type === FRAME.file) files.push(readJson(CopiedFile, frame));
    next = await frames.next();
  }
}

async function makePartition(client: ClientBase, { name, parent, bound }: CopiedTable): Promise<void> {
  refuseOther('bound', bound ?? '');
  await client.query(
    `CREATE TABLE IF NOT EXISTS ${escapeIdentifier(name)} PARTITION OF ${escapeIdentifier(parent!)} ${bound!}`,
  );
}

/** Error: the data directory already has a database. */
export class NotEmpty extends Error {
  override readonly name = 'NotEmpty';
}

/**
 * Settings without durability while a cluster is being filled: the whole cluster is flushed to disk before it is used.
 */
const UNSAFE = { fsync: 'off', full_page_writes: 'off' } as const;

/**
 * Fills a cluster next to its final location, and moves it there at the end: after a failure, the directory contains no
 * cluster.
 */
export async function createFilledCluster(
  dataDir: string,
  logger: Logger,
  fill: (client: ClientBase) => Promise<void>,
): Promise<void> {
  const source = findPostgresPackage();
  const home = openPostgresHome(dataDir);
  if (existsSync(home.cluster))
    throw new NotEmpty(
      `${home.cluster} exists: a full copy is restored into an empty data directory; move ${dataDir} away first`,
    );
  const runtime = prepareRuntime(source, home.account, home.dir);
  const next = nextOf(home);
  rmSync(next.cluster, { recursive: true, force: true });
  const password = newPassword();
  const { signal } = new AbortController();
  const task = { home: next, runtime, role: ROLE, password, signal, logger };
  try {
    await createCluster(task);
    await useServer({ ...task, settings: UNSAFE }, fill);
    await syncCluster(task);
    writePassword(dataDir, password);
    renameSync(next.cluster, home.cluster);
  } catch (error) {
    rmSync(next.cluster, { recursive: true, force: true });
    throw error;
  }
  await syncFolder(home.dir);
}
