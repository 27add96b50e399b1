/** Opens an upload according to its first bytes: zip, tar, gzip, SQLite, or a text file. */
import { readFile, stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { reasonOf } from '../../../../shared/errors.ts';
import { type FileSet, MAX_UNPACKED_BYTES } from './file-set.ts';
import { importFault } from './import-fault.ts';
import { isTar, untar } from './tar-files.ts';
import { unzip } from './zip-files.ts';

const ZIP = 'PK\u0003\u0004';
const SQLITE = 'SQLite format 3\0';
const GZIP = '\u001f\u008b';

/** An upload, unpacked. */
export interface Upload {
  readonly files: FileSet;
  /** Whether the upload was an archive of several files; if not, `files` contains only one. */
  readonly isArchive: boolean;
}

/** Path in `files` of an upload that is one file of text, or one database. */
export const ONLY_TEXT = 'upload';
export const ONLY_DATABASE = 'upload.db';

/** Reads the file at `path`; throws an ImportFault. */
export async function openUpload(path: string): Promise<Upload> {
  if ((await stat(path)).size > MAX_UNPACKED_BYTES) throw importFault('upload_large');
  return opened(await readFile(path), true);
}

async function opened(content: Buffer, mayBeGzip: boolean): Promise<Upload> {
  const start = content.toString('latin1', 0, SQLITE.length);
  if (start.startsWith(ZIP)) return { files: await unzip(content), isArchive: true };
  if (start.startsWith(GZIP) && mayBeGzip) return opened(await gunzipped(content), false);
  if (isTar(content)) return { files: await untar(content), isArchive: true };
  if (start === SQLITE) return { files: new Map([[ONLY_DATABASE, content]]), isArchive: false };
  return { files: new Map([[ONLY_TEXT, content]]), isArchive: false };
}

async function gunzipped(content: Buffer): Promise<Buffer> {
  try {
    return await promisify(gunzip)(content, { maxOutputLength: MAX_UNPACKED_BYTES });
  } catch (error) {
    throw importFault('gzip_damaged', { reason: reasonOf(error) });
  }
}
