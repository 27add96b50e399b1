/**
 * Tasks with the query log: find the reason, decide, watch new rows, share the current view. Also the log and other
 * pages without the database, and after an upgrade.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ExplainAnswer } from '../../shared/api/explain-api.ts';
import type { Client } from '../../shared/api/policy/clients-api.ts';
import type { Grant } from '../../shared/api/policy/grants-api.ts';
import { expectAccessible } from '../support/browser/accessible.ts';
import { BLOCKED, DashboardFixture } from '../support/browser/dashboard-fixture.ts';
import { choose, logRowOf, noticeOf, openExplained } from '../support/browser/page-steps.ts';
import { untilQuiet } from '../support/browser/watched-page.ts';
import type { Page } from '../support/browser/watched-page.ts';
import { EVERY_ADDRESS } from '../support/dns/echoing-upstream.ts';
import { HungDatabase } from '../support/weir/hung-database.ts';
import { startListServer } from '../support/weir/list-server.ts';
import type { ListServer } from '../support/weir/list-server.ts';
import { clientOnce, clientsOf } from '../support/weir/stored-clients.ts';

const LISTED = 'ads.listed.example';

let fixture: DashboardFixture;
let lists: ListServer;

beforeAll(async () => {
  [fixture, lists] = await Promise.all([DashboardFixture.open(), startListServer()]);
  lists.serve('/first.txt', `# two names\nother.listed.example\n${LISTED}\n`);
  lists.serve('/second.txt', `${LISTED}\n`);
  await fixture.api.addSource({ name: 'First list', url: lists.url('/first.txt') });
  await fixture.api.addSource({ name: 'Second list', url: lists.url('/second.txt') });
});
afterAll(async () => {
  await lists.close();
  await fixture.close();
});

/** Explanation of the newest query for a name. */
async function explained(name: string): Promise<ExplainAnswer> {
  const [newest] = await fixture.api.queries(`domain=${name}`);
  return fixture.api.expect<ExplainAnswer>(200, 'GET', `/explain?query_id=${String(newest!.id)}`);
}

/** Opens the log with a filter, and waits until new rows appear automatically. */
async function openLive(page: Page, filter: string): Promise<void> {
  const stream = page.waitForResponse((response) => response.url().includes('/queries/stream'));
  await page.goto(`./queries?${filter}`);
  await stream;
  await untilQuiet(page);
}

/** The labels of all visible rows. */
async function shownRows(page: Page): Promise<(string | null)[]> {
  const rows = await page.getByRole('row', { name: 'asked by' }).all();
  return Promise.all(rows.map((row) => row.getAttribute('aria-label')));
}

