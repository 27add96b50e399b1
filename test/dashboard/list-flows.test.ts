/** Ways to add a list: the catalogue, a preview of size and overlap, and custom rules. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { BlocklistSource } from '../../shared/api/policy/sources-api.ts';
import { expectAccessible } from '../support/browser/accessible.ts';
import { DashboardFixture } from '../support/browser/dashboard-fixture.ts';
import { untilQuiet } from '../support/browser/watched-page.ts';
import { startListServer } from '../support/weir/list-server.ts';
import type { ListServer } from '../support/weir/list-server.ts';

let fixture: DashboardFixture;
let lists: ListServer;

beforeAll(async () => {
  [fixture, lists] = await Promise.all([DashboardFixture.open(), startListServer()]);
});
afterAll(async () => {
  await lists.close();
  await fixture.close();
});

describe('the dialog that adds a list', () => {
  test('offers the catalogue, with licence and page of each list, without fetching the list', async () => {
    await fixture.withPage({}, async (page) => {
      await page.goto('./lists');
      await page
        .getByRole('button', { name: /^Add (a )?list$/ })
        .first()
        .click();
      const form = page.getByRole('dialog', { name: /^Add (a )?blocklist$/ });
      const catalog = form.getByRole('group', { name: 'Well-known lists' });
      await catalog.getByRole('heading', { name: 'Malware and phishing' }).waitFor();
      const entry = catalog.getByRole('listitem').filter({ hasText: 'HaGeZi Pro++' });
      await entry.getByText('Licence: GPL-3.0').waitFor();
      const home = entry.getByRole('link', { name: 'Home page of HaGeZi Pro++' });
      expect(await home.getAttribute('href')).toBe('https://github.com/hagezi/dns-blocklists');
      await expectAccessible(page);
      await catalog.getByRole('button', { name: 'HaGeZi Pro++', exact: true }).click();
      expect(await form.getByRole('textbox', { name: 'Address' }).inputValue()).toContain('/pro.plus.txt');
      expect(await form.getByLabel('Name', { exact: true }).inputValue()).toBe('HaGeZi Pro++');
      const chosen = catalog.getByRole('button', { name: 'HaGeZi Pro++', exact: true });
      expect(await chosen.getAttribute('aria-current')).toBe('true');
    });
  });

  test('previews a list with its size, invalid lines, and overlap with active lists', async () => {
    lists.serve('/known.txt', '||shared.example^\nonly-known.example\n');
    const json = { name: 'Known', url: lists.url('/known.txt') };
    const { id } = await fixture.api.expect<BlocklistSource>(201, 'POST', '/blocklist-sources', json);
    await fixture.api.settledSource(id);
    lists.serve('/new.txt', 'a.shared.example\nnew.example\n^\n');
    await fixture.withPage({ expected: [/ 400 |^400 /] }, async (page) => {
      await page.goto('./lists?add=list');
      const form = page.getByRole('dialog', { name: /^Add (a )?blocklist$/ });
      const address = form.getByRole('textbox', { name: 'Address' });
      await address.fill(lists.url('/new.txt'));
      await form.getByRole('button', { name: 'Preview' }).click();
      const preview = form.getByRole('status', { name: 'Preview' });
      await preview.getByText('Known also contains 1 of these rules (50%).').waitFor();
      await preview.getByText('1 (50%)', { exact: true }).waitFor();
      await preview.getByText('Lines without a rule').click();
      await preview.getByText('Line 3', { exact: false }).waitFor();
      await expectAccessible(page);

      await address.fill(lists.url('/known.txt'));
      expect(await preview.count()).toBe(0);
      await form.getByRole('button', { name: 'Preview' }).click();
      await preview.getByText('Active lists already contain all of these rules.').waitFor();
      await address.fill(lists.url('/missing.txt'));
      await form.getByRole('button', { name: 'Preview' }).click();
      await form.getByText('There is no list at this address (HTTP 404).').waitFor();
    });
  });
});

describe('the welcome page', () => {
  test('links to a list in the catalogue, and to custom rules', async () => {
    await fixture.withPage({}, async (page) => {
      await page.goto('./setup');
      await page.getByText('Well-known lists').click();
      await page.getByRole('button', { name: 'OISD small', exact: true }).click();
      const form = page.getByRole('dialog', { name: /^Add (a )?blocklist$/ });
      expect(await form.getByRole('textbox', { name: 'Address' }).inputValue()).toBe('https://small.oisd.nl');
      expect(await form.getByLabel('Name', { exact: true }).inputValue()).toBe('OISD small');
      await form.getByRole('button', { name: 'Write custom rules instead' }).click();
      await page.getByRole('dialog', { name: 'Add custom rules' }).waitFor();
      await page.goto('./setup');
      await page.getByRole('link', { name: 'Add custom rules' }).click();
      await page.getByRole('dialog', { name: 'Add custom rules' }).waitFor();
    });
  });
});

describe('a list', () => {
  test('is edited in front of its details, even if its statistics arrive later', async () => {
    const json = { name: 'Slow statistics', text: 'one.example\n' };
    const { id } = await fixture.api.expect<BlocklistSource>(201, 'POST', '/blocklist-sources', json);
    await fixture.withPage({}, async (page) => {
      const { promise: isOpen, resolve: open } = Promise.withResolvers<null>();
      const statistics = '**/api/blocklist-sources/stats*';
      await page.route(statistics, async (route) => {
        await isOpen;
        await route.continue();
      });
      await page.goto(`./lists?open=${id}`);
      await page
        .getByRole('dialog', { name: 'Slow statistics' })
        .getByRole('button', { name: 'Edit', exact: true })
        .click();
      const form = page.getByRole('dialog', { name: 'Edit list' });
      await form.waitFor();
      const arrived = page.waitForResponse((response) => response.url().includes('/stats?'));
      open(null);
      await arrived;
      await untilQuiet(page);
      await form.getByLabel('Name', { exact: true }).fill('Edited');
      expect(await page.locator('[role=dialog]').count()).toBe(2);
    });
  });
});
