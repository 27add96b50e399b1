/**
 * Each page of the dashboard at the sizes and in the themes that people have: nothing sticks out sideways, nothing is cut
 * off or lies over something else, what can be pressed is large enough, and axe finds nothing. Pictures of all of it go
 * to data/browser/screens/.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { CDPSession, Page } from 'playwright-core';
import { expectAccessible } from '../support/browser/accessible.ts';
import { DashboardRoom } from '../support/browser/dashboard-room.ts';
import { layoutFaults } from '../support/browser/layout-faults.ts';
import { untilQuiet, Viewport } from '../support/browser/watched-page.ts';
import { DashboardPath } from '../../shared/dashboard-paths.ts';

const PICTURES = join(import.meta.dirname, '..', '..', 'data', 'browser', 'screens');
/** Further views of pages. */
const VIEWS = ['clients?tab=bypass', 'groups?open=1'];
const THEMES = ['light', 'dark'] as const;
/** Where the server has a page, but the dashboard shows the login or nothing of its own there. */
const NO_PAGES: readonly string[] = ['login'];
/** Parts of the settings that are more than keys. */
const PARTS = ['account', 'sessions', 'users', 'tokens', 'backup', 'import', 'tls'].map(
  (part) => `settings?part=${part}`,
);
const PATHS = [...Object.values(DashboardPath).filter((path) => !NO_PAGES.includes(path)), ...PARTS];

let room: DashboardRoom;

beforeAll(async () => {
  mkdirSync(PICTURES, { recursive: true });
  room = await DashboardRoom.open();
  await fill();
});
afterAll(() => room.close());

/** Something of everything, with names that are long or hostile. */
async function fill(): Promise<void> {
  const { api } = room;
  const long = 'A group with a name that is so long that it needs more than one line on any phone';
  await api.expect(201, 'POST', '/groups', { name: long, comment: '<b>bold</b>' });
  const client = { ip_address: '192.0.2.77', name: 'Anna’s "phone" <img src=x onerror=alert(1)>' };
  await api.expect(201, 'POST', '/clients', client);
  const source = { name: 'Ads', url: 'https://lists.example.org/ads.txt', enabled: false };
  await api.expect(201, 'POST', '/blocklist-sources', source);
  await api.expect(201, 'POST', '/services', { service_id: 'youtube', group_id: 1 });
  await api.expect(201, 'POST', '/local-records', {
    hostname: 'printer',
    domain: 'home.arpa',
    ip: '192.0.2.9',
  });
  await room.ask(['dns.google', 'xn--bcher-kva.example', '\\000\\255<script>.example.org']);
}

/** Sets the size that the reader has chosen in the browser, until the session is detached. */
async function withTextTwiceAsLarge(page: Page): Promise<CDPSession> {
  const devTools = await page.context().newCDPSession(page);
  await devTools.send('Page.setFontSizes', { fontSizes: { standard: 32, fixed: 26 } });
  return devTools;
}

describe('each page of the dashboard', () => {
  test.each([...PATHS, ...VIEWS])(
    '/%s fits every size, theme and language, and has no finding of axe',
    async (path) => {
      await room.withPage({ isCalm: true }, async (page) => {
        await page.goto(`./${path}`);
        const name = path.replace(/\W/g, '-') || 'overview';
        const picture = (of: string): Promise<unknown> =>
          page.screenshot({ path: join(PICTURES, `${name}-${of}.png`) });
        for (const [size, viewport] of Object.entries(Viewport))
          for (const theme of THEMES) {
            await page.setViewportSize(viewport);
            await page.emulateMedia({ colorScheme: theme });
            await untilQuiet(page);
            await picture(`${size}-${theme}`);
            expect({ size, theme, faults: await layoutFaults(page) }).toEqual({ size, theme, faults: [] });
          }
        await expectAccessible(page);
        // As high as the page: the bar of a phone lies over what is scrolled below it.
        await page.setViewportSize({ ...Viewport.phone, height: 4_000 });
        await untilQuiet(page);
        await expectAccessible(page);
        await page.setViewportSize(Viewport.tablet);
        await page.emulateMedia({ forcedColors: 'active' });
        await untilQuiet(page);
        await picture('forced-colors');
        await page.emulateMedia({ forcedColors: 'none' });
        const twice = await withTextTwiceAsLarge(page);
        await untilQuiet(page);
        await picture('large-text');
        expect({ text: 'twice', faults: await layoutFaults(page) }).toEqual({ text: 'twice', faults: [] });
        await twice.detach();
        for (const language of ['en-XA', 'ar-XB']) {
          await page.evaluate(`localStorage.setItem('weir.language', '${language}')`);
          await page.setViewportSize({ width: 320, height: 700 });
          await page.reload();
          await untilQuiet(page);
          expect({ language, faults: await layoutFaults(page) }).toEqual({ language, faults: [] });
        }
      });
    },
  );
});
