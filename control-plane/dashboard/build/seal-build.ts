/**
 * Turns Vite's output into a build that can be served: adds compressed files and the manifest, which replaces the
 * previous one by a rename. A complete build therefore always exists, even if two builds run at the same time or one is
 * killed.
 */
import { createHash, randomUUID } from 'node:crypto';
import { lstat, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { DashboardPath } from '../../../shared/dashboard-paths.ts';
import {
  FORMAT,
  FormSuffix,
  MANIFEST_NAME,
  parseManifest,
} from '../../web/built-dashboard/build-manifest.ts';
import type {
  BuildManifest,
  Form,
  StoredFile,
  StoredForm,
} from '../../web/built-dashboard/build-manifest.ts';
import { pageFiles } from './page-files.ts';
import type { ViteManifest } from './page-files.ts';

/** Vite's manifest of a build, in its folder. */
const VITE_MANIFEST = join('.vite', 'manifest.json');

/** Media types by file extension. */
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml; charset=utf-8',
  '.webmanifest': 'application/manifest+json; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
};

/** Milliseconds after which the directory of an unfinished build is removed. */
const STALE_MS = 3600 * 1000;

/** Creates a directory for a new build. */
export function freshFolderName(): string {
  return `files-${randomUUID()}`;
}

/** Seals the files in `folder` and replaces the previous build. */
export async function sealBuild(
  dist: string,
  folder: string,
  sources: BuildManifest['sources'],
): Promise<BuildManifest> {
  const entries = await readdir(join(dist, folder), { recursive: true, withFileTypes: true });
  const top = join(dist, folder);
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(top.length + 1))
    // Vite's manifest is not served.
    .filter((path) => !path.startsWith('.'))
    .sort();
  const files = await Promise.all(paths.map((path) => storeForms(top, path)));
  const viteManifest = JSON.parse(await readFile(join(top, VITE_MANIFEST), 'utf8')) as ViteManifest;
  const pages = pageFiles(viteManifest, Object.keys(DashboardPath));
  const manifest: BuildManifest = { format: FORMAT, folder, sources, files, pages };
  const text = `${JSON.stringify(manifest, null, 1)}\n`;
  parseManifest(text); // An invalid manifest must fail here, not on the server.
  const temporary = join(dist, `${MANIFEST_NAME}.${folder}`);
  await writeFile(temporary, text);
  await rename(temporary, join(dist, MANIFEST_NAME));
  return manifest;
}

/** Removes the replaced build, and old directories of killed builds. */
export async function removeOldBuilds(dist: string, replaced: string | null, nowMs: number): Promise<void> {
  const inPlace = await folderInPlace(dist);
  for (const entry of await readdir(dist)) {
    if (entry === MANIFEST_NAME || entry === inPlace) continue;
    const path = join(dist, entry);
    const found = await lstat(path).catch(() => null);
    // Another build may be running in this directory.
    const isYoung = found !== null && nowMs - found.mtimeMs < STALE_MS;
    if (entry === replaced || !isYoung) await rm(path, { recursive: true, force: true });
  }
}

/** Directory of the current build; null if there is none. */
export async function folderInPlace(dist: string): Promise<string | null> {
  try {
    return parseManifest(await readFile(join(dist, MANIFEST_NAME), 'utf8')).folder;
  } catch {
    return null;
  }
}

async function storeForms(folder: string, path: string): Promise<StoredFile> {
  const type = TYPES[extname(path)];
  if (type === undefined) throw new Error(`${path}: no media type is known for this kind of file`);
  const content = await readFile(join(folder, path));
  const forms: Partial<Record<Form, StoredForm>> = {};
  for (const [form, bytes] of await formsOf(content)) {
    if (form !== 'identity') await writeFile(join(folder, path + FormSuffix[form]), bytes);
    forms[form] = { bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
  }
  return { path, type, forms: forms as StoredFile['forms'] };
}

/** The content and its compressed forms. A compressed form that is not smaller is omitted. */
async function formsOf(content: Buffer): Promise<[Form, Uint8Array][]> {
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
    [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
  };
  const compressed: [Form, Uint8Array][] = [
    ['br', await promisify(brotliCompress)(content, { params })],
    ['gzip', await promisify(gzip)(content, { level: constants.Z_BEST_COMPRESSION })],
  ];
  return [['identity', content], ...compressed.filter(([, bytes]) => bytes.length < content.length)];
}
