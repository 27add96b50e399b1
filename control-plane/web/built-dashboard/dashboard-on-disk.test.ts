import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdir, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MadeDist, someFiles } from '../../../test/support/parts/made-dist.ts';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { until } from '../../../test/support/parts/until.ts';
import { MANIFEST_NAME, SOURCES } from './build-manifest.ts';
import { DashboardOnDisk } from './dashboard-on-disk.ts';
import type { DashboardState } from './dashboard-state.ts';
import { hashOfDashboard, hashOfSources } from './source-hash.ts';

let checkout: MadeDist;
let dist: MadeDist;
let logger: MemoryLogger;

beforeEach(async () => {
  [checkout, dist] = await Promise.all([MadeDist.make(), MadeDist.make()]);
  logger = new MemoryLogger();
  await mkdir(join(checkout.path, SOURCES, 'src'), { recursive: true });
  await writeFile(join(checkout.path, SOURCES, 'src', 'main.tsx'), 'export {};');
});
afterEach(async () => {
  await checkout[Symbol.asyncDispose]();
  await dist[Symbol.asyncDispose]();
});

/** A build of the current sources. */
async function buildNow(mark = 'one'): Promise<void> {
  const hash = await hashOfSources(await hashOfDashboard(checkout.path), [], checkout.path);
  await dist.build(someFiles(mark), { hash, shared: [] });
}

function opened(build: () => Promise<void>): DashboardOnDisk {
  return new DashboardOnDisk({ logger, build, dist: dist.path, root: checkout.path });
}

function neverBuild(): Promise<void> {
  throw new Error('nothing is to be built');
}

/** The served build, or the reason why there is none. */
function served(state: DashboardState): string {
  if (state.kind !== 'built') return state.kind;
  const page = state.build.files.find(({ path }) => path === 'index.html')!;
  return /<title>(.*)<\/title>/.exec(Buffer.from(page.forms.identity).toString())![1]!;
}

/** The state once no build is running. */
function settled(dashboard: DashboardOnDisk): Promise<DashboardState> {
  return until(
    'the build to end',
    () => dashboard.state(),
    ({ kind }) => kind !== 'building',
  );
}

describe('DashboardOnDisk, which serves or builds the dashboard,', () => {
  test('serves a build of the current sources, and builds nothing', async () => {
    await buildNow();
    const dashboard = opened(neverBuild);
    expect(served(await dashboard.state())).toBe('one');
    await rm(dist.path, { recursive: true });
    expect(served(await dashboard.state())).toBe('one');
    expect(logger.text()).toBe('');
  });

  test('builds a missing dashboard, and serves the build when it is ready', async () => {
    const turn = Promise.withResolvers<undefined>();
    const dashboard = opened(async () => {
      await turn.promise;
      await buildNow('two');
    });
    expect(await dashboard.state()).toEqual({ kind: 'building' });
    turn.resolve(undefined);
    expect(served(await settled(dashboard))).toBe('two');
  });

  test.each<[string, () => Promise<unknown>]>([
    [
      'whose sources have changed',
      () => writeFile(join(checkout.path, SOURCES, 'src', 'main.tsx'), 'export const x = 1;'),
    ],
    ['of half a manifest', () => truncate(join(dist.path, MANIFEST_NAME), 50)],
  ])('replaces a build %s', async (_, change) => {
    await buildNow();
    await change();
    const dashboard = opened(() => buildNow('two'));
    expect(served(await settled(dashboard))).toBe('two');
  });

  test('serves an outdated build if building fails, and logs the failure once', async () => {
    await buildNow();
    await writeFile(join(checkout.path, SOURCES, 'index.html'), '<p>');
    const dashboard = opened(() => Promise.reject(new Error('EROFS: read-only file system')));
    expect(served(await settled(dashboard))).toBe('one');
    expect(served(await dashboard.state())).toBe('one');
    expect(logger.lines.filter(({ level }) => level === 'warn')).toHaveLength(1);
    expect(logger.text()).toContain('EROFS');
  });

  test('shows what to do, but not the cause, if there is no build and building fails', async () => {
    const dashboard = opened(() => Promise.reject(new Error('cannot write /opt/weir')));
    const state = await settled(dashboard);
    expect(state).toMatchObject({
      kind: 'missing',
      reason: expect.stringContaining('npm run dashboard -- build'),
    });
    expect(JSON.stringify(state)).not.toContain('/opt/weir');
    expect(logger.text()).toContain('/opt/weir');
  });

  test('serves the build of an installation without sources', async () => {
    await buildNow();
    await rm(join(checkout.path, SOURCES), { recursive: true });
    expect(served(await opened(neverBuild).state())).toBe('one');
    // As in a release, whose builds are in this directory.
    await mkdir(join(checkout.path, SOURCES, 'dist'), { recursive: true });
    expect(served(await opened(neverBuild).state())).toBe('one');
  });

  test('stop() ends a running build, and logs nothing', async () => {
    const dashboard = new DashboardOnDisk({
      logger,
      dist: dist.path,
      root: checkout.path,
      build: ({ stopped }) =>
        new Promise((_, reject) => stopped.addEventListener('abort', () => reject(new Error('stopped')))),
    });
    expect((await dashboard.state()).kind).toBe('building');
    await dashboard.stop();
    expect(logger.text()).toBe('');
  });
});

describe('hashOfSources(), which detects changed dashboard sources,', () => {
  test('depends on sources, shared files and packages, not on tests, builds or editor files', async () => {
    const hash = async (): Promise<string> =>
      hashOfSources(await hashOfDashboard(checkout.path), ['shared/a.ts'], checkout.path);
    const write = async (path: string, text: string): Promise<void> => {
      const to = join(checkout.path, path);
      await mkdir(join(to, '..'), { recursive: true });
      await writeFile(to, text);
    };
    const lock = (packages: object): string => JSON.stringify({ packages });
    let before = await hash();
    for (const [path, text] of [
      [`${SOURCES}/src/main.test.ts`, 'test'],
      [`${SOURCES}/dist/dashboard.json`, '{}'],
      [`${SOURCES}/src/.main.tsx.swp`, 'x'],
      [`${SOURCES}/src/main.tsx~`, 'x'],
      [
        'package-lock.json',
        lock({ '': { version: '2' }, 'node_modules/jest': { version: '30', dev: true } }),
      ],
    ] as const) {
      await write(path, text);
      expect([path, await hash()]).toEqual([path, before]);
    }
    for (const [path, text] of [
      ['shared/a.ts', 'export const a = 1;'],
      ['shared/a.ts', 'export const a = 2;'],
      [`${SOURCES}/src/pages/one.tsx`, 'x'],
      [`${SOURCES}/vite.config.ts`, ''],
      ['package-lock.json', lock({ 'node_modules/react': { version: '19.0.0' } })],
      ['package-lock.json', lock({ 'node_modules/react': { version: '19.0.1' } })],
    ] as const) {
      await write(path, text);
      const now = await hash();
      expect([path, now]).not.toEqual([path, before]);
      before = now;
    }
  });
});
