/**
 * Unpacks a tar archive within limits. Only this file imports the package tar; it uses only the package's parser, which
 * writes no files.
 */
import { Parser, type ReadEntry } from 'tar';
import { reasonOf } from '../../../../shared/errors.ts';
import { MAX_FILES, MAX_UNPACKED_BYTES } from './file-set.ts';
import { importFault } from './import-fault.ts';
import type { ImportFault } from './import-fault.ts';

/** Offset and text of the magic bytes in a header. */
const MAGIC_AT = 257;
const MAGIC = 'ustar';
/**
 * First bytes of gzip and zstd, which the parser would decompress without a limit; no path in a tar begins with these
 * bytes.
 */
const PACKED = ['\u001f\u008b', '\u0028\u00b5\u002f\u00fd'];
const FILES = new Set(['File', 'OldFile', 'ContiguousFile']);
const FOLDERS = new Set(['Directory', 'GNUDumpDir']);

/** Whether the content is a tar, by its magic bytes. */
export function isTar(content: Buffer): boolean {
  const start = content.toString('latin1', 0, 4);
  if (PACKED.some((mark) => start.startsWith(mark))) return false;
  return content.toString('latin1', MAGIC_AT, MAGIC_AT + MAGIC.length) === MAGIC;
}

/** The files of a tar that is not compressed; throws an ImportFault. */
export async function untar(content: Buffer): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>();
  const { promise, resolve, reject } = Promise.withResolvers<Map<string, Buffer>>();
  let count = 0;
  const parser = new Parser({
    strict: true,
    onReadEntry: (entry) => {
      count++;
      const fault = count > MAX_FILES ? importFault('tar_files', { max: MAX_FILES }) : faultOf(entry, files);
      if (fault !== null) reject(fault);
      if (fault !== null || FOLDERS.has(entry.type)) {
        entry.resume();
        return;
      }
      const chunks: Buffer[] = [];
      entry.on('data', (chunk: Buffer) => void chunks.push(chunk));
      entry.on('end', () => void files.set(pathIn(entry), Buffer.concat(chunks)));
    },
  });
  parser.on('error', (error: unknown) => reject(importFault('tar_damaged', { reason: reasonOf(error) })));
  parser.on('end', () => resolve(files));
  parser.end(content);
  return promise;
}

function faultOf(entry: ReadEntry, files: ReadonlyMap<string, Buffer>): ImportFault | null {
  const file = pathIn(entry);
  if (FOLDERS.has(entry.type)) return null;
  if (!FILES.has(entry.type)) return importFault('tar_link', { file });
  if (file.startsWith('/') || file.split('/').includes('..') || file.includes('\\'))
    return importFault('tar_outside', { file });
  if (files.has(file)) return importFault('tar_twice', { file });
  return entry.size > MAX_UNPACKED_BYTES ? importFault('tar_large') : null;
}

function pathIn(entry: ReadEntry): string {
  return entry.path.replace(/^(?:\.\/)+/, '');
}
