/**
 * Rules, local records and cached answers in the dashboard: what each step shows, what the API returns afterwards, and
 * what DNS answers.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { CacheEntryRow } from '../../shared/api/cache-api.ts';
import { expectAccessible } from '../support/browser/accessible.ts';
import { BLOCKED, DashboardFixture } from '../support/browser/dashboard-fixture.ts';
import { holdNotice, noticeOf, takeAction } from '../support/browser/page-steps.ts';
import { untilQuiet } from '../support/browser/watched-page.ts';
import { EVERY_ADDRESS } from '../support/dns/echoing-upstream.ts';
import { until } from '../support/parts/until.ts';

let fixture: DashboardFixture;

beforeAll(async () => {
  fixture = await DashboardFixture.open();
});
afterAll(() => fixture.close());

describe('many pasted rules', () => {
  test('are checked line by line and saved', async () => {
    await fixture.api.expect(201, 'POST', '/managed-domains', { domain: '*.there.paste.example' });
    const text = [
      ...['# from a forum', '0.0.0.0 one.paste.example two.paste.example', '||three.paste.example^'],
      ...['https://four.paste.example/page', 'one.paste.example', 'there.paste.example', 'two words'],
    ];
    await fixture.withPage({}, async (page) => {
      await page.goto('./rules');
      await page.getByRole('button', { name: 'Paste several' }).click();
      const drawer = page.getByRole('dialog', { name: 'Add several names' });
      await drawer.getByLabel('Names', { exact: true }).fill(text.join('\n'));
      const sums = '4 new rules, 1 already there, 1 duplicate, 1 invalid name.';
      await drawer.getByText(sums).waitFor();
      await drawer.getByRole('listitem').filter({ hasText: 'two words' }).getByText('not a name').waitFor();
      await expectAccessible(page);
      expect(await fixture.ask(['one.paste.example'])).toEqual([EVERY_ADDRESS]);
      await drawer.getByRole('button', { name: 'Add 4 rules' }).click();
      const undo = await holdNotice(await noticeOf(page, '4 rules added'), 'Undo');
      const written = ['one', 'two', 'sub.three', 'four'].map((label) => `${label}.paste.example`);
      expect(await fixture.ask(written)).toEqual(written.map(() => BLOCKED));
      await undo.click();
      await noticeOf(page, 'Undone');
      expect(await fixture.ask(written)).toEqual(written.map(() => EVERY_ADDRESS));
      expect(await fixture.ask(['there.paste.example'])).toEqual([BLOCKED]);
    });
  });
});

describe('a rule', () => {
  test('is created from a pasted URL, with subdomains unless the switch is off', async () => {
    await fixture.withPage({}, async (page) => {
      await page.goto('./rules');
      await page.getByRole('button', { name: 'Add rule' }).first().click();
      const form = page.getByRole('dialog', { name: 'Add rule' });
      const name = form.getByLabel('Name', { exact: true });
      await name.fill('https://Pasted.example:8443/page?x=1');
      await form.getByText('Matches pasted.example and all its subdomains.').waitFor();
      await form.getByText('Only the name is used: DNS cannot distinguish pages.').waitFor();
      await form.getByRole('switch', { name: 'With subdomains' }).press('Space');
      await form.getByText('Matches only pasted.example.').waitFor();
      await form.getByRole('switch', { name: 'With subdomains' }).press('Space');
      await expectAccessible(page);
      await form.getByRole('button', { name: 'Save' }).click();
      await noticeOf(page, 'Rule added');
      expect(await fixture.ask(['pasted.example', 'sub.pasted.example'])).toEqual([BLOCKED, BLOCKED]);

      await page.getByRole('button', { name: 'Add rule' }).first().click();
      await name.fill('a.pasted-many.example https://b.pasted-many.example/');
      await form.getByText('2 rules, one per name.').waitFor();
      await form.getByRole('button', { name: 'Save' }).click();
      await form.waitFor({ state: 'detached' });
      expect(await fixture.ask(['a.pasted-many.example', 'x.b.pasted-many.example'])).toEqual([
        BLOCKED,
        BLOCKED,
      ]);
    });
  });
});

describe('a rule that two users edit', () => {
  test('shows the second user the differences, and saves the version that user selects; the table is updated', async () => {
    const domain = 'tabs.example';
    const path = '/managed-domains';
    const { id } = await fixture.api.expect<{ id: number }>(201, 'POST', path, { domain, action: 'deny' });
    const other = async (comment: string): Promise<void> => {
      await fixture.api.expect(200, 'PUT', `${path}/${id}`, { domain, action: 'deny', comment });
    };
    await fixture.withPage({ expected: [/ 412 |^412 /] }, async (page) => {
      await page.goto(`./rules?search=${domain}`);
      await takeAction(page, `Actions for ${domain}`, 'Edit');
      const form = page.getByRole('dialog', { name: 'Edit rule' });
      const comment = form.getByLabel('Comment');
      await comment.fill('mine');
      await untilQuiet(page);
      await other('theirs');
      await page.locator('table').getByText('theirs', { exact: true }).waitFor({ state: 'attached' });
      await form.getByRole('button', { name: 'Save', exact: true }).click();
      await form.getByText('Someone else has changed this since you opened it.').waitFor();
      expect(await form.getByRole('row').allInnerTexts()).toEqual([
        expect.stringMatching(/Your version\s+Current version/),
        expect.stringMatching(/Comment\s+mine\s+theirs/),
      ]);
      await expectAccessible(page);
      await form.getByRole('button', { name: 'Use the current version' }).click();
      expect(await comment.inputValue()).toBe('theirs');
      await comment.fill('mine after all');
      await other('theirs again');
      await form.getByRole('button', { name: 'Save', exact: true }).click();
      await form.getByRole('button', { name: 'Save my version anyway' }).click();
      await noticeOf(page, 'Rule saved');
      expect(await fixture.api.expect(200, 'GET', `${path}/${id}`)).toMatchObject({
        comment: 'mine after all',
      });
    });
  });
});

describe('a regex rule', () => {
  test('is tested on a name when the user presses Enter, and is not saved', async () => {
    await fixture.withPage({}, async (page) => {
      await page.goto('./rules?tab=expression');
      await page.getByRole('button', { name: 'Add regex rule' }).first().click();
      const form = page.getByRole('dialog');
      await form.getByRole('textbox').first().fill('^ads[.]');
      const tried = form.getByRole('textbox', { name: 'Try a name' });
      await tried.fill('ads.example.org');
      await form.getByText('The regex matches this name.').waitFor();
      const sent: string[] = [];
      page.on('request', (request) => void sent.push(request.method()));
      await tried.press('Enter');
      await form.getByRole('button', { name: 'Cancel' }).click();
      await form.waitFor({ state: 'detached' });
      expect(sent).not.toContain('POST');
      expect(await fixture.api.expect(200, 'GET', '/regex-filters')).toEqual([]);
    });
  });

  test('that was imported for several groups is one row, which is disabled and edited as one rule', async () => {
    const pattern = '^several[.]';
    const groups = [await fixture.api.createGroup('Several 1'), await fixture.api.createGroup('Several 2')];
    const create = groups.map(({ id }) => ({ pattern, group_id: id }));
    await fixture.api.expect(200, 'POST', '/regex-filters/bulk', { create });
    const filters = (): Promise<{ enabled: boolean }[]> => fixture.api.expect(200, 'GET', '/regex-filters');
    await fixture.withPage({}, async (page) => {
      await page.goto('./rules?tab=expression');
      const row = page.getByRole('row', { name: pattern });
      await row.getByText('Several 1 and Several 2').waitFor();
      expect(await row.count()).toBe(1);
      await row.getByRole('switch').press('Space');
      await noticeOf(page, 'Rule disabled');
      expect((await filters()).map(({ enabled }) => enabled)).toEqual([false, false]);
      await takeAction(page, `Actions for ${pattern}`, 'Edit');
      const form = page.getByRole('dialog', { name: 'Edit regex rule' });
      await form.getByRole('checkbox', { name: 'Several 2' }).press('Space');
      await form.getByLabel('Comment').fill('one group is enough');
      await form.getByRole('button', { name: 'Save', exact: true }).click();
      await noticeOf(page, 'Rule saved');
      expect(await filters()).toMatchObject([{ group_id: groups[0]!.id, comment: 'one group is enough' }]);
    });
  });
});

describe('a local record', () => {
  test('is added, answered by DNS, and deleted', async () => {
    const name = 'nas.home.arpa';
    await fixture.withPage({}, async (page) => {
      await page.goto('./names');
      await page.getByRole('button', { name: 'Add record' }).click();
      const form = page.getByRole('dialog', { name: 'Add record' });
      await form.getByLabel('Name', { exact: true }).fill(name);
      await form.getByRole('textbox', { name: 'Value' }).fill('192.0.2.5');
      await expectAccessible(page);
      await form.getByRole('button', { name: 'Save' }).click();
      await noticeOf(page, 'Record added');
      expect(await fixture.ask([name])).toEqual(['192.0.2.5']);
      await fixture.api.untilQueryCount(1, `domain=${name}&status=LOCAL`);

      await takeAction(page, `Actions for ${name}`, 'Delete');
      const question = page.getByRole('alertdialog', { name: `Delete ${name}?` });
      await question.getByRole('button', { name: 'Delete' }).click();
      await noticeOf(page, 'Record deleted');
      await page.getByText('No local names yet').waitFor();
      expect(await fixture.ask([name])).not.toEqual(['192.0.2.5']);
    });
  });
});

describe('a cached answer', () => {
  test('is shown with its remaining time, cleared, and resolved again', async () => {
    const name = 'kept.cache.example';
    const entries = async (): Promise<CacheEntryRow[]> =>
      (await fixture.api.expect<{ data: CacheEntryRow[] }>(200, 'GET', `/cache/entries?domain=${name}`)).data;
    await fixture.ask([name]);
    await until('the answer in the cache', entries, ({ length }) => length === 1, { pauseMs: 100 });
    await fixture.withPage({}, async (page) => {
      await page.goto('./resolving');
      await page.getByRole('searchbox', { name: 'Search the cache by name' }).fill(name);
      const row = page.getByRole('row').filter({ has: page.getByRole('rowheader', { name }) });
      await row.getByRole('cell', { name: /^\d+ (secs?|mins?|hrs?)$/ }).waitFor();
      await page.getByRole('button', { name: `Clear ${name} A from the cache` }).click();
      const question = page.getByRole('alertdialog', { name: `Clear ${name} A from the cache?` });
      await question.getByText('One answer will be cleared').waitFor();
      await expectAccessible(page);
      await question.getByRole('button', { name: 'Clear' }).click();
      await noticeOf(page, 'Cleared from the cache');
      await page.getByText('No answer for this name is cached').waitFor();
    });
    expect(await entries()).toEqual([]);
    expect(await fixture.ask([name])).toEqual([EVERY_ADDRESS]);
    await fixture.api.untilQueryCount(2, `domain=${name}`);
    const answered = (await fixture.api.queries(`domain=${name}`)).map(({ status }) => status);
    expect(answered).toEqual(['ALLOWED', 'ALLOWED']);
  });
});
