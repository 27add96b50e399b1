/**
 * Program that builds the dashboard and installs the build (npm run dashboard -- build). With `--if-changed`, it builds
 * only if the sources have changed. It prints one line with the result or the error.
 */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { UserConfig } from 'vite';
import { DIST, ROOT } from '../../web/built-dashboard/build-manifest.ts';
import { openBuild } from '../../web/built-dashboard/open-build.ts';
import { hashOfDashboard, hashOfSources } from '../../web/built-dashboard/source-hash.ts';
import { folderInPlace, freshFolderName, removeOldBuilds, sealBuild } from './seal-build.ts';

const CONFIG = new URL('../vite.config.ts', import.meta.url).href;

/** Must be `production`: Vite takes the value from the environment, and React has different code for other values. */
process.env['NODE_ENV'] = 'production';

async function buildDashboard(dist: string): Promise<string> {
  const startedMs = performance.now();
  const folder = freshFolderName();
  await mkdir(join(dist, folder), { recursive: true });
  try {
    // Computes the hash before the build, so that edits made during the build change the next hash.
    const dashboardHash = await hashOfDashboard();
    const taken = await runVite(join(dist, folder));
    const shared = taken.filter((path) => path.startsWith('shared/')).toSorted();
    const sources = { hash: await hashOfSources(dashboardHash, shared), shared };
    const replaced = await folderInPlace(dist);
    const { files } = await sealBuild(dist, folder, sources);
    await removeOldBuilds(dist, replaced, Date.now());
    const kilobytes = files.reduce((sum, { forms }) => sum + (forms.br ?? forms.identity).bytes, 0) / 1000;
    const secs = (performance.now() - startedMs) / 1000;
    return `built the dashboard: ${files.length} files, ${kilobytes.toFixed(0)} KB compressed, in ${secs.toFixed(1)} s`;
  } catch (error) {
    await rm(join(dist, folder), { recursive: true, force: true });
    throw error;
  }
}

/**
 * Builds into a directory; returns the source files, relative to the root. Vite is imported here because loading it is
 * slow.
 */
async function runVite(outDir: string): Promise<string[]> {
  const { build } = await import('vite');
  const { default: config } = (await import(CONFIG)) as { readonly default: UserConfig };
  let taken: string[] = [];
  const noteFiles = {
    name: 'weir-files-taken-in',
    buildEnd(this: { getModuleIds(): IterableIterator<string> }): void {
      taken = [...this.getModuleIds()]
        .map((id) => id.replace(/\?.*$/, ''))
        .filter((id) => id.startsWith(`${ROOT}/`))
        .map((id) => id.slice(ROOT.length + 1));
    },
  };
  await build({
    ...config,
    configFile: false,
    logLevel: 'error',
    plugins: [...(config.plugins ?? []), noteFiles],
    build: { ...config.build, outDir, emptyOutDir: false },
  });
  return [...new Set(taken)];
}

/** Whether the installed build was made from the current sources. */
async function isInPlace(dist: string): Promise<boolean> {
  const build = await openBuild(dist).catch(() => null);
  if (build === null) return false;
  const { hash, shared } = build.sources;
  return (await hashOfSources(await hashOfDashboard(), shared)) === hash;
}

try {
  if (process.argv.includes('--if-changed') && (await isInPlace(DIST))) process.exit();
  process.stdout.write(`${await buildDashboard(DIST)}\n`);
} catch (error) {
  process.stderr.write(`build the dashboard: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
