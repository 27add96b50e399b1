/**
 * Batches on disk while the database is away: one file each under `<data_dir>/spool`, readable by Weir
 * only, oldest first, bounded. A file is whole or it is not there; one that was damaged is dropped.
 */
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { LogBatch } from './log-batch.ts';

/** What opening or adding threw away, in rows. */
export interface SpoolOutcome {
  readonly droppedRows: number;
}

/** A batch that waits on disk. */
export interface SpooledBatch {
  readonly name: string;
  readonly rowCount: number;
  /** null when the file was damaged. */
  readonly batch: LogBatch | null;
}

interface SpoolFile {
  readonly name: string;
  readonly sizeBytes: number;
  readonly rowCount: number;
}

/** First line of a file; the rows follow it. */
interface SpoolHeader {
  readonly id: string;
  readonly rowCount: number;
  readonly days: readonly number[];
  readonly crc32: number;
}

/** `<sequence>-<rows>-<batch id>.rows` */
const FILE_NAME = /^(\d{12})-(\d+)-[0-9a-f-]{36}\.rows$/;

/** The spool of one node. Calls must not overlap; `LogWriter` keeps them in line. */
export class LogSpool {
  readonly #dir: string;
  readonly #maxBytes: number;
  #files: SpoolFile[] = [];
  #sizeBytes = 0;
  #sequence = 0;

  constructor(dir: string, maxBytes: number) {
    this.#dir = dir;
    this.#maxBytes = maxBytes;
  }

  /** Batches on disk. */
  get fileCount(): number {
    return this.#files.length;
  }

  /** Finds what an earlier run left and removes what it did not finish. */
  async open(): Promise<void> {
    await mkdir(this.#dir, { recursive: true, mode: 0o700 });
    for (const name of (await readdir(this.#dir)).sort()) {
      const parts = FILE_NAME.exec(name);
      if (parts === null) {
        if (name.endsWith('.new')) await rm(join(this.#dir, name), { force: true });
        continue;
      }
      const { size } = await stat(join(this.#dir, name));
      this.#files.push({ name, sizeBytes: size, rowCount: Number(parts[2]) });
      this.#sizeBytes += size;
      this.#sequence = Number(parts[1]);
    }
  }

  /** Writes a batch; the oldest ones make room. Rejects when the disk does not take it. */
  async add(batch: LogBatch): Promise<SpoolOutcome> {
    const header: SpoolHeader = {
      id: batch.id,
      rowCount: batch.rowCount,
      days: batch.days,
      crc32: crc32(batch.bytes),
    };
    await mkdir(this.#dir, { recursive: true, mode: 0o700 });
    const head = Buffer.from(`${JSON.stringify(header)}\n`);
    const sizeBytes = head.length + batch.bytes.length;
    const droppedRows = await this.#makeRoom(sizeBytes);
    const sequence = String(++this.#sequence).padStart(12, '0');
    const name = `${sequence}-${batch.rowCount}-${batch.id}.rows`;
    const path = join(this.#dir, name);
    try {
      const file = await open(`${path}.new`, 'w', 0o600);
      try {
        await file.writev([head, batch.bytes]);
      } finally {
        await file.close();
      }
      await rename(`${path}.new`, path);
    } catch (error) {
      await rm(`${path}.new`, { force: true });
      throw error;
    }
    this.#files.push({ name, sizeBytes, rowCount: batch.rowCount });
    this.#sizeBytes += sizeBytes;
    return { droppedRows };
  }

  /** The batch that has waited longest. */
  async oldest(): Promise<SpooledBatch | undefined> {
    const file = this.#files[0];
    if (file === undefined) return undefined;
    const batch = parseFile(await readFile(join(this.#dir, file.name)));
    return { name: file.name, rowCount: file.rowCount, batch };
  }

  /** Removes a batch: it is in the database, or beyond help. */
  async remove(name: string): Promise<void> {
    const at = this.#files.findIndex((file) => file.name === name);
    if (at < 0) return;
    const [file] = this.#files.splice(at, 1);
    this.#sizeBytes -= file?.sizeBytes ?? 0;
    await rm(join(this.#dir, name), { force: true });
  }

  async #makeRoom(sizeBytes: number): Promise<number> {
    let droppedRows = 0;
    while (this.#files.length > 0 && this.#sizeBytes + sizeBytes > this.#maxBytes) {
      droppedRows += this.#files[0]!.rowCount;
      await this.remove(this.#files[0]!.name);
    }
    return droppedRows;
  }
}

function parseFile(content: Buffer): LogBatch | null {
  const end = content.indexOf(0x0a);
  if (end < 0) return null;
  try {
    const header = JSON.parse(content.toString('utf8', 0, end)) as SpoolHeader;
    const bytes = content.subarray(end + 1);
    if (crc32(bytes) !== header.crc32) return null;
    return { id: header.id, rowCount: header.rowCount, days: header.days, bytes };
  } catch {
    return null; // Not what was written there: the disk or somebody changed it.
  }
}
