/**
 * What the dashboard may cost the people who open it: octets per view, requests while nothing happens, and shifts of the
 * layout. Times depend on the machine and are measured by a command of their own.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DashboardRoom } from '../support/browser/dashboard-room.ts';
import { hide } from '../support/browser/hidden-tab.ts';
import { countLoaded } from '../support/browser/loaded-files.ts';
import { untilQuiet } from '../support/browser/watched-page.ts';
import type { Page } from '../support/browser/watched-page.ts';

const KB = 1024;
/** Scripts of the first view, compressed by gzip as at the worst a browser gets them; the chart is drawn after it. */
const FIRST_SCRIPTS_BYTES = 190 * KB;
/** Styles of the first view. */
const FIRST_STYLES_BYTES = 20 * KB;
/** Scripts of each page after that. */
const PAGE_SCRIPTS_BYTES = 30 * KB;

const MINUTE_MS = 60_000;

let room: DashboardRoom;

beforeAll(async () => {
  room = await DashboardRoom.open();
});
afterAll(() => room.close());

/** Opens a page whose timers the test runs, and waits for what it shows; returns the paths that it asks for. */
async function openByOwnClock(page: Page, path: string, shown: string): Promise<string[]> {
  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  await page.clock.install();
  const answered = page.waitForResponse((response) => new URL(response.url()).pathname === shown);
  await page.goto(`./${path}`);
  await answered;
  await untilQuiet(page);
  return asked;
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

  test.each([
    ['', '/api/dashboard'],
    ['queries', '/api/queries'],
  ])('/%s asks for nothing while its tab is hidden', async (path, shown) => {
    await room.withPage({}, async (page) => {
      const asked = await openByOwnClock(page, path, shown);
      await hide(page);
      asked.length = 0;
      await page.clock.runFor(10 * MINUTE_MS);
      await untilQuiet(page);
      expect(asked).toEqual([]);
    });
  });

  test('the overview asks once in ten seconds at most while it is seen', async () => {
    await room.withPage({}, async (page) => {
      const asked = await openByOwnClock(page, '', '/api/dashboard');
      asked.length = 0;
      await page.clock.runFor(2 * MINUTE_MS);
      await untilQuiet(page);
      expect(asked).toContain('/api/dashboard');
      expect(asked.length).toBeLessThanOrEqual(12);
    });
  });
});
