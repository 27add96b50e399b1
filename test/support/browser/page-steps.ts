/** Single steps on a page of the dashboard, and functions that find elements by their English texts. */
import type { Locator } from 'playwright-core';
import { PASSWORD } from '../weir/api-client.ts';
import { untilQuiet } from './watched-page.ts';
import type { Page } from './watched-page.ts';

/** Waits for the notice with this text. */
export async function noticeOf(page: Page, text: string | RegExp): Promise<Locator> {
  const notice = page
    .getByRole('region', { name: 'Notices' })
    .getByRole('alertdialog')
    .filter({ hasText: text });
  await notice.waitFor();
  return notice;
}

/** Focuses a button of a notice and returns it. A focused notice does not time out. */
export async function holdNotice(notice: Locator, name: string): Promise<Locator> {
  const button = notice.getByRole('button', { name });
  await button.focus();
  return button;
}

/** Selects an option of a drop-down list. */
export async function choose(within: Page | Locator, label: string, option: string): Promise<void> {
  await within.getByRole('button', { name: new RegExp(` ${label}$`) }).click();
  await pageOf(within).getByRole('option', { name: option, exact: true }).click();
}

/** Opens the menu of a button and selects one of its actions. */
export async function takeAction(within: Page | Locator, button: string, action: string): Promise<void> {
  await within.getByRole('button', { name: button, exact: true }).click();
  await pageOf(within).getByRole('menuitem', { name: action, exact: true }).click();
}

/** Navigates to a path as a link does, without reloading the document, so scripts are not loaded and compiled again. */
export async function followPath(page: Page, path: string): Promise<void> {
  await page.evaluate(`history.pushState({}, '', './${path}')`);
  await untilQuiet(page);
}

/** Fills in the login form and submits it. */
export async function logInThere(
  within: Page | Locator,
  { username, password = PASSWORD }: { readonly username?: string; readonly password?: string } = {},
): Promise<void> {
  if (username !== undefined) await within.getByLabel('User name').fill(username);
  await within.getByLabel('Password').fill(password);
  await within.getByRole('button', { name: 'Log in' }).click();
}

/** The row of the log for a name. */
export function logRowOf(page: Page, name: string): Locator {
  return page.getByRole('row', { name: `${name}, A, asked by` });
}

/** Opens the log with the queries for a name, and the drawer of the newest query; returns the drawer. */
export async function openExplained(page: Page, name: string): Promise<Locator> {
  await page.goto(`./queries?domain=${name}`);
  await logRowOf(page, name).first().locator('time').click();
  const drawer = page.getByRole('dialog', { name });
  await drawer.getByRole('heading', { name: 'Step by step' }).waitFor();
  return drawer;
}

function pageOf(within: Page | Locator): Page {
  return 'goto' in within ? within : within.page();
}