describe('from a row of the query log, a user', () => {
  test('opens the reason of the block, with every matching list, and adds a rule that allows the name', async () => {
    await fixture.askLogged(LISTED);
    const { decided_by: decider } = await explained(LISTED);
    expect(decider).toMatchObject({ sources: ['First list', 'Second list'], line: 3 });
    await fixture.withPage({}, async (page) => {
      const drawer = await openExplained(page, LISTED);
      const decided = drawer.locator('section').filter({ hasText: 'Decided by' });
      expect(await decided.innerText()).toContain(decider!.rule);
      await decided.getByText('List: First list and Second list · line 3').waitFor();
      const stage = drawer.getByRole('listitem').filter({ hasText: 'Lists and rules' }).first();
      expect(await stage.innerText()).toMatch(/answers[^]*First list and Second list/);
      await expectAccessible(page);
      await drawer.getByRole('button', { name: 'Unblock…' }).click();
      const sheet = page.getByRole('dialog', { name: 'Unblock', exact: true });
      await choose(sheet, 'For', 'Group Default');
      await choose(sheet, 'Duration', 'until I remove it');
      await sheet.getByRole('switch', { name: 'With subdomains' }).press('Space');
      await sheet.getByText('A rule for the group Default').waitFor();
      await expectAccessible(page);
      await sheet.getByRole('button', { name: 'Unblock', exact: true }).click();
      await noticeOf(page, 'A rule now allows the name.');
      expect(await fixture.ask([LISTED])).toEqual([EVERY_ADDRESS]);
      await fixture.api.untilQueryCount(2, `domain=${LISTED}`);
      await openExplained(page, LISTED);
      expect(await stage.innerText()).toMatch(/Rule: ads.listed.example[^]*First list and Second list/);
    });
  });

  test('adds a rule that blocks the name, and the next row shows the rule', async () => {
    const name = 'unwanted.flow.example';
    await fixture.askLogged(name);
    await fixture.withPage({}, async (page) => {
      const drawer = await openExplained(page, name);
      await drawer.getByRole('button', { name: 'Block…' }).click();
      const sheet = page.getByRole('dialog', { name: 'Block', exact: true });
      await choose(sheet, 'For', 'Everyone');
      await choose(sheet, 'Duration', 'until I remove it');
      await sheet.getByRole('button', { name: 'Block', exact: true }).click();
      await noticeOf(page, 'A rule now blocks the name.');
      expect(await fixture.ask([name])).toEqual([BLOCKED]);
      await drawer.getByRole('button', { name: 'Close' }).click();
      await fixture.api.untilQueryCount(2, `domain=${name}`);
      // The new row is not shown yet, because the previous row has the focus.
      await page.getByRole('button', { name: '1 new', exact: true }).click();
      await logRowOf(page, name).filter({ hasText: 'Blocked by a rule' }).locator('time').click();
      const { decided_by: decider } = await explained(name);
      expect(decider).toMatchObject({ origin: 'managed_domain', rule: `*.${name}` });
      await drawer.getByText(`Rule: ${decider!.source}`).first().waitFor();
    });
  });

  test('opens an explanation of any name for a device or group, with lists of other groups and servers', async () => {
    const name = 'kids.unasked.example';
    lists.serve('/kids.txt', `||unasked.example^\n`);
    const { id: kids } = await fixture.api.expect<{ id: number }>(201, 'POST', '/groups', { name: 'Kids' });
    await fixture.api.addSource({ name: 'Kids list', url: lists.url('/kids.txt'), group_ids: [kids] });
    const client = { ip_address: '127.0.0.77', name: 'Tablet' };
    const { id: tablet } = await fixture.api.expect<{ id: number }>(201, 'POST', '/clients', client);
    await fixture.api.expect(200, 'PUT', `/clients/${String(tablet)}/group`, { group_id: kids });
    await fixture.withPage({}, async (page) => {
      await page.goto('./queries');
      await page.getByRole('button', { name: 'Explain a name' }).click();
      await page.getByRole('textbox', { name: 'Domain' }).fill(name);
      await page.getByRole('button', { name: 'Explain', exact: true }).click();
      await page.getByText('for the group Default').waitFor();
      const section = (title: string) => page.locator('section').filter({ hasText: title }).last();
      await section('Lists that contain this name').getByText('for other groups only').waitFor();
      expect(await section('Lists that contain this name').innerText()).toMatch(
        /Kids list[^]*\|\|unasked\.example\^/,
      );
      // The query went to the upstream server of the test.
      await page.getByText(/^Answered by /).waitFor();
      await section('Answer by this policy').getByText(EVERY_ADDRESS).waitFor();
      await expectAccessible(page);
      await page.getByRole('button', { name: 'Explain', exact: true }).click();
      await page.getByText(/left in the cache$/).waitFor();

      await page.goto(`./clients?open=${String(tablet)}`);
      await page.getByRole('link', { name: 'Explain a name' }).click();
      await page.getByRole('textbox', { name: 'Domain' }).fill(name);
      expect(await page.getByRole('combobox', { name: 'Device' }).inputValue()).toBe('Tablet');
      await page.keyboard.press('Enter');
      await page.getByText('for the group Kids').waitFor();
      await section('Lists that contain this name').getByText('blocks', { exact: true }).waitFor();
      expect(new URL(page.url()).searchParams.get('client_id')).toBe(String(tablet));
      await page.getByRole('button', { name: 'Unblock 10 min' }).click();
      await noticeOf(page, `${name} is allowed until`);
      await page.getByRole('button', { name: 'Block 10 min' }).waitFor();
      await page.getByText('For this device.').waitFor();
      expect(await fixture.api.expect<Grant[]>(200, 'GET', '/grants')).toMatchObject([
        { client_id: tablet, domain: name, action: 'allow' },
      ]);
      await page.getByRole('button', { name: 'End', exact: true }).first().click();
      await page.getByRole('button', { name: 'Unblock 10 min' }).waitFor();

      await page.keyboard.press('Control+k');
      await page.getByRole('searchbox', { name: 'Page, action, device' }).fill(name);
      await page.getByText(`Why is ${name} blocked or allowed?`).click();
      await page.getByText('for the group Default').waitFor();
      expect(await page.getByRole('button', { name: 'Block 10 min' }).count()).toBe(0);
      await page.getByRole('button', { name: 'Block…' }).click();
      const sheet = page.getByRole('dialog', { name: 'Block', exact: true });
      await sheet.getByRole('button', { name: 'Group Default For' }).waitFor();
      await expectAccessible(page);
    });
  });

  test('unblocks the name for this client for ten minutes, and ends the unblocking early', async () => {
    const name = 'quick.flow.example';
    await fixture.api.expect(201, 'POST', '/managed-domains', { domain: name });
    await fixture.askLogged(name);
    await fixture.withPage({}, async (page) => {
      const drawer = await openExplained(page, name);
      await drawer.getByRole('button', { name: 'Unblock 10 min' }).click();
      await noticeOf(page, `${name} is allowed until`);
      expect(await fixture.ask([name])).toEqual([EVERY_ADDRESS]);
      expect(await fixture.ask([name], '127.0.0.31')).toEqual([BLOCKED]);
      const [grant, ...others] = await fixture.api.expect<Grant[]>(200, 'GET', '/grants');
      expect(others).toEqual([]);
      expect(grant).toMatchObject({ action: 'allow', domain: name, group_id: null });
      // 600 s minus at most the time limit of the test.
      expect(grant!.secs_left).toBeGreaterThan(300);
      expect(grant!.secs_left).toBeLessThanOrEqual(600);
      await drawer.getByText('For this device.').waitFor();
      await drawer.getByRole('button', { name: 'Block 10 min' }).waitFor();
      await drawer
        .getByRole('button', { name: /^Unblock/ })
        .first()
        .waitFor({ state: 'detached' });
      await expectAccessible(page);

      await drawer.getByRole('button', { name: 'End' }).click();
      await noticeOf(page, 'Ended');
      await drawer.getByText('For this device.').waitFor({ state: 'detached' });
      expect(await fixture.ask([name])).toEqual([BLOCKED]);
      expect(await fixture.api.expect(200, 'GET', '/grants')).toEqual([]);
    });
  });
});

