/**
 * The names of a compiled table as text, for searching: the table itself contains only hashes. Each name is stored
 * once, in the order of the lists:
 *
 * - lines of lower-case names, each ended by LF
 * - the byte offset of every 1024th line (f64 each)
 * - three numbers (f64): size of the text in bytes, number of lines, number of offsets
 *
 * The compile thread writes the file at the same time as the table; `names-search.ts` reads it.
 */
import { closeSync, constants, fsyncSync, openSync, writeSync } from 'node:fs';
import { copyFile, type FileHandle, open } from 'node:fs/promises';
import { readFully } from '../../../host/files/read-fully.ts';
import { FOLD } from '../../../../shared/dns/name.ts';
import { RuleKind } from '../../../../shared/snapshot/rule-table.ts';

/** Number of lines between two entries of the index. */
export const LINES_PER_MARK = 1024;
/** Size in bytes of the last three numbers. */
export const TRAILER_BYTES = 24;

/** Paths of the two files of a table. */
export function namesPaths(stem: string): { readonly block: string; readonly allow: string } {
  return { block: `${stem}-block.names`, allow: `${stem}-allow.names` };
}

/** Kinds of rules whose names are in the file of blocked names and in the file of allowed names. */
export const BLOCK_KINDS =
  RuleKind.BLOCK_EXACT | RuleKind.BLOCK_SUFFIX | RuleKind.BLOCK_BELOW | RuleKind.IMPORTANT_BLOCK_SUFFIX;
export const ALLOW_KINDS =
  RuleKind.ALLOW_EXACT | RuleKind.ALLOW_SUFFIX | RuleKind.ALLOW_BELOW | RuleKind.IMPORTANT_ALLOW_SUFFIX;

const BUFFER_BYTES = 262_144;
/** Maximum size of a file that is searched for the names that it already contains. */
const MAX_SEARCHED_BYTES = 67_108_864;
const LF = 0x0a;

/** Writes both files of a table while it is built. */
export class NamesWriter {
  private readonly block: LineWriter;
  private readonly allow: LineWriter;

  constructor(stem: string) {
    const paths = namesPaths(stem);
    this.block = new LineWriter(paths.block);
    this.allow = new LineWriter(paths.allow);
  }

  /**
   * Adds the name in [start, end) of `bytes` to each file that must contain it and does not yet. `before` are the kinds
   * of earlier rules for the name, `kinds` those of its new rule.
   */
  add(bytes: Uint8Array, start: number, end: number, before: number, kinds: number): void {
    if ((before & BLOCK_KINDS) === 0 && (kinds & BLOCK_KINDS) !== 0) this.block.name(bytes, start, end);
    if ((before & ALLOW_KINDS) === 0 && (kinds & ALLOW_KINDS) !== 0) this.allow.name(bytes, start, end);
  }

  /** Writes the remaining data and closes both files. */
  finish(): void {
    this.block.finish();
    this.allow.finish();
  }
}

/** Lines to add to a names file; lines in `perhaps` are added only if they are missing. */
export interface AddedLines {
  readonly fresh: readonly string[];
  readonly perhaps: readonly string[];
}

/** Copies a finished names file with additional lines; false if the file is too large to search. */
export async function copyWithLines(from: string, to: string, added: AddedLines): Promise<boolean> {
  await copyFile(from, to, constants.COPYFILE_FICLONE);
  const file = await open(to, 'r+');
  try {
    const { size } = await file.stat();
    const trailer = new Float64Array((await readAt(file, size - TRAILER_BYTES, TRAILER_BYTES)).buffer);
    const [textBytes = 0, lines = 0, markCount = 0] = trailer;
    const marks = [...new Float64Array((await readAt(file, textBytes, markCount * 8)).buffer)];
    const missing = await withoutThose(file, textBytes, added.perhaps);
    if (missing === undefined) return false;
    let length = textBytes;
    const fresh = [...added.fresh, ...missing];
    for (const [index, name] of fresh.entries()) {
      if ((lines + index) % LINES_PER_MARK === 0) marks.push(length);
      length += name.length + 1;
    }
    const text = Buffer.from(fresh.map((name) => `${name}\n`).join(''), 'latin1');
    const numbers = Float64Array.from([...marks, length, lines + fresh.length, marks.length]);
    const tail = Buffer.concat([text, new Uint8Array(numbers.buffer)]);
    await file.write(tail, 0, tail.length, textBytes);
    await file.truncate(textBytes + tail.length);
    await file.datasync();
    return true;
  } finally {
    await file.close();
  }
}

/** Those of the names that are not lines of the file. */
async function withoutThose(
  file: FileHandle,
  textBytes: number,
  names: readonly string[],
): Promise<readonly string[] | undefined> {
  if (names.length === 0) return names;
  if (names.length * textBytes > MAX_SEARCHED_BYTES) return undefined;
  const text = await readAt(file, 0, textBytes);
  const exists = (name: string): boolean =>
    text.subarray(0, name.length + 1).toString('latin1') === `${name}\n` || text.includes(`\n${name}\n`);
  return names.filter((name) => !exists(name));
}

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const bytes = Buffer.from(new ArrayBuffer(length));
  await readFully(file, bytes, position);
  return bytes;
}

class LineWriter {
  private readonly file: number;
  private readonly buffer = new Uint8Array(BUFFER_BYTES);
  private readonly marks: number[] = [];
  private length = 0;
  private written = 0;
  private lines = 0;

  constructor(path: string) {
    this.file = openSync(path, 'w', 0o600);
  }

  name(bytes: Uint8Array, start: number, end: number): void {
    this.beginLine(end - start + 1);
    const { buffer } = this;
    let to = this.length;
    for (let at = start; at < end; at++) buffer[to++] = FOLD[bytes[at]!]!;
    buffer[to++] = LF;
    this.length = to;
  }

  finish(): void {
    try {
      this.flush();
      const numbers = Float64Array.from([...this.marks, this.written, this.lines, this.marks.length]);
      writeAll(this.file, new Uint8Array(numbers.buffer));
      fsyncSync(this.file);
    } finally {
      closeSync(this.file);
    }
  }

  private beginLine(bytes: number): void {
    if (this.length + bytes > BUFFER_BYTES) this.flush();
    if (this.lines % LINES_PER_MARK === 0) this.marks.push(this.written + this.length);
    this.lines++;
  }

  private flush(): void {
    writeAll(this.file, this.buffer.subarray(0, this.length));
    this.written += this.length;
    this.length = 0;
  }
}

function writeAll(file: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at);
}
