// Network traffic of the dashboard: bytes of each view, and requests while the page is idle.
import { setTimeout as delay } from 'node:timers/promises';
import type { Browser } from 'playwright-core';
import type { Demo } from '../../demo/running-demo.ts';
import { hide } from '../../support/browser/hidden-tab.ts';
import { countLoaded } from '../../support/browser/loaded-files.ts';
import type { Figure } from './figure.ts';
import { MeasuredPage } from './measured-page.ts';

const KB = 1024;
const FIRST_SCRIPTS_KB = 190;
const FIRST_STYLES_KB = 20;
const PAGE_SCRIPTS_KB = 30;
const IDLE_MS = 10_000;

/** Opens the overview and then every other page. */
export async function sizeFigures(browser: Browser, demo: Demo): Promise<Figure[]> {
  return MeasuredPage.with({ browser, demo, profile: 'desktop' }, async (measured) => {
    const { page } = measured;
    const loaded = countLoaded(page);
    await page.goto('./');
    await measured.settle();
    const first = loaded.take();
    const figures: Figure[] = [
      { what: 'first view: scripts', unit: 'KB', values: [first.scripts / KB], budget: FIRST_SCRIPTS_KB },
      { what: 'first view: styles', unit: 'KB', values: [first.styles / KB], budget: FIRST_STYLES_KB },
    ];
    await page.evaluate(`history.pushState({}, '', './more')`);
    await measured.settle();
    figures.push({
      what: '/more: scripts',
      unit: 'KB',
      values: [loaded.take().scripts / KB],
      budget: PAGE_SCRIPTS_KB,
    });
    for (const link of await page.locator('nav').first().locator('a[href]:not([href="#main"])').all()) {
      await link.click();
      await measured.settle();
      const values = [loaded.take().scripts / KB];
      figures.push({
        what: `${(await link.getAttribute('href'))!}: scripts`,
        unit: 'KB',
        values,
        budget: PAGE_SCRIPTS_KB,
      });
    }
    return figures;
  });
}

/** Counts requests of the overview while it is visible and while it is hidden, and requests of the hidden log. */
export async function idleFigures(browser: Browser, demo: Demo): Promise<Figure[]> {
  const requests = (path: string, isHidden: boolean): Promise<number> =>
    MeasuredPage.with({ browser, demo, profile: 'desktop' }, async (measured) => {
      await measured.page.goto(`./${path}`);
      await measured.settle();
      if (isHidden) await hide(measured.page);
      await measured.settle();
      let count = 0;
      measured.page.on('request', () => count++);
      await delay(IDLE_MS);
      return count;
    });
  return [
    { what: 'idle overview: requests in 10 s', unit: '', values: [await requests('', false)], budget: 1 },
    { what: 'hidden overview: requests in 10 s', unit: '', values: [await requests('', true)], budget: 0 },
    { what: 'hidden log: requests in 10 s', unit: '', values: [await requests('queries', true)], budget: 0 },
  ];
}
