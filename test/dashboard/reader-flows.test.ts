/** The dashboard for users who use only the keyboard, another language, or a right-to-left layout. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expectAccessible } from '../support/browser/accessible.ts';
import { BLOCKED, DashboardFixture, PASSWORD } from '../support/browser/dashboard-fixture.ts';
import { layoutFaults } from '../support/browser/layout-faults.ts';
import { choose, logRowOf, noticeOf } from '../support/browser/page-steps.ts';
import { untilQuiet } from '../support/browser/watched-page.ts';
import type { Page } from '../support/browser/watched-page.ts';

const [de, en] = ['de', 'en'].map(messagesOf) as [Messages, Messages];

let fixture: DashboardFixture;

beforeAll(async () => {
  fixture = await DashboardFixture.open();
});
afterAll(() => fixture.close());

/** More than the number of links and buttons before the last link of the navigation. */
const MAX_TABS = 30;

type Messages = Readonly<Record<string, string>>;

function messagesOf(language: string): Messages {
  const file = join('control-plane', 'dashboard', 'src', 'i18n', `${language}.json`);
  return JSON.parse(readFileSync(join(import.meta.dirname, '..', '..', file), 'utf8')) as Messages;
}

/** Presses Tab until a link has the focus. */
async function tabToLink(page: Page, name: string): Promise<void> {
  const focused = page.locator('a:focus').filter({ hasText: name });
  for (let presses = 0; (await focused.count()) === 0; presses += 1) {
    expect(presses).toBeLessThan(MAX_TABS);
    await page.keyboard.press('Tab');
  }
}

/** The accessible name of the focused element. */
function focusedLabel(page: Page): Promise<string> {
  return page.evaluate<string>(`document.activeElement.getAttribute('aria-label') ?? ''`);
}

describe('a user with only the keyboard', () => {
  test('logs in, reads the log and a reason, blocks a name, and returns to the same position', async () => {
    const [older, newer] = ['older.keys.example', 'newer.keys.example'];
    await fixture.askLogged(older);
    await fixture.askLogged(newer);
    await fixture.withPage({ session: '' }, async (page) => {
      const { keyboard } = page;
      await page.goto('./');
      await page.locator('input[type=password]:focus').waitFor();
      await keyboard.type(PASSWORD);
      await keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
      await tabToLink(page, 'Queries');
      await keyboard.press('Enter');
      await logRowOf(page, newer).waitFor();

      const walked: string[] = [];
      for (const key of ['j', 'j', 'k']) {
        await keyboard.press(key);
        walked.push(await focusedLabel(page));
      }
      expect(walked).toEqual([newer, older, newer].map((name) => expect.stringContaining(`${name}, A`)));
      await keyboard.press('e');
      const drawer = page.getByRole('dialog', { name: newer });
      await drawer.getByRole('heading', { name: 'Step by step' }).waitFor();
      await expectAccessible(page);
      await keyboard.press('b');
      await noticeOf(page, `${newer} is blocked until`);
      expect(await fixture.ask([newer])).toEqual([BLOCKED]);
      await keyboard.press('Escape');
      await drawer.waitFor({ state: 'detached' });
      // The focus moves one frame after the drawer has closed.
      await page.locator(`[aria-label="${walked[2]!}"]:focus`).waitFor();
    });
  });
});

describe('a user in German', () => {
  test('logs in and blocks a name without seeing English text', async () => {
    const name = 'deutsch.flow.example';
    await fixture.askLogged(name);
    await fixture.withPage({ session: '', locale: 'de-DE' }, async (page) => {
      await page.goto(`./queries?domain=${name}`);
      await page.getByLabel(de['field.password']!).fill(PASSWORD);
      await page.getByRole('button', { name: de['login.action']! }).click();
      await page.getByRole('heading', { name: de['page.queries']!, level: 1 }).waitFor();
      expect(await page.evaluate('document.documentElement.lang')).toBe('de');
      const time = page.getByRole('row').filter({ hasText: name }).locator('time');
      expect(await time.getAttribute('title')).toMatch(/^\d{2}\.\d{2}\.\d{4}, \d{2}:/);
      await time.click();
      const drawer = page.getByRole('dialog', { name });
      await drawer.getByRole('heading', { name: de['queries.why.stages']! }).waitFor();
      await expectAccessible(page);
      expect(await englishOn(page)).toEqual([]);
      await drawer.getByRole('button', { name: de['queries.verdict.blockMore']! }).click();
      const sheet = page.getByRole('dialog', { name: de['queries.verdict.block']!, exact: true });
      await choose(sheet, de['field.for']!, de['queries.scope.everyone']!);
      await choose(sheet, de['field.duration']!, de['queries.span.ever']!);
      expect(await englishOn(page)).toEqual([]);
      await sheet.getByRole('button', { name: de['queries.verdict.block']!, exact: true }).click();
      await page
        .getByRole('region', { name: de['notice.region']! })
        .getByText(de['queries.rule.blocked']!)
        .waitFor();
      expect(await fixture.ask([name])).toEqual([BLOCKED]);
    });
  });
});

/** Texts of the page that are English and differ from the German texts. */
async function englishOn(page: Page): Promise<string[]> {
  const german = new Set(Object.values(de));
  const english = new Set(Object.values(en).filter((text) => !german.has(text)));
  const lines = (await page.locator('body').innerText()).split('\n').map((line) => line.trim());
  return lines.filter((line) => english.has(line));
}

describe('a user with a right-to-left language', () => {
  test('opens a row on the opposite side, adds a rule, and selects an hour of the week', async () => {
    const name = 'mirrored.flow.example';
    await fixture.askLogged(name);
    const { id } = await fixture.api.expect<{ id: number }>(201, 'POST', '/schedule-profiles', {
      name: 'Week',
      timezone: 'UTC',
    });
    await fixture.withPage({}, async (page) => {
      await page.addInitScript(`localStorage.setItem('weir.language', 'ar-XB')`);
      await page.goto(`./queries?domain=${name}`);
      await page.locator('html[dir=rtl]').waitFor();
      await page.getByRole('row').filter({ hasText: name }).locator('time').click();
      const drawer = page.getByRole('dialog', { name });
      await drawer.getByRole('heading', { name: 'Step by step' }).waitFor();
      // Allows one pixel for the border.
      expect((await drawer.boundingBox())!.x).toBeLessThanOrEqual(1);
      expect(await layoutFaults(page)).toEqual([]);
      await expectAccessible(page);

      await page.goto('./rules');
      await page.getByRole('button', { name: 'Add rule' }).click();
      const form = page.getByRole('dialog', { name: 'Add rule' });
      await form.getByRole('textbox').first().fill(name);
      await form.getByRole('button', { name: 'Save' }).click();
      await noticeOf(page, 'Rule added');
      expect(await fixture.ask([name])).toEqual([BLOCKED]);

      await page.goto(`./schedules?open=${id}`);
      const week = page.getByRole('group', { name: 'The week' });
      const monday = (await week.locator('svg').first().boundingBox())!;
      // Clicks on a quarter of the day, measured from its start, which is at the right in this layout.
      await page.mouse.click(monday.x + monday.width * 0.74, monday.y + monday.height / 2);
      const slot = page.getByRole('dialog', { name: 'Add time' });
      expect(await slot.locator('input[type=time]').first().inputValue()).toBe('06:00');
      await untilQuiet(page);
      expect(await layoutFaults(page)).toEqual([]);
      await expectAccessible(page);
    });
  });
});
