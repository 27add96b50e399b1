/** What people see when something is away: the database, or the parts of the page that an upgrade has replaced. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { expectAccessible } from '../support/browser/accessible.ts';
import { DashboardRoom } from '../support/browser/dashboard-room.ts';
import { logRowOf } from '../support/browser/page-steps.ts';
import { EVERY_ADDRESS } from '../support/dns/echoing-upstream.ts';
import { HungDatabase } from '../support/weir/hung-database.ts';

let room: DashboardRoom;

beforeAll(async () => {
  room = await DashboardRoom.open();
});
afterAll(() => room.close());

describe('while the database is away', () => {
  test('the page says so, keeps what it has, shows new queries, and goes on afterwards', async () => {
    const [before, during] = ['before.away.example', 'during.away.example'];
    await room.askLogged(before);
    await room.withPage({ expected: [/^503 /, /status of 503/] }, async (page) => {
      const stream = page.waitForResponse((response) => response.url().includes('/queries/stream'));
      await page.goto('./queries?domain=away.example');
      await stream;
      await logRowOf(page, before).waitFor();
      {
        using _hung = HungDatabase.of(room.weir);
        await room.weir.untilHealth(({ checks }) => checks.database.status !== 'ok');
        expect(await room.ask([during])).toEqual([EVERY_ADDRESS]);
        await logRowOf(page, during).waitFor();
        await page.getByText('only this node: the database is away').waitFor();

        await page.getByRole('switch', { name: 'Live' }).press('Space');
        await page.getByRole('button', { name: 'Show newest' }).click();
        const alert = page.getByRole('alert').filter({ hasText: 'The database is away.' });
        await alert.getByText('What you see is older.').waitFor();
        await logRowOf(page, before).waitFor();
        await logRowOf(page, during).waitFor();
        await expectAccessible(page);
        await page.getByRole('link', { name: 'Overview' }).click();
        await page.getByText('The database is slow or away at times. DNS goes on.').waitFor();
      }
      await room.weir.untilHealth(({ checks }) => checks.database.status === 'ok');
      expect(await room.api.untilQueryCount(1, `domain=${during}`)).toBe(1);
      await page.goBack();
      await logRowOf(page, during).waitFor();
      await logRowOf(page, before).waitFor();
      await page.getByText('2 rows').waitFor();
      await page.getByRole('link', { name: 'Overview' }).click();
      await page.getByText('All is well: DNS answers').waitFor();
    });
  });
});

describe('after an upgrade', () => {
  test('a tab that was open offers to reload where a part of it is gone, and the rest of it works on', async () => {
    const expected = [/^404 GET \/assets\/history-page/, /status of 404/, /dynamically imported module/];
    await room.withPage({ expected }, async (page) => {
      // The names of files are those of their content: an upgrade has others.
      await page.route('**/assets/history-page-*.js', (route) =>
        route.continue({ url: route.request().url().replace('.js', '0.js') }),
      );
      await page.goto('./');
      await page.getByRole('link', { name: 'History' }).click();
      await page.getByText('Weir has been upgraded meanwhile. Reload to go on.').waitFor();
      await expectAccessible(page);
      await page.getByRole('link', { name: 'Queries' }).click();
      await page.getByRole('heading', { name: 'Queries', level: 1 }).waitFor();
      await page.getByRole('link', { name: 'History' }).click();
      await page.unrouteAll();
      await page.getByRole('button', { name: 'Reload' }).click();
      await page.getByRole('heading', { name: 'History', level: 1 }).waitFor();
      await page.getByRole('table', { name: 'Changes' }).waitFor();
    });
  });
});
