/**
 * Each page of the dashboard at common sizes and in all themes: nothing overflows horizontally, nothing is cut off or
 * overlaps, targets are large enough, and axe has no findings. With `WEIR_TEST_TRACE=1` a screenshot of each view is
 * saved in data/browser/screens/.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expectAccessible } from '../support/browser/accessible.ts';
import { DashboardFixture } from '../support/browser/dashboard-fixture.ts';
import { layoutFaults } from '../support/browser/layout-faults.ts';
import { followPath } from '../support/browser/page-steps.ts';
import { RECORDS_PAGES, untilQuiet, Viewport } from '../support/browser/watched-page.ts';
import { DashboardPath } from '../../shared/dashboard-paths.ts';

const PICTURES = join(import.meta.dirname, '..', '..', 'data', 'browser', 'screens');
/** Languages with a catalogue, except English. */
const CATALOGUES = join(import.meta.dirname, '..', '..', 'control-plane', 'dashboard', 'src', 'i18n');
const TRANSLATIONS = readdirSync(CATALOGUES).flatMap((file) => /^(?!en)(\w+)\.json$/.exec(file)?.[1] ?? []);
/** Paths that the server serves, but that are not pages: the dashboard shows the login or nothing. */
const NO_PAGES: readonly string[] = ['login'];
/** Parts of the settings other than keys. */
const PARTS = ['account', 'sessions', 'users', 'tokens', 'backup', 'import', 'tls'].map(
  (part) => `settings?part=${part}`,
);
const VIEWS = [
  ...Object.values(DashboardPath).filter((path) => !NO_PAGES.includes(path)),
  ...PARTS,
  ...['clients?tab=access', 'clients?tab=bypass', 'clients?tab=subnets', 'groups?open=1'],
];

let fixture: DashboardFixture;

beforeAll(async () => {
  if (RECORDS_PAGES) mkdirSync(PICTURES, { recursive: true });
  fixture = await DashboardFixture.open();
  await fill();
});
afterAll(() => fixture.close());

/** Creates one entity of each kind, with long or hostile names. */
async function fill(): Promise<void> {
  const { api } = fixture;
  const long = 'A group with a very long name, one that needs more than one line on any phone';
  await api.expect(201, 'POST', '/groups', { name: long, comment: '<b>bold</b>' });
  const client = { ip_address: '192.0.2.77', name: 'Anna’s "phone" <img src=x onerror=alert(1)>' };
  await api.expect(201, 'POST', '/clients', client);
  const source = { name: 'Ads', url: 'https://lists.example.org/ads.txt', enabled: false };
  await api.expect(201, 'POST', '/blocklist-sources', source);
  await api.expect(201, 'POST', '/services', { service_id: 'youtube', group_id: 1 });
  await api.expect(201, 'POST', '/client-subnets', { subnet_cidr: '192.0.2.0/24', group_id: 1 });
  await api.expect(201, 'POST', '/local-records', {
    hostname: 'printer',
    domain: 'home.arpa',
    ip: '192.0.2.9',
  });
  await fixture.ask(['dns.google', 'xn--bcher-kva.example', '\\000\\255<script>.example.org']);
}

/** Doubles the text size, as readers set it in the browser. */
async function enlargeText(page: Page): Promise<void> {
  const devTools = await page.context().newCDPSession(page);
  await devTools.send('Page.setFontSizes', { fontSizes: { standard: 32, fixed: 26 } });
}

/** Saves a screenshot if screenshots are requested. */
async function picture(page: Page, path: string, of: string): Promise<void> {
  const name = path.replace(/\W/g, '-') || 'overview';
  if (RECORDS_PAGES) await page.screenshot({ path: join(PICTURES, `${name}-${of}.png`) });
}

/** Saves screenshots in the themes that differ only in colours, which no test checks. */
async function picturesOfThemes(page: Page, path: string, size: string): Promise<void> {
  if (!RECORDS_PAGES) return;
  await page.emulateMedia({ colorScheme: 'light' });
  await picture(page, path, `${size}-light`);
  await page.emulateMedia({ forcedColors: 'active' });
  await picture(page, path, `${size}-forced-colors`);
  await page.emulateMedia({ colorScheme: 'dark', forcedColors: 'none' });
  await picture(page, path, `${size}-dark`);
}

describe('each page of the dashboard', () => {
  test.each(VIEWS)('/%s fits every screen size and large text, and has no axe findings', async (path) => {
    await fixture.withPage({ isCalm: true, theme: 'dark', viewport: Viewport.phone }, async (page) => {
      await page.goto(`./${path}`);
      for (const [size, viewport] of Object.entries(Viewport)) {
        await page.setViewportSize(viewport);
        await untilQuiet(page);
        await picturesOfThemes(page, path, size);
        expect({ size, faults: await layoutFaults(page) }).toEqual({ size, faults: [] });
      }
      await expectAccessible(page);
      // Makes the window as high as the page, because the bar of a phone covers content that is scrolled below it.
      await page.setViewportSize({ ...Viewport.phone, height: 4_000 });
      await untilQuiet(page);
      await expectAccessible(page);
      await page.emulateMedia({ colorScheme: 'light' });
      await expectAccessible(page);
      await page.setViewportSize(Viewport.tablet);
      await enlargeText(page);
      await untilQuiet(page);
      await picture(page, path, 'large-text');
      expect(await layoutFaults(page)).toEqual([]);
    });
  });

  test.each(['en-XA', 'ar-XB', ...TRANSLATIONS])(
    'fits a narrow phone in the language %s',
    async (language) => {
      const viewport = { width: 320, height: 700 };
      await fixture.withPage({ isCalm: true, viewport }, async (page) => {
        await page.addInitScript(`localStorage.setItem('weir.language', '${language}')`);
        await page.goto('./');
        for (const path of VIEWS) {
          await followPath(page, path);
          expect({ path, faults: await layoutFaults(page) }).toEqual({ path, faults: [] });
        }
      });
    },
  );
});
