/**
 * Changes of policy that a user undoes in the dashboard: from the notice of the change, from History, and together with
 * later changes.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Revision } from '../../shared/api/revisions-api.ts';
import { expectAccessible } from '../support/browser/accessible.ts';
import { BLOCKED, DashboardFixture } from '../support/browser/dashboard-fixture.ts';
import { choose, holdNotice, noticeOf, takeAction } from '../support/browser/page-steps.ts';
import type { Page } from '../support/browser/watched-page.ts';
import { EVERY_ADDRESS } from '../support/dns/echoing-upstream.ts';

let fixture: DashboardFixture;

beforeAll(async () => {
  fixture = await DashboardFixture.open();
});
afterAll(() => fixture.close());

/** Console errors of a rollback that is refused because of a newer revision. */
const REFUSED = [/^409 POST \/api\/revisions\/\d+\/rollback$/, /status of 409/];

/** Blocks a name with the form of the page. */
async function blockOnPage(page: Page, name: string): Promise<void> {
  await page.goto('./rules');
  await page.getByRole('button', { name: 'Add rule' }).first().click();
  const form = page.getByRole('dialog', { name: 'Add rule' });
  await form.getByLabel('Name', { exact: true }).fill(name);
  await form.getByRole('button', { name: 'Save' }).click();
}

/** Blocks a name as another user would. */
function blockElsewhere(name: string): Promise<unknown> {
  return fixture.api.expect(201, 'POST', '/managed-domains', { domain: name });
}

async function newestRevision(): Promise<Revision> {
  const revisions = await fixture.api.expect<Revision[]>(200, 'GET', '/revisions');
  return revisions.toSorted((one, other) => other.id - one.id)[0]!;
}

async function blockedNames(part: string): Promise<string[]> {
  const path = `/managed-domains?search=${part}`;
  const { data } = await fixture.api.expect<{ data: { domain: string }[] }>(200, 'GET', path);
  return data.map(({ domain }) => domain).sort();
}

describe('a policy change', () => {
  test('is undone from the notice about the change', async () => {
    const name = 'noticed.undo.example';
    await fixture.withPage({}, async (page) => {
      await blockOnPage(page, name);
      const undo = await holdNotice(await noticeOf(page, 'Rule added'), 'Undo');
      expect(await fixture.ask([name])).toEqual([BLOCKED]);
      await expectAccessible(page);
      await undo.click();
      await noticeOf(page, 'Undone');
      await page.getByRole('rowheader', { name }).waitFor({ state: 'detached' });
    });
    expect(await fixture.ask([name])).toEqual([EVERY_ADDRESS]);
    expect(await blockedNames(name)).toEqual([]);
  });

  test('is found in History with its effects, and undone there', async () => {
    const name = 'found.undo.example';
    await blockElsewhere(name);
    const { id } = await newestRevision();
    const summary = `domain rule ${name} (block): created`;
    await fixture.withPage({}, async (page) => {
      await page.goto('./history');
      await page.getByRole('searchbox', { name: 'Search changes' }).fill(name);
      await page.getByRole('button', { name: summary, exact: true }).click();
      const drawer = page.getByRole('dialog', { name: `Revision ${id}` });
      await drawer.getByText('Domain rule', { exact: true }).waitFor();
      await expectAccessible(page);
      await drawer.getByRole('button', { name: 'Close' }).click();

      await takeAction(page, `Actions for ${summary}`, 'Undo');
      const question = page.getByRole('alertdialog', { name: `Undo revision ${id}?` });
      await question.getByText('This change is undone:').waitFor();
      expect(await question.getByRole('listitem').allInnerTexts()).toEqual([
        expect.stringContaining(summary),
      ]);
      await expectAccessible(page);
      expect(await fixture.ask([name])).toEqual([BLOCKED]);
      await question.getByRole('button', { name: 'Undo' }).click();
      await noticeOf(page, 'Undone');
      await question.waitFor({ state: 'detached' });
    });
    expect(await fixture.ask([name])).toEqual([EVERY_ADDRESS]);
    expect(await blockedNames(name)).toEqual([]);
  });

  test('is described in the language of the user, in History and in the audit log', async () => {
    const name = '<b>deutsch</b> & Co';
    await fixture.api.expect(201, 'POST', '/groups', { name });
    const { id } = await newestRevision();
    const line = `Gruppe ${name}: angelegt`;
    await fixture.withPage({ locale: 'de-DE' }, async (page) => {
      await page.goto(`./history?undo=${id}`);
      const question = page.getByRole('alertdialog', { name: `Stand ${id} rückgängig machen?` });
      await question.getByRole('listitem').filter({ hasText: line }).waitFor();
      await page.goto('./history');
      await page.getByRole('searchbox', { name: 'Änderungen suchen' }).fill('gruppe <b>');
      await page.getByRole('button', { name: line, exact: true }).click();
      const drawer = page.getByRole('dialog', { name: `Stand ${id}` });
      await drawer.getByText(line).first().waitFor();

      await page.goto('./history?view=audit');
      await choose(page, 'Aktion', 'angelegt');
      await page.getByRole('button', { name: line, exact: true }).click();
      await page.getByRole('dialog', { name: line }).waitFor();
      await expectAccessible(page);
    });
  });

  test('is undone together with later changes only after a review, which includes changes made during the review', async () => {
    const [own, since, during] = ['own', 'since', 'while'].map((label) => `${label}.conflict.example`);
    const all = [own!, since!, during!];
    await fixture.withPage({ expected: REFUSED }, async (page) => {
      await blockOnPage(page, own!);
      const undo = await holdNotice(await noticeOf(page, 'Rule added'), 'Undo');
      const { id } = await newestRevision();
      await blockElsewhere(since!);
      await undo.click();
      const conflict = await noticeOf(page, 'Someone else has changed the policy since.');
      expect(await blockedNames('conflict.example')).toEqual([`*.${own!}`, since]);
      await conflict.getByRole('link', { name: 'Show', exact: true }).click();

      const question = page.getByRole('alertdialog', { name: `Undo revision ${id}?` });
      await question.getByText('These changes are undone:').waitFor();
      expect(await question.getByRole('listitem').allInnerTexts()).toEqual([
        expect.stringContaining(since!),
        expect.stringContaining(own!),
      ]);
      await blockElsewhere(during!);
      await question.getByRole('button', { name: 'Undo 2 changes' }).click();
      await question.getByText('Someone else changed the policy.').waitFor();
      await question.getByRole('listitem').filter({ hasText: during! }).waitFor();
      await expectAccessible(page);
      expect(await fixture.ask(all)).toEqual(all.map(() => BLOCKED));

      await question.getByRole('button', { name: 'Undo 3 changes' }).click();
      await noticeOf(page, 'Undone');
      await question.waitFor({ state: 'detached' });
    });
    expect(await fixture.ask(all)).toEqual(all.map(() => EVERY_ADDRESS));
    expect(await blockedNames('conflict.example')).toEqual([]);
  });
});
