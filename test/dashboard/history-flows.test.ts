/** How people take changes back: from the notice, from History, and where somebody else has changed policy since. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Revision } from '../../shared/api/revisions-api.ts';
import { expectAccessible } from '../support/browser/accessible.ts';
import { BLOCKED, DashboardRoom } from '../support/browser/dashboard-room.ts';
import { holdNotice, noticeOf, takeAction } from '../support/browser/page-steps.ts';
import type { Page } from '../support/browser/watched-page.ts';
import { EVERY_ADDRESS } from '../support/dns/echoing-upstream.ts';

/** A rollback that is refused, as there is a newer revision. */
const REFUSED = [/^409 POST \/api\/revisions\/\d+\/rollback$/, /status of 409/];

let room: DashboardRoom;

beforeAll(async () => {
  room = await DashboardRoom.open();
});
afterAll(() => room.close());

/** Blocks a name by the form of the page. */
async function blockOnPage(page: Page, name: string): Promise<void> {
  await page.goto('./rules');
  await page.getByRole('button', { name: 'Add a rule' }).click();
  const form = page.getByRole('dialog', { name: 'Add a rule' });
  await form.getByLabel('Name', { exact: true }).fill(name);
  await form.getByRole('button', { name: 'Save' }).click();
}

/** Blocks a name as somebody else does. */
function blockElsewhere(name: string): Promise<unknown> {
  return room.api.expect(201, 'POST', '/managed-domains', { domain: name });
}

async function newestRevision(): Promise<Revision> {
  const revisions = await room.api.expect<Revision[]>(200, 'GET', '/revisions');
  return revisions.toSorted((one, other) => other.id - one.id)[0]!;
}

async function blockedNames(part: string): Promise<string[]> {
  const path = `/managed-domains?search=${part}`;
  const { data } = await room.api.expect<{ data: { domain: string }[] }>(200, 'GET', path);
  return data.map(({ domain }) => domain).sort();
}

describe('a change of policy', () => {
  test('is taken back from its notice', async () => {
    const name = 'noticed.undo.example';
    await room.withPage({}, async (page) => {
      await blockOnPage(page, name);
      const undo = await holdNotice(await noticeOf(page, 'The rule is in force.'), 'Undo');
      expect(await room.ask([name])).toEqual([BLOCKED]);
      await expectAccessible(page);
      await undo.click();
      await noticeOf(page, 'Taken back.');
      await page.getByRole('rowheader', { name }).waitFor({ state: 'detached' });
    });
    expect(await room.ask([name])).toEqual([EVERY_ADDRESS]);
    expect(await blockedNames(name)).toEqual([]);
  });

  test('is found in History with what it did, and taken back from there', async () => {
    const name = 'found.undo.example';
    await blockElsewhere(name);
    const { id, summary } = await newestRevision();
    await room.withPage({}, async (page) => {
      await page.goto('./history');
      await page.getByRole('searchbox', { name: 'Search changes' }).fill(name);
      await page.getByRole('button', { name: summary, exact: true }).click();
      const drawer = page.getByRole('dialog', { name: `Revision ${id}` });
      await drawer.getByText('Domain rule').waitFor();
      await expectAccessible(page);
      await drawer.getByRole('button', { name: 'Close' }).click();

      await takeAction(page, `Actions for ${summary}`, 'Take back');
      const question = page.getByRole('alertdialog', { name: `Take back revision ${id}?` });
      await question.getByText('This is taken back:').waitFor();
      expect(await question.getByRole('listitem').allInnerTexts()).toEqual([
        expect.stringContaining(summary),
      ]);
      await expectAccessible(page);
      expect(await room.ask([name])).toEqual([BLOCKED]);
      await question.getByRole('button', { name: 'Take it back' }).click();
      await noticeOf(page, 'Taken back.');
      await question.waitFor({ state: 'detached' });
    });
    expect(await room.ask([name])).toEqual([EVERY_ADDRESS]);
    expect(await blockedNames(name)).toEqual([]);
  });

  test('is taken back with those of others only after a look at them, and another one at what comes meanwhile', async () => {
    const [own, since, meanwhile] = ['own', 'since', 'while'].map((label) => `${label}.conflict.example`);
    const all = [own!, since!, meanwhile!];
    await room.withPage({ expected: REFUSED }, async (page) => {
      await blockOnPage(page, own!);
      const undo = await holdNotice(await noticeOf(page, 'The rule is in force.'), 'Undo');
      const { id } = await newestRevision();
      await blockElsewhere(since!);
      await undo.click();
      const conflict = await noticeOf(page, 'Others have changed the policy since.');
      expect(await blockedNames('conflict.example')).toEqual([own, since]);
      await conflict.getByRole('link', { name: 'Show' }).click();

      const question = page.getByRole('alertdialog', { name: `Take back revision ${id}?` });
      await question.getByText('All of these are taken back:').waitFor();
      expect(await question.getByRole('listitem').allInnerTexts()).toEqual([
        expect.stringContaining(since!),
        expect.stringContaining(own!),
      ]);
      await blockElsewhere(meanwhile!);
      await question.getByRole('button', { name: 'Take 2 changes back' }).click();
      await question.getByText('Somebody has changed the policy meanwhile.').waitFor();
      await question.getByRole('listitem').filter({ hasText: meanwhile! }).waitFor();
      await expectAccessible(page);
      expect(await room.ask(all)).toEqual(all.map(() => BLOCKED));

      await question.getByRole('button', { name: 'Take 3 changes back' }).click();
      await noticeOf(page, 'Taken back.');
      await question.waitFor({ state: 'detached' });
    });
    expect(await room.ask(all)).toEqual(all.map(() => EVERY_ADDRESS));
    expect(await blockedNames('conflict.example')).toEqual([]);
  });
});
