/**
 * Unpacks a zip archive within limits. Only this file imports yauzl, which refuses wrong sizes and paths that leave the
 * directory.
 */
import type { Readable } from 'node:stream';
import { crc32 } from 'node:zlib';
import { type Entry, fromBufferPromise, type ZipFile } from 'yauzl';
import { reasonOf } from '../../../../shared/errors.ts';
import { MAX_FILES, MAX_UNPACKED_BYTES } from './file-set.ts';
import { importFault, ImportFault } from './import-fault.ts';

/** File type in the upper half of an entry's attributes, where Unix programs store it. */
const KIND = 0xf000;
const ORDINARY_FILE = 0x8000;

/** The files of a zip; throws an ImportFault. */
export async function unzip(content: Buffer): Promise<Map<string, Buffer>> {
  try {
    return await readEntries(await fromBufferPromise(content));
  } catch (error) {
    if (error instanceof ImportFault) throw error;
    throw importFault('zip_damaged', { reason: reasonOf(error) });
  }
}

async function readEntries(zip: ZipFile): Promise<Map<string, Buffer>> {
  if (zip.entryCount > MAX_FILES) throw importFault('zip_files', { max: MAX_FILES });
  const files = new Map<string, Buffer>();
  let leftBytes = MAX_UNPACKED_BYTES;
  for await (const entry of zip.eachEntry()) {
    const { fileName: name } = entry;
    if (name.endsWith('/')) continue;
    refuseOddEntry(entry);
    if (files.has(name)) throw importFault('zip_twice', { file: name });
    if (entry.uncompressedSize > leftBytes) throw importFault('zip_large');
    leftBytes -= entry.uncompressedSize;
    const content = await readAll(await zip.openReadStreamPromise(entry));
    if (crc32(content) !== entry.crc32) throw importFault('zip_damaged_at', { file: name });
    files.set(name, content);
  }
  return files;
}

function refuseOddEntry(entry: Entry): void {
  const kind = (entry.externalFileAttributes >>> 16) & KIND;
  if (kind !== 0 && kind !== ORDINARY_FILE) throw importFault('zip_link', { file: entry.fileName });
  if (entry.isEncrypted()) throw importFault('zip_encrypted', { file: entry.fileName });
}

/** yauzl ends the stream with an error if the size of a file differs from the announced size. */
async function readAll(stream: Readable): Promise<Buffer> {
  return Buffer.concat((await stream.toArray()) as Buffer[]);
}
