/**
 * What the dashboard may cost the people who open it: octets per view, requests while nothing happens, and shifts of the
 * layout. Times depend on the machine and are measured by a command of their own.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DIST, MANIFEST_NAME, parseManifest } from '../../control-plane/built-dashboard/build-manifest.ts';
import { DashboardRoom } from '../support/browser/dashboard-room.ts';
import { untilQuiet } from '../support/browser/watched-page.ts';
import type { Page } from '../support/browser/watched-page.ts';

const KB = 1024;
/** Drawing code of the chart: asked for once the overview stands. */
const AFTER_FIRST_PAINT = /timeline-plot/;
/** Scripts of the first view, compressed by gzip as at the worst a browser gets them; the chart is drawn after it. */
const FIRST_SCRIPTS_BYTES = 190 * KB;
/** Styles of the first view. */
const FIRST_STYLES_BYTES = 20 * KB;
/** Scripts of each page after that. */
const PAGE_SCRIPTS_BYTES = 30 * KB;

let room: DashboardRoom;

beforeAll(async () => {
  room = await DashboardRoom.open();
});
afterAll(() => room.close());

/** Sizes by gzip of the build's files, by path. */
function sizes(): ReadonlyMap<string, number> {
  const { files } = parseManifest(readFileSync(join(DIST, MANIFEST_NAME), 'utf8'));
  return new Map(files.map(({ path, forms }) => [path, (forms.gzip ?? forms.identity).bytes]));
}

/** Counts what a page loads from now on. */
function countLoaded(page: Page): { take(): { scripts: number; styles: number } } {
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

describe('the budgets of the dashboard', () => {
  test('the first view, and each further page, load no more than they may', async () => {
    await room.withPage({}, async (page) => {
      const loaded = countLoaded(page);
      await page.goto('./');
      await untilQuiet(page);
      const first = loaded.take();
      expect(first.scripts).toBeGreaterThan(0);
      expect(first.scripts).toBeLessThanOrEqual(FIRST_SCRIPTS_BYTES);
      expect(first.styles).toBeLessThanOrEqual(FIRST_STYLES_BYTES);
      const links = page.locator('nav').first().locator('a[href]:not([href="#main"])');
      // The page with all others brings the fields of forms, which most pages share.
      await page.evaluate(`history.pushState({}, '', './more')`);
      await untilQuiet(page);
      const further: Record<string, number> = { '/more': loaded.take().scripts };
      for (const link of await links.all()) {
        await link.click();
        await untilQuiet(page);
        further[(await link.getAttribute('href'))!] = loaded.take().scripts;
      }
      const tooMuch = Object.entries(further).filter(([, bytes]) => bytes > PAGE_SCRIPTS_BYTES);
      expect(tooMuch).toEqual([]);
    });
  });

  test('nothing of the overview moves while it loads and while its figures change', async () => {
    await room.withPage({}, async (page) => {
      await page.addInitScript(`
        globalThis.shifts = 0;
        new PerformanceObserver((list) => {
          for (const entry of list.getEntries()) if (!entry.hadRecentInput) globalThis.shifts += entry.value;
        }).observe({ type: 'layout-shift', buffered: true });
      `);
      await page.goto('./');
      await untilQuiet(page);
      expect(await page.evaluate<number>('globalThis.shifts')).toBeLessThan(0.02);
    });
  });
});
