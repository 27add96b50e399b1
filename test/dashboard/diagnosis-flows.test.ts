/** The page of problems, load and the log of the node; and the notice of a new Weir version. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { SystemLog } from '../../shared/api/system-api.ts';
import type { SystemUpdate } from '../../shared/api/updates/updates-api.ts';
import { expectAccessible } from '../support/browser/accessible.ts';
import { DashboardFixture, PASSWORD } from '../support/browser/dashboard-fixture.ts';
import { layoutFaults } from '../support/browser/layout-faults.ts';
import { untilQuiet, Viewport } from '../support/browser/watched-page.ts';
import type { Page } from '../support/browser/watched-page.ts';

/** An address on which nothing listens, so the upstream refuses connections. */
const UPSTREAMS = ['127.0.0.1:9'];
const NARROW = { ...Viewport.phone, width: 320 };

let fixture: DashboardFixture;
let viewer: string;

beforeAll(async () => {
  fixture = await DashboardFixture.open({ upstreams: UPSTREAMS });
  await fixture.api.expect(201, 'POST', '/users', { username: 'vera', password: PASSWORD, role: 'viewer' });
  viewer = await fixture.logIn('vera');
});
afterAll(() => fixture.close());

/** Makes the dashboard's requests return a report of a new version. */
async function withNewer(page: Page, newer: SystemUpdate['newer']): Promise<void> {
  const source = 'https://weir.example.org/newest.json';
  const json = { source, version: '0.1.0', checked_at: new Date().toISOString(), newer, fault: null };
  await page.route('**/api/system/update', (route) => route.fulfill({ json }));
}

describe('the page Diagnosis', () => {
  test('lists the problems, and the navigation of every page shows their number', async () => {
    await fixture.withPage({}, async (page) => {
      await page.goto('./history');
      const link = page
        .getByRole('navigation')
        .first()
        .getByRole('link', { name: /^Diagnosis/ });
      await link.getByText('1 problem').waitFor({ state: 'attached' });
      await link.click();
      await page.getByRole('heading', { name: 'Diagnosis', level: 1 }).waitFor();
      await page.getByRole('main').getByText('No upstream server responds', { exact: false }).waitFor();
      await page.getByRole('main').getByRole('link', { name: 'Show upstream servers' }).click();
      await page.getByRole('heading', { name: 'Upstreams', level: 1 }).waitFor();
    });
  });

  test('shows CPU, memory, disk and the size of the database', async () => {
    await fixture.withPage({ session: viewer }, async (page) => {
      await page.goto('./diagnosis');
      for (const label of [
        'CPU used by Weir',
        'Memory used by Weir',
        'Free disk space',
        'Database',
        'Running for',
      ])
        await page.locator('dt', { hasText: label }).waitFor();
      await page.locator('dt', { hasText: 'Database' }).locator('xpath=..').getByText(/\d.*B/).waitFor();
      await page
        .locator('dt', { hasText: 'Free disk' })
        .locator('xpath=..')
        .getByText(/% of .* used/)
        .waitFor();
    });
  });

  test('shows the program log of the node to administrators only', async () => {
    const lines = await fixture.api.expect<SystemLog>(200, 'GET', '/system/log');
    await fixture.withPage({}, async (page) => {
      await page.goto('./diagnosis');
      await page.getByRole('heading', { name: 'Warnings and errors' }).waitFor();
      if (lines.length === 0) await page.getByText('No warnings or errors').waitFor();
      else await page.getByRole('table').getByText(lines[0]!.message).first().waitFor();
    });
    await fixture.withPage({ session: viewer }, async (page) => {
      const asked: string[] = [];
      page.on('request', (request) => asked.push(new URL(request.url()).pathname));
      await page.goto('./diagnosis');
      await page.getByRole('heading', { name: 'Machine' }).waitFor();
      await untilQuiet(page);
      expect(await page.getByText('Warnings and errors').count()).toBe(0);
      expect(asked.filter((path) => /\/system\/(log|update)$/.test(path))).toEqual([]);
    });
  });

  test('fits every screen size in the dark theme, with a hostile log line and without axe findings', async () => {
    const line = {
      ...{ timestamp: new Date().toISOString(), level: 'error', message: '<img src=x onerror=alert(1)>' },
      fields: `path="${'/very-long-folder'.repeat(40)}"`,
    };
    await fixture.withPage({ theme: 'dark', isCalm: true }, async (page) => {
      await page.route('**/api/system/log', (route) => route.fulfill({ json: [line] }));
      await page.goto('./diagnosis');
      await page.getByText(line.message).waitFor();
      for (const viewport of [NARROW, ...Object.values(Viewport)]) {
        await page.setViewportSize(viewport);
        await untilQuiet(page);
        expect({ viewport, faults: await layoutFaults(page) }).toEqual({ viewport, faults: [] });
      }
      await expectAccessible(page);
    });
  });
});

describe('the notice of a new release', () => {
  const NEWER = { version: '0.2.0', url: 'https://weir.example.org/releases/0.2.0' };

  test.each(['./', './diagnosis'])(
    'is shown on %s, and links to the page about the release',
    async (path) => {
      await fixture.withPage({}, async (page) => {
        await withNewer(page, NEWER);
        await page.goto(path);
        await page.getByText('Weir 0.2.0 has been released. This node runs 0.1.0.').waitFor();
        const link = page.getByRole('link', { name: 'Read about it on weir.example.org' });
        expect([await link.getAttribute('href'), await link.getAttribute('rel')]).toEqual([
          NEWER.url,
          'noopener noreferrer',
        ]);
        await expectAccessible(page);
      });
    },
  );

  test('is not shown without a newer release, and not to a viewer', async () => {
    await fixture.withPage({}, async (page) => {
      await page.goto('./diagnosis');
      await page.getByRole('heading', { name: 'Warnings and errors' }).waitFor();
      await untilQuiet(page);
      expect(await page.getByText('has been released').count()).toBe(0);
    });
    await fixture.withPage({ session: viewer }, async (page) => {
      await withNewer(page, NEWER);
      await page.goto('./');
      await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
      await untilQuiet(page);
      expect(await page.getByText('has been released').count()).toBe(0);
    });
  });
});