describe('the drawer of a blocked query', () => {
  test('unblocks the name for this device with three taps, and permanently until the rule is deleted', async () => {
    const name = 'sheet.flow.example';
    await fixture.api.expect(201, 'POST', '/managed-domains', { domain: name });
    await fixture.askLogged(name);
    await fixture.withPage({}, async (page) => {
      const grants = () => fixture.api.expect<Grant[]>(200, 'GET', '/grants');
      const drawer = await openExplained(page, name);
      await drawer
        .getByRole('button', { name: /^Block/ })
        .first()
        .waitFor({ state: 'detached' });
      await drawer.getByRole('button', { name: 'Unblock…' }).click();
      const sheet = page.getByRole('dialog', { name: 'Unblock', exact: true });
      await sheet.getByText('A temporary rule, which ends at').waitFor();
      await sheet.getByRole('button', { name: 'Unblock', exact: true }).click();
      const notice = await noticeOf(page, `${name} is allowed until`);
      expect(await fixture.ask([name])).toEqual([EVERY_ADDRESS]);
      expect(await grants()).toMatchObject([{ domain: name, subdomains: true, group_id: null }]);
      await notice.getByRole('button', { name: 'End' }).click();
      await noticeOf(page, 'Ended');

      await drawer.getByRole('button', { name: 'Unblock…' }).click();
      await choose(sheet, 'Duration', 'until I remove it');
      await sheet.getByText('A temporary rule without an end').waitFor();
      await sheet.getByRole('button', { name: 'Unblock', exact: true }).click();
      await noticeOf(page, `${name} is allowed until you remove this.`);
      expect(await grants()).toMatchObject([{ domain: name, client_id: expect.any(Number), until: null }]);

      await page.goto('./rules?tab=grants');
      const row = page.getByRole('row').filter({ hasText: name });
      await row.getByText('Until you remove it').waitFor();
      await row.getByRole('button', { name: 'End now' }).click();
      await noticeOf(page, 'Ended');
      expect(await fixture.ask([name])).toEqual([BLOCKED]);
    });
  });
});

