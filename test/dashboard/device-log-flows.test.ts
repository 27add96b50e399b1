/** From a device to its blocked queries and names, and clearing the log of one device. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { expectAccessible } from '../support/browser/accessible.ts';
import { BLOCKED_NAME, DashboardFixture } from '../support/browser/dashboard-fixture.ts';
import { logRowOf, noticeOf } from '../support/browser/page-steps.ts';
import { Viewport } from '../support/browser/watched-page.ts';
import { EVERY_ADDRESS } from '../support/dns/echoing-upstream.ts';
import { until } from '../support/parts/until.ts';

const [TABLET, OTHER] = ['127.0.0.35', '127.0.0.36'];
const NAME = 'cleared.device.example';

let fixture: DashboardFixture;
let tablet: number;

beforeAll(async () => {
  fixture = await DashboardFixture.open();
  const client = { ip_address: TABLET, name: 'Tablet' };
  tablet = (await fixture.api.expect<{ id: number }>(201, 'POST', '/clients', client)).id;
  await fixture.ask([NAME], TABLET);
  await fixture.ask([NAME], OTHER);
  await fixture.api.untilQueryCount(2, `domain=${NAME}`);
});
afterAll(() => fixture.close());

test('clearing the log with an address filter deletes all rows of the device with that address, and no other rows', async () => {
  await fixture.withPage({}, async (page) => {
    await page.goto(`./queries?domain=${NAME}`);
    await logRowOf(page, NAME).first().waitFor();
    await page.locator('[data-filter=client]').filter({ hasText: 'Tablet' }).click();
    await page.getByRole('menuitem', { name: /^Only / }).click();
    await page.getByText('1 row', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Clear', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Clear the query log' });
    await dialog.getByRole('button', { name: 'Tablet Device' }).waitFor();
    await dialog.getByRole('button', { name: 'Clear 1 row' }).click();
    await dialog.getByRole('button', { name: 'Really clear 1 row' }).click();
    await dialog.getByText('1 row cleared').waitFor();
  });
  expect(await fixture.api.queries(`domain=${NAME}`)).toMatchObject([{ client: OTHER }]);
});

test('the drawer of a device shows at least as many queries in total as in the last 24 hours', async () => {
  const name = 'counted.device.example';
  await fixture.ask([name, `a.${name}`, `b.${name}`], TABLET);
  await fixture.api.untilQueryCount(3, `domain=${name}&client_id=${tablet}`);
  await fixture.withPage({}, async (page) => {
    await page.goto(`./clients?open=${tablet}`);
    const drawer = page.getByRole('dialog', { name: 'Tablet' });
    const total = drawer.locator('dl > div').filter({ hasText: 'Queries in total' }).locator('dd');
    const [, recent] = /^(\d+) quer/.exec(await drawer.getByText(/ of them blocked/).innerText())!;
    expect(Number(recent)).toBeGreaterThanOrEqual(3);
    expect(Number(await total.innerText())).toBeGreaterThanOrEqual(Number(recent));
  });
});

test('the dialog to clear the log takes the period of the page, lists ignored filters, and keeps later rows', async () => {
  const [early, late] = ['early.device.example', 'late.device.example'];
  await fixture.ask([early], TABLET);
  await fixture.api.untilQueryCount(1, `domain=${early}`);
  await fixture.withPage({}, async (page) => {
    await page.goto(`./queries?domain=${early}&client_id=${tablet}&period=1h`);
    await logRowOf(page, early).waitFor();
    await page.getByRole('button', { name: 'Clear', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Clear the query log' });
    await dialog.getByText(`Clearing does not use these filters of the page: Name: ${early}.`).waitFor();
    await dialog.getByRole('button', { name: 'Tablet Device' }).waitFor();
    const from = Date.parse(`${await dialog.getByLabel('From').inputValue()}Z`);
    expect([60, 61]).toContain(Math.floor((Date.now() - from) / 60_000));
    await dialog.getByText(/^\d+ rows? will be removed\.$/).waitFor();
    await expectAccessible(page);

    await fixture.ask([late], TABLET);
    await fixture.api.untilQueryCount(1, `domain=${late}`);
    await dialog.getByRole('button', { name: /^Clear \d+ rows?$/ }).click();
    await dialog.getByRole('button', { name: /^Really clear \d+ rows?$/ }).click();
    await dialog.getByText(/^\d+ rows? cleared$/).waitFor();
  });
  expect(await fixture.api.queries(`client_id=${tablet}`)).toMatchObject([{ domain: late }]);
});

test('the drawer of a device links to its blocked queries, and each blocked name to the reason and to Unblock', async () => {
  await fixture.ask([BLOCKED_NAME, 'open.device.example'], TABLET);
  await fixture.api.untilQueryCount(1, `client_id=${tablet}&status=BLOCKED`);
  await until(
    'the statistics of the device',
    () => fixture.api.expect<unknown[]>(200, 'GET', `/stats/top_blocked?client=${TABLET}&period=24h`),
    (rows) => rows.length > 0,
  );
  await fixture.withPage({ viewport: Viewport.phone, isTouched: true }, async (page) => {
    await page.goto(`./clients?open=${tablet}`);
    await page.getByRole('link', { name: 'Its blocked queries' }).tap();
    await page.getByRole('button', { name: 'Device: Tablet', exact: true }).waitFor();
    await page.getByText('1 row', { exact: true }).waitFor();
    await logRowOf(page, BLOCKED_NAME).waitFor();

    await page.goto(`./clients?open=${tablet}`);
    await page.getByRole('link', { name: BLOCKED_NAME }).first().tap();
    await page.getByRole('heading', { name: 'Step by step' }).waitFor();
    await page.getByRole('button', { name: 'Unblock 10 min' }).tap();
    await noticeOf(page, `${BLOCKED_NAME} is allowed until`);
  });
  expect(await fixture.ask([BLOCKED_NAME], TABLET)).toEqual([EVERY_ADDRESS]);
});

test('a device with a key links to the settings if no encrypted DNS is enabled', async () => {
  const client = { client_key: 'carls-phone', name: 'Carl' };
  const { id } = await fixture.api.expect<{ id: number }>(201, 'POST', '/clients', client);
  await fixture.withPage({}, async (page) => {
    await page.goto(`./clients?open=${id}`);
    const drawer = page.getByRole('dialog', { name: 'Carl' });
    await drawer.getByText('DNS over TLS and DNS over HTTPS are disabled.').waitFor();
    expect(await drawer.getByText('No query with this key has arrived yet.').count()).toBe(0);
    await drawer.getByRole('link', { name: 'Settings' }).click();
    await page.getByText('server.encrypted_dns.dot_enabled', { exact: true }).waitFor();
  });
});
