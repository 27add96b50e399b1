/**
 * Batches that wait on disk while the database is unavailable: files in `<data_dir>/spool`, readable only by Weir's
 * user, sent oldest first, with a limit on their total size. Batches are appended to a file until it is large enough,
 * so that a long outage leaves few files; each batch has a checksum, and truncated or damaged batches are skipped.
 */
import { mkdir, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { LogBatch } from './log-batch.ts';

/** The batches of one file. */
export interface SpooledFile {
  readonly name: string;
  readonly batches: readonly LogBatch[];
  /** True if a part of the file could not be read; the number of lost rows is unknown. */
  readonly isDamaged: boolean;
}

interface FileEntry {
  readonly name: string;
  sizeBytes: number;
  /** Number of rows in the file; null = unknown, because the file is from an earlier run. */
  rowCount: number | null;
}

/** Header line before the bytes of each batch. */
interface FrameHeader {
  readonly id: string;
  readonly rowCount: number;
  readonly sizeBytes: number;
  readonly crc32: number;
}

const FILE_NAME = /^(\d{12})\.blocks$/;
/** Size in bytes after which the next batch goes to a new file. */
const FULL_FILE_BYTES = 1024 * 1024;

/** The spool of one node. Calls must not overlap; `LogWriter` serialises them. */
export class LogSpool {
  private readonly dir: string;
  private readonly maxBytes: number;
  private readonly files: FileEntry[] = [];
  private sequence = 0;
  /** The file to which the next batch is appended, if any. */
  private growing: FileEntry | undefined;

  constructor(dir: string, maxBytes: number) {
    this.dir = dir;
    this.maxBytes = maxBytes;
  }

  /** Finds the files of an earlier run. */
  async open(): Promise<void> {
    await this.makeDir();
    for (const name of (await readdir(this.dir)).sort()) {
      const parts = FILE_NAME.exec(name);
      if (parts === null) continue;
      const { size } = await stat(join(this.dir, name));
      this.files.push({ name, sizeBytes: size, rowCount: null });
      this.sequence = Number(parts[1]);
    }
  }

  /**
   * Writes a batch; deletes the oldest files if space is needed. Resolves with the number of rows in the deleted files;
   * rejects if the batch cannot be written.
   */
  async add(batch: LogBatch): Promise<number> {
    const header = frameHeader(batch);
    const frameBytes = header.length + batch.bytes.length;
    const lostRows = await this.makeRoom(frameBytes);
    const file = await this.fileFor(frameBytes);
    const path = join(this.dir, file.name);
    try {
      await writeFile(path, [header, batch.bytes], { flag: 'a', mode: 0o600 });
    } catch (error) {
      // The incomplete batch is cut off, because batches after it could not be read.
      await truncate(path, file.sizeBytes).catch(() => this.giveUp(file));
      throw error;
    }
    file.sizeBytes += frameBytes;
    file.rowCount = (file.rowCount ?? 0) + batch.rowCount;
    return lostRows;
  }

  /** The oldest file. Later batches go to other files. */
  async oldest(): Promise<SpooledFile | undefined> {
    const file = this.files[0];
    if (file === undefined) return undefined;
    if (this.growing === file) this.growing = undefined;
    return this.read(file);
  }

  /** Deletes a file whose batches are stored or unusable. */
  async remove(name: string): Promise<void> {
    const at = this.files.findIndex((file) => file.name === name);
    if (at >= 0) this.files.splice(at, 1);
    if (this.growing?.name === name) this.growing = undefined;
    await rm(join(this.dir, name), { force: true });
  }

  private async read({ name }: FileEntry): Promise<SpooledFile> {
    return { name, ...parseFrames(await readFile(join(this.dir, name))) };
  }

  /** Stops appending to a file that cannot be written; forgets the file if it was never created. */
  private giveUp(file: FileEntry): void {
    this.growing = undefined;
    if (file.sizeBytes === 0) this.files.splice(this.files.indexOf(file), 1);
  }

  private async makeDir(): Promise<void> {
    await mkdir(this.dir, { recursive: true, mode: 0o700 });
  }

  private async fileFor(frameBytes: number): Promise<FileEntry> {
    if (this.growing !== undefined && this.growing.sizeBytes + frameBytes <= FULL_FILE_BYTES)
      return this.growing;
    await this.makeDir();
    const name = `${String(++this.sequence).padStart(12, '0')}.blocks`;
    this.growing = { name, sizeBytes: 0, rowCount: 0 };
    this.files.push(this.growing);
    return this.growing;
  }

  private async makeRoom(frameBytes: number): Promise<number> {
    let lostRows = 0;
    let sizeBytes = this.files.reduce((sum, file) => sum + file.sizeBytes, 0);
    for (let file = this.files[0]; file && sizeBytes + frameBytes > this.maxBytes; file = this.files[0]) {
      lostRows += file.rowCount ?? rowsOf((await this.read(file)).batches);
      sizeBytes -= file.sizeBytes;
      await this.remove(file.name);
    }
    return lostRows;
  }
}

function rowsOf(batches: readonly LogBatch[]): number {
  return batches.reduce((sum, { rowCount }) => sum + rowCount, 0);
}

/** The line before the bytes of a batch. */
export function frameHeader({ id, rowCount, bytes }: LogBatch): Buffer {
  const header: FrameHeader = { id, rowCount, sizeBytes: bytes.length, crc32: crc32(bytes) };
  return Buffer.from(`${JSON.stringify(header)}\n`);
}

/** The batches of a file up to its end or the first damage. */
function parseFrames(content: Buffer): { batches: LogBatch[]; isDamaged: boolean } {
  const batches: LogBatch[] = [];
  for (let at = 0; at < content.length;) {
    const header = parseHeader(content, at);
    if (header === null) return { batches, isDamaged: true };
    const start = content.indexOf(0x0a, at) + 1;
    const bytes = content.subarray(start, start + header.sizeBytes);
    if (crc32(bytes) !== header.crc32) return { batches, isDamaged: true };
    batches.push({ id: header.id, rowCount: header.rowCount, bytes });
    at = start + header.sizeBytes;
  }
  return { batches, isDamaged: false };
}

function parseHeader(content: Buffer, at: number): FrameHeader | null {
  const end = content.indexOf(0x0a, at);
  if (end < 0) return null;
  try {
    return JSON.parse(content.toString('utf8', at, end)) as FrameHeader;
  } catch {
    return null; // The content is damaged.
  }
}