describe('the live log', () => {
  test('shows new rows on arrival, and queues new rows while a user points at the log or has scrolled', async () => {
    const names = (of: string, count: number): string[] =>
      Array.from({ length: count }, (_, index) => `${of}-${index}.tail.example`);
    await fixture.withPage({}, async (page) => {
      await openLive(page, 'domain=tail.example');
      await page.getByText('No queries match.').waitFor();
      await fixture.ask(names('first', 40));
      await page.getByText('40 rows').waitFor();
      const before = await shownRows(page);

      await page.getByRole('row').nth(3).hover();
      await fixture.ask(names('second', 312));
      await page.getByRole('button', { name: '312 new', exact: true }).waitFor();
      expect(await shownRows(page)).toEqual(before);
      await expectAccessible(page);
      await page.mouse.move(1, 1);
      await page.getByRole('button', { name: '312 new', exact: true }).waitFor({ state: 'detached' });
      await page.getByRole('row', { name: 'second-' }).first().waitFor();

      await page.evaluate('scrollTo(0, 1200)');
      await page.getByRole('row').nth(30).waitFor();
      await untilQuiet(page);
      const scrolled = await shownRows(page);
      await fixture.ask(names('third', 5));
      await page.getByRole('button', { name: '5 new', exact: true }).waitFor();
      expect(await shownRows(page)).toEqual(scrolled);
      await page.getByRole('button', { name: '5 new', exact: true }).click();
      await page.getByRole('row', { name: 'third-' }).first().waitFor();
      expect(await page.evaluate('scrollY')).toBe(0);
      expect(await fixture.api.untilQueryCount(357, 'domain=tail.example')).toBe(357);
    });
  });
});

/** Hides or shows the page: a headless browser treats each page as visible. */
async function hide(page: Page, isHidden: boolean): Promise<void> {
  await page.evaluate(`Object.defineProperty(document, 'hidden', { configurable: true, value: ${String(isHidden)} });
    document.dispatchEvent(new Event('visibilitychange'));`);
}

describe('the log of a page that was hidden or paused', () => {
  test('shows the rows that arrived while the page was hidden or paused', async () => {
    await fixture.withPage({}, async (page) => {
      await openLive(page, 'domain=away.example');
      await page.getByText('No queries match.').waitFor();
      await hide(page, true);
      await page.getByText('Live view paused').waitFor();
      await fixture.ask(['one.away.example', 'two.away.example']);
      await fixture.api.untilQueryCount(2, 'domain=away.example');
      await hide(page, false);
      await page.getByText('2 rows').waitFor();
      await page.getByRole('switch', { name: 'Live' }).press('Space');
      await page.getByRole('button', { name: 'Show newest' }).waitFor();
      await fixture.ask(['three.away.example']);
      await page.getByRole('switch', { name: 'Live' }).press('Space');
      await page.getByText('3 rows').waitFor();
      await logRowOf(page, 'three.away.example').waitFor();
    });
  });
});

