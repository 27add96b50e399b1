/** Charts of the overview: who, what and through which server, each with its queries in the log. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Locator } from 'playwright-core';
import { expectAccessible } from '../support/browser/accessible.ts';
import { ASKED_NAMES, DashboardFixture, PASSWORD } from '../support/browser/dashboard-fixture.ts';
import { layoutFaults } from '../support/browser/layout-faults.ts';
import { untilQuiet, Viewport } from '../support/browser/watched-page.ts';
import type { Page } from '../support/browser/watched-page.ts';

/** A name of the service YouTube, and one that a list blocks. */
const SERVICE_NAME = 'www.youtube.com';
const LISTED_NAME = 'banner.ads.example';
const NARROW = { ...Viewport.phone, width: 320 };

let fixture: DashboardFixture;

beforeAll(async () => {
  fixture = await DashboardFixture.open();
  await fixture.api.expect(201, 'POST', '/services', { service_id: 'youtube', group_id: 1 });
  const list = await fixture.api.expect<{ id: number }>(201, 'POST', '/blocklist-sources', {
    name: 'Own rules',
    text: '||ads.example^\n',
  });
  expect(list.id).toBeGreaterThan(0);
  await fixture.ask([SERVICE_NAME, SERVICE_NAME, LISTED_NAME]);
  await fixture.api.untilQueryCount(2, `domain=${SERVICE_NAME}`);
  await fixture.api.untilQueryCount(1, `domain=${LISTED_NAME}`);
});
afterAll(() => fixture.close());

function card(page: Page, title: string): Locator {
  return page.locator('section').filter({ has: page.getByRole('heading', { name: title, exact: true }) });
}

/** Opens the overview and scrolls to its charts. */
async function openCharts(page: Page): Promise<void> {
  await page.goto('./');
  await page.getByRole('heading', { name: 'Recently blocked' }).waitFor();
  await untilQuiet(page);
  await page.evaluate('scrollTo(0, document.body.scrollHeight)');
  await card(page, 'Query types').waitFor();
  await untilQuiet(page);
}

describe('the charts of the overview', () => {
  test.each([
    ['Query types', 'A', /[?&]type=A(&|$)/],
    ['Queries by upstream server', '127.0.0.1', /[?&]upstream=[^&]*127\.0\.0\.1/],
    ['Blocked by service', 'YouTube', /[?&]status=BLOCKED_SERVICE&block_source=YouTube(&|$)/],
    ['Devices with the most blocked queries', '127.0.0.1', /[?&]client=127\.0\.0\.1&status=BLOCKED(&|$)/],
    ['Blocked by list', 'Own rules', /lists\?.*open=\d+/],
  ])('%s has a bar for %s, which links to its queries or its list', async (title, name, address) => {
    await fixture.withPage({}, async (page) => {
      await openCharts(page);
      await card(page, title).getByRole('link', { name }).first().click();
      await page.waitForURL(address);
      await untilQuiet(page);
    });
  });

  test('count the same queries as the log', async () => {
    await fixture.withPage({}, async (page) => {
      await openCharts(page);
      const countIn = async (title: string): Promise<string> =>
        card(page, title).getByRole('listitem').first().innerText();
      expect(await countIn('Blocked by service')).toMatch(/YouTube\s+2$/);
      expect(await countIn('Blocked by list')).toMatch(/Own rules\s+1$/);
      const sources = (source: string): Promise<number> =>
        fixture.api.queries(`block_source=${source}`).then(({ length }) => length);
      expect([await sources('YouTube'), await sources('Own%20rules'), await sources('Tube')]).toEqual([
        2, 1, 0,
      ]);
      expect(await countIn('Devices with the most blocked queries')).toMatch(/\s4$/);
      expect(await countIn('Queries by upstream server')).toMatch(
        new RegExp(`100%.*average.*recent median[^]*\\s${ASKED_NAMES.length}$`),
      );
    });
  });

  test('show the activity by device as a table for screen readers', async () => {
    await fixture.withPage({}, async (page) => {
      await openCharts(page);
      const activity = card(page, 'Activity by device');
      await activity.getByRole('button', { name: 'Show as table' }).click();
      const table = activity.getByRole('region', { name: 'Activity by device as a table' });
      await table.getByRole('columnheader', { name: '127.0.0.1' }).waitFor();
      await activity.getByRole('list').getByRole('link', { name: '127.0.0.1' }).click();
      await page.waitForURL(/[?&]client=127\.0\.0\.1/);
    });
  });

  test('follow the period selected on the page', async () => {
    await fixture.withPage({}, async (page) => {
      await openCharts(page);
      const asked = page.waitForRequest(/\/stats\/breakdown\?.*period=1h/);
      await page.getByRole('radio', { name: '1 hour' }).click();
      await asked;
    });
  });

  test('fit every screen size in the dark theme without axe findings, for an administrator and for a viewer', async () => {
    await fixture.api.expect(201, 'POST', '/users', { username: 'vera', password: PASSWORD, role: 'viewer' });
    const session = await fixture.logIn('vera');
    await fixture.withPage({ session, theme: 'dark', isCalm: true }, async (page) => {
      await openCharts(page);
      for (const viewport of [NARROW, ...Object.values(Viewport)]) {
        await page.setViewportSize(viewport);
        await untilQuiet(page);
        expect({ viewport, faults: await layoutFaults(page) }).toEqual({ viewport, faults: [] });
      }
      await expectAccessible(page);
    });
  });
});
