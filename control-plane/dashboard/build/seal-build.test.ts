import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MadeDist, SOME_SOURCES, someFiles } from '../../../test/support/parts/made-dist.ts';
import { MANIFEST_NAME } from '../../web/built-dashboard/build-manifest.ts';
import { openBuild } from '../../web/built-dashboard/open-build.ts';
import { folderInPlace, freshFolderName, removeOldBuilds, sealBuild } from './seal-build.ts';

let dist: MadeDist;

beforeEach(async () => {
  dist = await MadeDist.make();
});
afterEach(() => dist[Symbol.asyncDispose]());

describe('sealBuild(), which completes a build of the dashboard,', () => {
  test('leaves one complete build when several builds run at the same time', async () => {
    await Promise.all(Array.from({ length: 8 }, (_, build) => dist.build(someFiles(`build ${build}`))));
    expect((await openBuild(dist.path))?.files).toHaveLength(5);
  });

  test('rejects a build with files that cannot be served, and keeps the previous build', async () => {
    const { folder } = await dist.build();
    await expect(dist.build({ ...someFiles(), 'assets/data.xyz': 'x' })).rejects.toThrow('no media type');
    await expect(dist.build({ 'assets/a.js': '', '.vite/manifest.json': '{}' })).rejects.toThrow(
      'not a manifest',
    );
    await expect(dist.build({ ...someFiles(), 'deep/er/a.js': '' })).rejects.toThrow('not a manifest');
    await expect(sealBuild(dist.path, freshFolderName(), SOME_SOURCES)).rejects.toThrow('ENOENT');
    expect(await folderInPlace(dist.path)).toBe(folder);
  });
});

describe('removeOldBuilds()', () => {
  test('removes replaced and old builds, but not a build that may be running', async () => {
    const first = await dist.build();
    const second = await dist.build();
    const underWay = freshFolderName();
    await mkdir(join(dist.path, underWay));
    await mkdir(join(dist.path, 'files-killed'));
    await writeFile(join(dist.path, `${MANIFEST_NAME}.files-killed`), '{');
    const now = Date.now();
    for (const old of ['files-killed', `${MANIFEST_NAME}.files-killed`])
      await utimes(join(dist.path, old), (now - 2 * 3600_000) / 1000, (now - 2 * 3600_000) / 1000);
    await removeOldBuilds(dist.path, first.folder, now);
    expect((await readdir(dist.path)).sort()).toEqual([MANIFEST_NAME, second.folder, underWay].sort());
    expect(await openBuild(dist.path)).not.toBeNull();
  });
});
