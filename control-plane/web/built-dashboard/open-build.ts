/** Reads a build of the dashboard into memory, and verifies every byte against its manifest. */
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { readFully } from '../../host/files/read-fully.ts';
import { readRegularFile } from '../../host/files/regular-file.ts';
import { DIST, FormSuffix, MANIFEST_NAME, parseManifest } from './build-manifest.ts';
import type { BuildManifest, Form, StoredFile, StoredForm } from './build-manifest.ts';

/** A file of a build, in memory. */
export interface BuildFile {
  readonly path: string;
  readonly type: string;
  /** SHA-256 of the stored bytes, in hexadecimal. */
  readonly sha256: string;
  readonly forms: { readonly identity: Uint8Array } & Partial<Readonly<Record<Form, Uint8Array>>>;
}

/** A build, in memory. */
export interface Build {
  readonly sources: BuildManifest['sources'];
  readonly files: readonly BuildFile[];
  readonly pages: BuildManifest['pages'];
}

/** A build may be replaced, and its files deleted, while it is being read: read the new build then. */
const ATTEMPTS = 3;

/** The build in a directory of builds; null if there is none. @throws {Error} if it is incomplete. */
export async function openBuild(dist: string = DIST): Promise<Build | null> {
  for (let attempt = 1; ; attempt++) {
    const text = readManifest(dist);
    if (text === null) return null;
    try {
      return await readBuild(dist, parseManifest(text));
    } catch (error) {
      if (attempt === ATTEMPTS || readManifest(dist) === text) throw error;
    }
  }
}

function readManifest(dist: string): string | null {
  try {
    return readRegularFile(join(dist, MANIFEST_NAME));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

async function readBuild(dist: string, { folder, sources, files, pages }: BuildManifest): Promise<Build> {
  const read: BuildFile[] = [];
  for (const file of files) read.push(await readFile(join(dist, folder), file));
  return { sources, files: read, pages };
}

async function readFile(folder: string, { path, type, forms }: StoredFile): Promise<BuildFile> {
  const bytes: Partial<Record<Form, Uint8Array>> = {};
  for (const [form, stored] of Object.entries(forms) as [Form, StoredForm][])
    bytes[form] = await readForm(join(folder, path + FormSuffix[form]), stored);
  return { path, type, sha256: forms.identity.sha256, forms: bytes as BuildFile['forms'] };
}

/** With these flags, links are not followed, and opening a pipe does not block. */
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

async function readForm(path: string, { bytes, sha256 }: StoredForm): Promise<Uint8Array> {
  const file = await open(path, FLAGS);
  try {
    const stat = await file.stat();
    const content = new Uint8Array(stat.isFile() && stat.size === bytes ? bytes : 0);
    const isWhole = content.length === bytes && (await readFully(file, content, 0));
    if (!isWhole || createHash('sha256').update(content).digest('hex') !== sha256)
      throw new Error(`${path} differs from the file in ${MANIFEST_NAME}`);
    return content;
  } finally {
    await file.close();
  }
}
