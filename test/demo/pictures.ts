// `npm run demo -- pictures`: takes the screenshots for README.md and docs/tour.md from the demo in a real browser.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { openBrowser } from '../support/browser/chromium.ts';
import { makeTempDir } from '../support/weir/data-dir.ts';
import { freePort } from '../support/weir/free-ports.ts';
import { Demo } from './running-demo.ts';

interface Picture {
  readonly name: string;
  readonly path: string;
  readonly theme: 'light' | 'dark';
  readonly size: { readonly width: number; readonly height: number };
  readonly isPhone?: boolean;
  /** Brings the page into the state for the screenshot. */
  readonly prepare: (page: Page) => Promise<unknown>;
}

const FOLDER = join(import.meta.dirname, '..', '..', 'docs', 'pictures');
const MAX_BYTES = 120_000;
const QUALITY = 82;
const DESKTOP = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 780 };
/** Waits until the chart and the names below it are drawn. */
const seeOverview = (page: Page): Promise<unknown> =>
  page.getByText('pixel.adserver.example').first().waitFor();

const PICTURES: readonly Picture[] = [
  { name: 'overview', path: '', theme: 'light', size: DESKTOP, prepare: seeOverview },
  {
    name: 'explain',
    path: 'queries?status=BLOCKED_LIST&live=off',
    theme: 'dark',
    size: DESKTOP,
    prepare: async (page) => {
      const row = page.getByRole('row').filter({ hasText: 'Ads and trackers' }).first();
      // Clicking this cell sets no filter; some other cells would.
      await row.getByRole('gridcell').nth(5).click();
      await page.getByRole('dialog').getByText('Ads and trackers').first().waitFor();
    },
  },
  {
    name: 'phone',
    path: 'queries',
    theme: 'light',
    size: PHONE,
    isPhone: true,
    prepare: (page) => page.getByRole('row').nth(8).waitFor(),
  },
];

async function take(browser: Browser, demo: Demo, picture: Picture): Promise<void> {
  const { name, path, theme, size, isPhone = false, prepare } = picture;
  const context = await browser.newContext({
    baseURL: demo.origin,
    viewport: size,
    colorScheme: theme,
    locale: 'en-GB',
    reducedMotion: 'reduce',
    hasTouch: isPhone,
    isMobile: isPhone,
    deviceScaleFactor: isPhone ? 2 : 1,
  });
  try {
    const login = await context.request.post('./api/auth/login', {
      data: { username: 'admin', password: demo.password },
    });
    if (!login.ok()) throw new Error(`log in: status ${login.status()}`);
    const page = await context.newPage();
    await page.goto(`./${path}`);
    await prepare(page);
    await page.waitForLoadState('networkidle').catch(() => undefined);
    const devTools = await context.newCDPSession(page);
    const { data } = await devTools.send('Page.captureScreenshot', { format: 'webp', quality: QUALITY });
    const bytes = Buffer.from(data, 'base64');
    if (bytes.length > MAX_BYTES) throw new Error(`picture ${name}: ${bytes.length} bytes`);
    writeFileSync(join(FOLDER, `${name}.webp`), bytes);
    process.stdout.write(`${name}.webp: ${(bytes.length / 1000).toFixed(0)} KB\n`);
  } finally {
    await context.close();
  }
}

const tempDir = makeTempDir();
const [web, lists, dns] = await Promise.all([1, 2, 3].map(() => freePort(['127.0.0.1'])));
const demo = await Demo.open({
  dir: tempDir.path,
  ports: { web: web!, lists: lists!, dns: dns! },
  days: 2,
  perDay: 60_000,
});
const browser = await openBrowser();
try {
  // Waits for real blocked queries at the top of the log, because the current policy does not explain the generated
  // rows.
  const made = await demo.api.queryCount('status=BLOCKED_LIST');
  await demo.api.untilQueryCount(made + 5, 'status=BLOCKED_LIST');
  mkdirSync(FOLDER, { recursive: true });
  for (const picture of PICTURES) await take(browser, demo, picture);
} finally {
  await browser.close();
  await demo.close();
  tempDir.remove();
}