describe('the filters of the log', () => {
  test('are in the URL, so that a second user who opens the URL sees the same rows', async () => {
    await fixture.ask(['one.shared.example', 'two.shared.example', 'three.shared.example']);
    await fixture.ask(['one.shared.example'], '127.0.0.32');
    await fixture.api.untilQueryCount(4, 'domain=shared.example');
    const [address, rows] = await fixture.withPage({}, async (page) => {
      await page.goto('./queries');
      await page.getByRole('searchbox', { name: 'Search for names' }).fill('shared.example');
      await page.getByText('4 rows').waitFor();
      await page.mouse.move(1, 1);
      await logRowOf(page, 'two.shared.example').getByText('127.0.0.1', { exact: true }).click();
      await page.getByRole('menuitem', { name: 'Not 127.0.0.1' }).click();
      await page.getByText('1 row', { exact: true }).waitFor();
      await page.getByRole('button', { name: 'Address: not 127.0.0.1', exact: true }).waitFor();
      await expectAccessible(page);
      return [page.url(), await shownRows(page)];
    });
    expect(rows).toEqual([expect.stringContaining('one.shared.example, A, asked by 127.0.0.32')]);
    const session = await fixture.logIn();
    await fixture.withPage({ session, locale: 'en-GB' }, async (page) => {
      await page.goto(address);
      await page.getByText('1 row', { exact: true }).waitFor();
      expect(await shownRows(page)).toEqual(rows);
      await page.getByRole('button', { name: 'Remove: Address: not 127.0.0.1' }).click();
      await page.getByText('4 rows').waitFor();
    });
  });
});

describe('the log of one device', () => {
  test('is linked from the device, and shows only its queries', async () => {
    const device = { ip_address: '127.0.0.33', name: 'Tablet' };
    const { id } = await fixture.api.expect<{ id: number }>(201, 'POST', '/clients', device);
    await fixture.ask(['one.device.example'], device.ip_address);
    await fixture.ask(['one.device.example', 'two.device.example'], '127.0.0.34');
    await fixture.api.untilQueryCount(3, 'domain=device.example');
    await fixture.withPage({}, async (page) => {
      await page.goto(`./clients?open=${String(id)}`);
      await page.getByRole('link', { name: 'Its queries in the log' }).click();
      await page.waitForURL(`**/queries?client_id=${String(id)}`);
      await page.getByRole('button', { name: 'Device: Tablet', exact: true }).waitFor();
      await page.getByText('1 row', { exact: true }).waitFor();
      expect(await shownRows(page)).toEqual([expect.stringContaining('one.device.example')]);

      await page.getByRole('button', { name: 'Device: Tablet', exact: true }).click();
      const form = page.getByRole('dialog', { name: 'Change the filter' });
      await form.getByText('Exclude these').click();
      await form.getByRole('button', { name: 'Apply' }).click();
      await page.getByRole('button', { name: 'Device: not Tablet', exact: true }).waitFor();
      await logRowOf(page, 'two.device.example').waitFor();
      await expectAccessible(page);
    });
  });
});

describe('the button that clears the log', () => {
  test('clears the log after a confirmation, and the statistics state that they still count the rows', async () => {
    const name = 'cleared.flow.example';
    const isSeenOnly = (client: Client): boolean => client.name === null;
    await fixture.askLogged(name);
    await clientOnce(fixture.api, isSeenOnly);
    await fixture.withPage({}, async (page) => {
      await page.goto(`./queries?domain=${name}`);
      await logRowOf(page, name).waitFor();
      await page.getByRole('button', { name: 'Clear', exact: true }).click();
      const dialog = page.getByRole('dialog', { name: 'Clear the query log' });
      await dialog.getByText(/rows? will be removed/).waitFor();
      await expectAccessible(page);
      await dialog.getByText('Also delete devices').click();
      await dialog.getByRole('button', { name: /^Clear \d+ rows?$/ }).click();
      await dialog.getByRole('button', { name: /^Really clear \d+ rows?$/ }).click();
      await dialog.getByText(/^\d+ rows? cleared$/).waitFor();
      await dialog.getByText('Close', { exact: true }).click();
      expect(await fixture.api.queries()).toEqual([]);
      expect((await clientsOf(fixture.api)).filter(isSeenOnly)).toEqual([]);
      await logRowOf(page, name).waitFor({ state: 'detached' });
      await page.getByRole('link', { name: 'Overview' }).click();
      await page.getByText(/^Rows of the query log .* were cleared/).waitFor();
    });
  });
});

