/**
 * Status of the server on every page: whether blocking is active, faults, and a warning that data are outdated while
 * Weir does not respond.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DashboardPath } from '../../shared/dashboard-paths.ts';
import type { Blocking } from '../../shared/api/policy/blocking-api.ts';
import type { ManagedDomain } from '../../shared/api/policy/rules-api.ts';
import { expectAccessible } from '../support/browser/accessible.ts';
import { DashboardFixture } from '../support/browser/dashboard-fixture.ts';
import { layoutFaults } from '../support/browser/layout-faults.ts';
import { followPath } from '../support/browser/page-steps.ts';
import { untilQuiet, Viewport } from '../support/browser/watched-page.ts';
import type { Page } from '../support/browser/watched-page.ts';
import { makeTempDir, prepareDataDir } from '../support/weir/data-dir.ts';
import { freePort } from '../support/weir/free-ports.ts';
import { Weir } from '../support/weir/weir-process.ts';
import type { WeirOptions } from '../support/weir/weir-process.ts';

/** All pages except the login, which has no frame. */
const PATHS = Object.values(DashboardPath).filter((path) => path !== DashboardPath.login);
/** Addresses on which nothing listens, so every upstream refuses connections. */
const UPSTREAMS = ['127.0.0.1:9', '127.0.0.2:9', '127.0.0.3:9'];
/** Browser errors that are expected while Weir is stopped. */
const AWAY = [/ERR_/, /Failed to load resource/, /dynamically imported module/, /Unable to preload/];

let fixture: DashboardFixture;
let options: WeirOptions;
const home = makeTempDir();
beforeAll(async () => {
  const [webPort, dnsPort] = [await freePort(['127.0.0.1']), await freePort(['127.0.0.1'])];
  await prepareDataDir(home.dataDir);
  options = { tempDir: home, webPort, dnsPort, upstreams: UPSTREAMS };
  fixture = await DashboardFixture.open(options);
});
afterAll(async () => {
  await fixture.close();
  home.remove();
});

async function blocking(): Promise<Blocking> {
  return fixture.api.expect<Blocking>(200, 'GET', '/blocking');
}

/** Visits every page once to load its code. */
async function visitAll(page: Page): Promise<void> {
  await page.goto('./');
  for (const path of PATHS) await followPath(page, path);
}

describe('upstream servers that have never responded', () => {
  test.each([
    [
      'en-GB',
      '3 of 3 upstream servers do not reply.',
      'The server refused the connection.',
      'Show upstream servers',
    ],
    [
      'de-DE',
      '3 von 3 Upstream-Servern antworten nicht.',
      'Der Server hat die Verbindung abgelehnt.',
      'Upstream-Server anzeigen',
    ],
  ])('are never shown as responding, in %s', async (locale, down, cause, link) => {
    await fixture.withPage({ locale }, async (page) => {
      await page.goto('./');
      await page.getByRole('main').getByRole('link', { name: link }).click();
      await page.getByText(down).waitFor();
      await page.getByText(cause).first().waitFor();
      expect(await page.getByText(/All .* reply|Alle .* antworten|ECONNREFUSED/).count()).toBe(0);
      await expectAccessible(page);
    });
  });
});

