/**
 * Hash of the inputs of a build, so that a build of other sources is detected: all files of the dashboard except its
 * tests and its builds, the files of shared/ that it imports, and the packages of a production install.
 */
import { createHash } from 'node:crypto';
import type { Hash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT, SOURCES } from './build-manifest.ts';

/** Files that are not inputs of a build: builds, tests, and backup files of editors. */
const LEFT_OUT = /^dist(?:\/|$)|(?:^|\/)\.|\.test\.tsx?$|~$/;

/** The hash of the files of the dashboard itself. @throws if they cannot be read, or are not installed */
export async function hashOfDashboard(root: string = ROOT): Promise<string> {
  const folder = join(root, SOURCES);
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .filter((path) => !LEFT_OUT.test(path))
    .sort();
  if (paths.length === 0) throw new Error('the sources of the dashboard are missing');
  const hash = createHash('sha256');
  for (const path of paths) await addFile(hash, folder, path);
  return hash.digest('hex');
}

/** The hash of all sources; `shared` are the files of shared/, relative to the root. */
export async function hashOfSources(
  dashboardHash: string,
  shared: readonly string[],
  root: string = ROOT,
): Promise<string> {
  const hash = createHash('sha256').update(`${dashboardHash}\n`);
  for (const path of shared.toSorted()) await addFile(hash, root, path);
  return hash.update(await packagesOf(root)).digest('hex');
}

/** A missing file changes the hash in a way that no content of the file does. */
async function addFile(hash: Hash, folder: string, path: string): Promise<void> {
  const content = await readFile(join(folder, path)).catch(() => null);
  hash.update(`${path}\n${content === null ? 'missing' : content.length}\n`).update(content ?? '');
}

/** Names and versions of the packages; empty without a package-lock.json. */
async function packagesOf(root: string): Promise<string> {
  const text = await readFile(join(root, 'package-lock.json'), 'utf8').catch(() => '{}');
  const { packages = {} } = JSON.parse(text) as {
    packages?: Record<string, { version?: string; dev?: boolean }>;
  };
  return Object.entries(packages)
    .filter(([path, { dev }]) => path !== '' && dev !== true)
    .map(([path, { version }]) => `${path} ${version ?? ''}\n`)
    .join('');
}
