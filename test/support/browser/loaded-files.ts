/**
 * Sizes of the files of the built dashboard that a page loads, in bytes after gzip, which is the worst case for a
 * browser.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import {
  DIST,
  MANIFEST_NAME,
  parseManifest,
} from '../../../control-plane/web/built-dashboard/build-manifest.ts';

/** Code of the charts and messages of other pages, requested once the overview is displayed. */
const AFTER_FIRST_PAINT = /bar-plot|overview-charts|\/other-/;

/** Sizes in bytes. */
export interface LoadedBytes {
  /** Size of all scripts except those that load after the first paint. */
  readonly scripts: number;
  readonly styles: number;
}

/** Counts what a page loads from now on; `take()` returns the counts and resets them. */
export function countLoaded(page: Page): { take(): LoadedBytes } {
  const known = sizes();
  let paths: string[] = [];
  page.on('request', (request) => paths.push(new URL(request.url()).pathname.slice(1)));
  const sum = (ending: string): number =>
    paths
      .filter((path) => path.endsWith(ending) && path !== 'svc-config.js' && !AFTER_FIRST_PAINT.test(path))
      .reduce((bytes, path) => bytes + known.get(path)!, 0);
  return {
    take: () => {
      const loaded = { scripts: sum('.js'), styles: sum('.css') };
      paths = [];
      return loaded;
    },
  };
}

/** Sizes of the files of the build after gzip, by path. */
function sizes(): ReadonlyMap<string, number> {
  const { files } = parseManifest(readFileSync(join(DIST, MANIFEST_NAME), 'utf8'));
  return new Map(files.map(({ path, forms }) => [path, (forms.gzip ?? forms.identity).bytes]));
}