describe('the status on every page', () => {
  test('lists all problems with the fix for each, at every screen size', async () => {
    await fixture.withPage({}, async (page) => {
      await page.goto('./history');
      await page.getByRole('button', { name: '1 problem' }).click();
      const dialog = page.getByRole('dialog', { name: 'Problems' });
      await dialog.getByText('No upstream server responds', { exact: false }).waitFor();
      for (const viewport of Object.values(Viewport)) {
        await page.setViewportSize(viewport);
        await untilQuiet(page);
        expect(await layoutFaults(page)).toEqual([]);
      }
      await expectAccessible(page);
      await dialog.getByRole('link', { name: 'Show upstream servers' }).click();
      await page.getByRole('heading', { name: 'Upstreams', level: 1 }).waitFor();
      await dialog.waitFor({ state: 'detached' });
    });
  });

  test('shows a warning if blocking is enabled but no name is blocked', async () => {
    const rules = await fixture.api.expect<{ data: ManagedDomain[] }>(200, 'GET', '/managed-domains');
    await fixture.withPage({}, async (page) => {
      await page.goto('./');
      const state = page.locator('[data-tone]');
      await state.filter({ hasText: 'Blocking is active. 1 name' }).waitFor();
      for (const { id } of rules.data) await fixture.api.expect(204, 'DELETE', `/managed-domains/${id}`);
      const nothing = 'Blocking is enabled, but nothing is blocked';
      await page.locator('[data-tone="off"]').filter({ hasText: nothing }).waitFor();
      await page.getByRole('main').getByText(nothing, { exact: false }).waitFor();
      await page.getByRole('main').getByRole('link', { name: 'Add list' }).waitFor();
      expect(await page.getByText('No problems').count()).toBe(0);
      await expectAccessible(page);
      await fixture.api.expect(201, 'POST', '/managed-domains', { domain: 'ads.tracker.example' });
      await page.locator('[data-tone="on"]').waitFor();
    });
  });

  const ENGLISH = {
    ...{ pause: 'Pause blocking', span: /^For 30/, resume: 'Resume' },
    ...{ isOff: /^Blocking is paused for another/, isOn: /^Blocking is active\./ },
  };
  const GERMAN = {
    ...{ pause: 'Blockieren pausieren', span: /^Für 30/, resume: 'Fortsetzen' },
    ...{ isOff: /^Blockieren ist noch .* pausiert/, isOn: /^Blockieren ist aktiv\./ },
  };

  test.each([
    ['en-GB', ENGLISH],
    ['de-DE', GERMAN],
  ])('pauses and resumes blocking on every page, in %s', async (locale, texts) => {
    await fixture.withPage({ locale, viewport: Viewport.phone, isTouched: true }, async (page) => {
      await page.goto('./');
      const state = page.locator('[data-tone]');
      for (const path of PATHS) {
        await followPath(page, path);
        await page.getByRole('button', { name: texts.pause, exact: true }).click();
        await page.getByRole('menuitem', { name: texts.span }).click();
        await state.filter({ hasText: texts.isOff }).waitFor();
        expect(await blocking()).toMatchObject({ enabled: false });
        await page.getByRole('button', { name: texts.resume, exact: true }).click();
        await state.filter({ hasText: texts.isOn }).waitFor();
      }
    });
  });

  test('pauses blocking until tomorrow, for a selected time, and until it is resumed', async () => {
    await fixture.withPage({}, async (page) => {
      await page.goto('./');
      const choose = async (name: RegExp | string): Promise<void> => {
        await page.getByRole('button', { name: 'Pause blocking', exact: true }).click();
        await page.getByRole('menuitem', { name }).click();
      };
      const resume = page.getByRole('button', { name: 'Resume', exact: true });
      await choose(/^Until tomorrow, 0?6:00/);
      await resume.waitFor();
      expect((await blocking()).timer_secs).toBeGreaterThan(0);
      await resume.click();

      await choose('Other duration…');
      const form = page.getByRole('dialog', { name: 'Pause blocking' });
      await form.getByLabel('Duration').fill('soon');
      await form.getByRole('button', { name: 'Pause', exact: true }).click();
      await form.getByText('Enter a duration from one second to 365 days.').waitFor();
      await expectAccessible(page);
      await form.getByLabel('Duration').fill('90');
      await form.getByRole('button', { name: 'Pause', exact: true }).click();
      await resume.waitFor();
      const { timer_secs: secs } = await blocking();
      expect([secs! > 3_600, secs! <= 5_400]).toEqual([true, true]);
      await resume.click();

      await choose('Until I resume it');
      await resume.waitFor();
      expect(await blocking()).toMatchObject({ enabled: false, timer_secs: null });
      // Another client resumes blocking; the page shows this without a reload.
      await fixture.api.expect(200, 'POST', '/blocking', { enabled: true });
      await resume.waitFor({ state: 'detached' });
    });
  });
});

describe('while Weir does not respond', () => {
  const LOST = 'No connection to Weir since';

  test('every page is marked as outdated, at every screen size, until the process continues', async () => {
    await fixture.withPage({ expected: AWAY, theme: 'dark' }, async (page) => {
      await visitAll(page);
      await page.evaluate('globalThis.isSamePage = true');
      const note = page.getByRole('alert').filter({ hasText: LOST });
      fixture.weir.child.kill('SIGSTOP');
      try {
        await note.waitFor();
        expect(await page.locator('[data-tone="on"]').count()).toBe(0);
        for (const path of PATHS) {
          await page.evaluate(`history.pushState({}, '', './${path}')`);
          await note.waitFor();
        }
        for (const viewport of Object.values(Viewport)) {
          await page.setViewportSize(viewport);
          expect(await layoutFaults(page)).toEqual([]);
        }
      } finally {
        fixture.weir.child.kill('SIGCONT');
      }
      await note.waitFor({ state: 'detached' });
      await page.locator('[data-tone="on"]').waitFor();
      expect(await page.evaluate('globalThis.isSamePage')).toBe(true);
    });
  });

  test('a page recovers after a restart, even if its code was not loaded, and no page reports an upgrade', async () => {
    await fixture.withPage(
      { expected: [...AWAY, /^5\d\d /, /^401 /, /status of/], locale: 'de-DE' },
      async (page) => {
        await page.goto('./');
        await untilQuiet(page);
        const seen = await page.context().newPage();
        await seen.goto('./lists');
        await untilQuiet(seen);
        await seen.evaluate('globalThis.isSamePage = true');
        const noteOf = (of: Page) =>
          of.getByRole('alert').filter({ hasText: 'Keine Verbindung zu Weir seit' });

        await fixture.weir.end('SIGTERM');
        await noteOf(page).waitFor();
        await noteOf(seen).waitFor();
        await page.evaluate(`history.pushState({}, '', './history')`);
        await page
          .getByText('Diese Seite konnte nicht geladen werden: Weir antwortet nicht.', { exact: false })
          .waitFor();
        expect(await page.getByText('aktualisiert. Lade').count()).toBe(0);

        await using _weir = await Weir.start(options);
        await page.getByRole('table').first().waitFor();
        await noteOf(seen).waitFor({ state: 'detached' });
        expect(await seen.evaluate('globalThis.isSamePage')).toBe(true);
        expect(await page.getByText('wurde aktualisiert').count()).toBe(0);
      },
    );
  });
});
