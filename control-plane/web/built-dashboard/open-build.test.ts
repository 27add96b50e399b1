import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { appendFile, mkdir, readFile, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { MadeDist, SOME_SOURCES, someFiles } from '../../../test/support/parts/made-dist.ts';
import { MANIFEST_NAME } from './build-manifest.ts';
import { openBuild } from './open-build.ts';

let dist: MadeDist;

beforeEach(async () => {
  dist = await MadeDist.make();
});
afterEach(() => dist[Symbol.asyncDispose]());

describe('openBuild(), which reads a dashboard build,', () => {
  test('returns every file in each encoding, and no files that Vite writes for other programs', async () => {
    await dist.build();
    const build = await openBuild(dist.path);
    expect(build?.sources).toEqual(SOME_SOURCES);
    const paths = build!.files.map(({ path }) => path);
    expect(paths).toEqual([
      'assets/login-abc123.js',
      'assets/main-abc123.js',
      'assets/style-abc123.css',
      'index.html',
      'mark.svg',
    ]);
    const [, script, , page, mark] = build!.files;
    const text = someFiles()['assets/main-abc123.js']!;
    expect(Buffer.from(script!.forms.identity).toString()).toBe(text);
    expect(brotliDecompressSync(script!.forms.br!).toString()).toBe(text);
    expect(gunzipSync(script!.forms.gzip!).toString()).toBe(text);
    expect(page!.type).toBe('text/html; charset=utf-8');
    // The file is too small to be compressed.
    expect(Object.keys(mark!.forms)).not.toContain('gzip');
  });

  test('reports that there is no build if nothing was built', async () => {
    expect(await openBuild(dist.path)).toBeNull();
    expect(await openBuild(join(dist.path, 'none'))).toBeNull();
  });

  test.each<[string, (folder: string) => Promise<unknown>]>([
    ['a file is missing', (folder) => rm(join(folder, 'mark.svg'))],
    ['all files are missing', (folder) => rm(folder, { recursive: true })],
    ['a file is cut', (folder) => truncate(join(folder, 'index.html'), 10)],
    ['a file has grown', (folder) => appendFile(join(folder, 'index.html'), ' ')],
    ['a compressed form has other bytes', (folder) => spoil(join(folder, 'index.html.br'))],
    ['a file is a folder', (folder) => replace(join(folder, 'mark.svg'), (path) => mkdir(path))],
    [
      'a file is a pipe',
      (folder) => replace(join(folder, 'mark.svg'), async (path) => execFileSync('mkfifo', [path])),
    ],
    ['a file is a link to the same bytes', (folder) => linkToItself(join(folder, 'mark.svg'))],
    [
      'a file is a link to a device',
      (folder) => replace(join(folder, 'mark.svg'), (path) => symlink('/dev/zero', path)),
    ],
  ])('rejects a build if %s', async (_, harm) => {
    const { folder } = await dist.build();
    await harm(join(dist.path, folder));
    await expect(openBuild(dist.path)).rejects.toThrow();
  });

  test('rejects a truncated manifest, and a manifest that is not a file', async () => {
    await dist.build();
    await truncate(join(dist.path, MANIFEST_NAME), 100);
    await expect(openBuild(dist.path)).rejects.toThrow();
    await rm(join(dist.path, MANIFEST_NAME));
    await mkdir(join(dist.path, MANIFEST_NAME));
    await expect(openBuild(dist.path)).rejects.toThrow('not a regular file');
  });

  test('reads the new build if the build is replaced during the read', async () => {
    const { folder } = await dist.build();
    const opening = openBuild(dist.path);
    // The manifest of the first build was already read in the previous turn of the event loop.
    await Promise.all([dist.build(someFiles('two')), rm(join(dist.path, folder), { recursive: true })]);
    const { files } = (await opening.catch(() => openBuild(dist.path)))!;
    const page = files.find(({ path }) => path === 'index.html')!;
    expect(['one', 'two'].map((mark) => `<title>${mark}</title>`)).toContainEqual(
      /<title>.*<\/title>/.exec(Buffer.from(page.forms.identity).toString())![0],
    );
  });
});

async function spoil(path: string): Promise<void> {
  const bytes = await readFile(path);
  bytes[bytes.length >> 1]! ^= 1;
  await writeFile(path, bytes);
}

async function replace(path: string, by: (path: string) => Promise<unknown>): Promise<void> {
  await rm(path);
  await by(path);
}

async function linkToItself(path: string): Promise<void> {
  await rename(path, `${path}.real`);
  await symlink(`${path}.real`, path);
}
