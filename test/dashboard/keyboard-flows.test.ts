/** Daily tasks with only the keyboard: Tab reaches each control in view, and the focus returns to where it was. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Locator } from 'playwright-core';
import type { GroupPlan } from '../../shared/api/policy/schedules-api.ts';
import { BLOCKED, DashboardFixture } from '../support/browser/dashboard-fixture.ts';
import { noticeOf } from '../support/browser/page-steps.ts';
import { untilQuiet } from '../support/browser/watched-page.ts';
import type { Page } from '../support/browser/watched-page.ts';
import { EVERY_ADDRESS } from '../support/dns/echoing-upstream.ts';

/** More than the number of controls of any page with its dialog. */
const MAX_TABS = 120;
const DEVICE = '127.0.0.45';

let fixture: DashboardFixture;

beforeAll(async () => {
  fixture = await DashboardFixture.open();
  await fixture.api.expect(201, 'POST', '/clients', { ip_address: DEVICE, name: 'Mia’s tablet' });
});
afterAll(() => fixture.close());

/** Presses Tab until the control has the focus, which must be inside the window. */
async function tabTo(page: Page, control: Locator): Promise<void> {
  await control.first().waitFor();
  const focused = control.and(page.locator(':focus'));
  for (let presses = 0; (await focused.count()) === 0; presses += 1) {
    expect(presses).toBeLessThan(MAX_TABS);
    await page.keyboard.press('Tab');
  }
  expect(
    await page.evaluate(`(() => {
      const { top, bottom } = document.activeElement.getBoundingClientRect();
      return bottom > 0 && top < innerHeight;
    })()`),
  ).toBe(true);
}

const button = (page: Page, name: string | RegExp): Locator =>
  page.getByRole('button', { name, exact: typeof name === 'string' });

/** The focused item of the open menu. */
const item = (page: Page, name: string): Locator =>
  page.getByRole('menuitem', { name }).and(page.locator(':focus'));

describe('with only the keyboard, a user', () => {
  test('pauses blocking for a limited time, and resumes it', async () => {
    const isEnabled = async (): Promise<boolean> =>
      (await fixture.api.expect<{ enabled: boolean }>(200, 'GET', '/blocking')).enabled;
    await fixture.withPage({}, async (page) => {
      await page.goto('./');
      await tabTo(page, button(page, 'Pause blocking'));
      await page.keyboard.press('Enter');
      await item(page, 'For 30 secs').waitFor();
      await page.keyboard.press('ArrowDown');
      await item(page, 'For 5 mins').waitFor();
      await page.keyboard.press('Enter');
      await noticeOf(page, 'Blocking is paused.');
      expect(await isEnabled()).toBe(false);
      await tabTo(page, button(page, 'Resume'));
      await page.keyboard.press('Enter');
      await noticeOf(page, 'Blocking is active again.');
      expect(await isEnabled()).toBe(true);
    });
  });

  test('sets up the devices of a child, and the focus returns to the button', async () => {
    await fixture.withPage({}, async (page) => {
      await page.goto('./groups');
      await tabTo(page, button(page, 'Set up a child'));
      await page.keyboard.press('Enter');
      const form = page.getByRole('dialog', { name: 'Set up a child' });
      await tabTo(page, form.getByRole('checkbox', { name: 'Mia’s tablet' }));
      await page.keyboard.press('Space');
      await tabTo(page, form.getByRole('button', { name: 'YouTube', exact: true }));
      await page.keyboard.press('Space');
      await tabTo(page, form.getByRole('button', { name: 'Save' }));
      await page.keyboard.press('Enter');
      await noticeOf(page, 'Devices, services and times are saved.');
      await button(page, 'Set up a child').and(page.locator(':focus')).waitFor();
    });
    const plans = await fixture.api.expect<GroupPlan[]>(200, 'GET', '/group-plans');
    expect(plans.find(({ name }) => name === 'Mia')).toMatchObject({ services: [{ service_id: 'youtube' }] });
  });

  test('adds a rule, finds it in History, and undoes it', async () => {
    const name = 'keys.rule.example';
    await fixture.withPage({}, async (page) => {
      await page.goto('./rules');
      await tabTo(page, button(page, 'Add rule').first());
      await page.keyboard.press('Enter');
      const form = page.getByRole('dialog', { name: 'Add rule' });
      await form.getByLabel('Name', { exact: true }).and(page.locator(':focus')).waitFor();
      await page.keyboard.type(`https://${name}/page`);
      await page.keyboard.press('Enter');
      await form.waitFor({ state: 'detached' });
      expect(await fixture.ask([name])).toEqual([BLOCKED]);

      await tabTo(page, page.getByRole('link', { name: 'History' }));
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'History', level: 1 }).waitFor();
      await tabTo(page, button(page, new RegExp(`^Actions for .*${name}`)));
      await page.keyboard.press('Enter');
      await item(page, 'Undo').waitFor();
      await page.keyboard.press('Enter');
      const question = page.getByRole('alertdialog', { name: /^Undo revision/ });
      await tabTo(page, question.getByRole('button', { name: 'Undo' }));
      await page.keyboard.press('Enter');
      await question.waitFor({ state: 'detached' });
    });
    expect(await fixture.ask([name])).toEqual([EVERY_ADDRESS]);
  });

  test('renames a device in its drawer, and the focus returns to its row', async () => {
    await fixture.withPage({}, async (page) => {
      await page.goto('./clients');
      await tabTo(page, page.getByRole('link', { name: 'Mia’s tablet' }));
      await page.keyboard.press('Enter');
      const drawer = page.getByRole('dialog', { name: 'Mia’s tablet' });
      await tabTo(page, drawer.getByRole('button', { name: 'Edit' }));
      await page.keyboard.press('Enter');
      const form = page.getByRole('dialog', { name: /^Edit / });
      await form.getByLabel('Name', { exact: true }).and(page.locator(':focus')).waitFor();
      await page.keyboard.press('Control+a');
      await page.keyboard.type('Kitchen tablet');
      await page.keyboard.press('Enter');
      await noticeOf(page, 'Device saved');
      await form.waitFor({ state: 'detached' });
      await untilQuiet(page);
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await page.getByRole('link', { name: 'Kitchen tablet' }).and(page.locator(':focus')).waitFor();
    });
  });
});