describe('while the database is unreachable', () => {
  test('the page reports the failure, keeps its data, shows new queries, and updates afterwards', async () => {
    const [before, during] = ['before.outage.example', 'during.outage.example'];
    await fixture.askLogged(before);
    await fixture.withPage({ expected: [/^503 /, /status of 503/] }, async (page) => {
      const stream = page.waitForResponse((response) => response.url().includes('/queries/stream'));
      await page.goto('./queries?domain=outage.example');
      await stream;
      await logRowOf(page, before).waitFor();
      {
        using _hung = HungDatabase.of(fixture.weir);
        await fixture.weir.untilHealth(({ checks }) => checks.database.status !== 'ok');
        expect(await fixture.ask([during])).toEqual([EVERY_ADDRESS]);
        await logRowOf(page, during).waitFor();
        await page.getByText('this node only: the database is unavailable').waitFor();

        await page.getByRole('switch', { name: 'Live' }).press('Space');
        await page.getByRole('button', { name: 'Show newest' }).click();
        const alert = page.getByRole('alert').filter({ hasText: 'The database is unavailable.' });
        await alert.getByText('Out of date: connection lost.').waitFor();
        await logRowOf(page, before).waitFor();
        await logRowOf(page, during).waitFor();
        await expectAccessible(page);
        await page.getByRole('link', { name: 'Overview' }).click();
        await page
          .getByText('The database is slow, sometimes unavailable, or not configured correctly.')
          .waitFor();
      }
      await fixture.weir.untilHealth(({ checks }) => checks.database.status === 'ok');
      expect(await fixture.api.untilQueryCount(1, `domain=${during}`)).toBe(1);
      await page.goBack();
      await logRowOf(page, during).waitFor();
      await logRowOf(page, before).waitFor();
      await page.getByText('2 rows').waitFor();
      await page.getByRole('link', { name: 'Overview' }).click();
      await page.getByText('No problems found.').waitFor();
    });
  });
});

describe('after an upgrade of Weir', () => {
  test('an open tab offers to reload if a script no longer exists, and its loaded parts keep working', async () => {
    const expected = [/^404 GET \/assets\/history-page/, /status of 404/, /dynamically imported module/];
    await fixture.withPage({ expected }, async (page) => {
      // File names depend on the content, so after an upgrade the old names do not exist.
      await page.route('**/assets/history-page-*.js', (route) =>
        route.continue({ url: route.request().url().replace('.js', '0.js') }),
      );
      await page.goto('./');
      const document = `${fixture.origin}/`;
      await page.route(document, async (route) => {
        const response = await route.fetch();
        await route.fulfill({ response, body: (await response.text()).replace(/entry-/, 'entry-0') });
      });
      await page.getByRole('link', { name: 'History' }).click();
      await page.getByText('Weir was upgraded. Reload the page to continue.').waitFor();
      await expectAccessible(page);
      await page.getByRole('link', { name: 'Queries' }).click();
      await page.getByRole('heading', { name: 'Queries', level: 1 }).waitFor();
      await page.getByRole('link', { name: 'History' }).click();
      await page.getByText('Weir was upgraded. Reload the page to continue.').waitFor();
      await page.unrouteAll();
      await page.getByRole('button', { name: 'Reload' }).click();
      await page.getByRole('heading', { name: 'History', level: 1 }).waitFor();
      await page.getByRole('table', { name: 'Changes' }).waitFor();
    });
  });
});
