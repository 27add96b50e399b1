/**
 * A device requests on the page /check to unblock a name. Open pages of users show the request without a reload, and
 * the users answer it.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Grant } from '../../shared/api/policy/grants-api.ts';
import { expectAccessible } from '../support/browser/accessible.ts';
import { BLOCKED, BLOCKED_NAME, DashboardFixture, PASSWORD } from '../support/browser/dashboard-fixture.ts';
import { layoutFaults } from '../support/browser/layout-faults.ts';
import { noticeOf } from '../support/browser/page-steps.ts';
import { askOver4, lookUpProbes } from '../support/browser/probed-device.ts';
import { startSubPathProxy } from '../support/browser/sub-path-proxy.ts';
import type { SubPathProxy } from '../support/browser/sub-path-proxy.ts';
import { Viewport } from '../support/browser/watched-page.ts';
import type { Page } from '../support/browser/watched-page.ts';
import { EVERY_ADDRESS } from '../support/dns/echoing-upstream.ts';

const [TABLET, OTHER] = ['127.0.0.61', '127.0.0.62'];
const PROXY = '127.0.0.9';
const OPTIONS = {
  toml: '[blocking]\nunblock_requests = true\n',
  env: { WEIR_SERVER_TRUSTED_PROXIES: PROXY },
};

let fixture: DashboardFixture;
/** Forwards the requests of the tablet, like a proxy in the network. */
let device: SubPathProxy;
let tablet: number;

beforeAll(async () => {
  fixture = await DashboardFixture.open(OPTIONS);
  device = await startSubPathProxy('/weir', fixture.weir.webPort, { from: PROXY, client: TABLET });
  const client = { ip_address: TABLET, name: 'Tablet' };
  tablet = (await fixture.api.expect<{ id: number }>(201, 'POST', '/clients', client)).id;
});
afterAll(async () => {
  await device.close();
  await fixture.close();
});

/** Requests a name on the page of the device, and returns the displayed result. */
async function askOnDevice(name: string, use?: (page: Page) => Promise<void>): Promise<string> {
  const options = { origin: device.origin, session: '', viewport: Viewport.phone };
  return fixture.withPage({ ...options, expected: [/ERR_NAME_NOT_RESOLVED/] }, async (page) => {
    lookUpProbes(page, (probe) => askOver4(fixture.weir.dnsPort, probe));
    await page.goto('/weir/check');
    await page.locator('[data-verdict]').waitFor();
    await page.getByLabel('Name or address of the page').fill(name);
    await use?.(page);
    await page.getByRole('button', { name: 'Ask to unblock' }).click();
    const state = page.locator('[id="askState"]');
    await state.filter({ hasText: /\S/ }).waitFor();
    return state.innerText();
  });
}

const asked = async (): Promise<unknown[]> => [
  ...(await fixture.ask([BLOCKED_NAME], TABLET)),
  ...(await fixture.ask([BLOCKED_NAME], OTHER)),
];
const grants = (): Promise<Grant[]> => fixture.api.expect<Grant[]>(200, 'GET', '/grants');

describe("a device user's request to unblock a name", () => {
  test('is shown on the open page of an administrator, who unblocks the name only for that device', async () => {
    expect(await asked()).toEqual([BLOCKED, BLOCKED]);
    await fixture.withPage({}, async (page) => {
      await page.goto('./settings');
      await page.getByRole('heading', { name: 'Settings' }).first().waitFor();
      expect(await page.getByRole('button', { name: '1 request to unblock' }).count()).toBe(0);
      const shown = await askOnDevice(`https://${BLOCKED_NAME}/page?x=1`, async (own) => {
        expect(await layoutFaults(own)).toEqual([]);
        await expectAccessible(own);
      });
      expect(shown).toMatch(/^Your request is shown in the dashboard/);
      expect(await askOnDevice('other.example')).toBe('This name is not blocked for this device.');
      expect(await askOnDevice(BLOCKED_NAME)).toMatch(/^This device has an open request already/);
      await page.getByRole('button', { name: '1 request to unblock' }).click();
      const dialog = page.getByRole('dialog', { name: 'Requests to unblock' });
      await dialog.getByText('Tablet asks to unblock').waitFor();
      await dialog.getByRole('button', { name: 'Unblock…' }).waitFor();
      await expectAccessible(page);
      await dialog.getByRole('button', { name: 'Unblock 10 min' }).click();
      await noticeOf(page, `${BLOCKED_NAME} is allowed until`);
      await dialog.getByText('No open requests').waitFor();
      await dialog.getByRole('button', { name: 'Close' }).click();
      await page.getByRole('button', { name: '1 request to unblock' }).waitFor({ state: 'detached' });
    });
    expect(await asked()).toEqual([EVERY_ADDRESS, BLOCKED]);
    const [grant] = await grants();
    expect(grant).toMatchObject({ client_id: tablet, domain: BLOCKED_NAME });
    await fixture.api.expect(204, 'DELETE', `/grants/${grant!.id}`);
  });

  test('is shown to the family user of the device, who unblocks the name or dismisses the request', async () => {
    const user = { username: 'frida', password: PASSWORD, role: 'family', client_ids: [tablet] };
    await fixture.api.expect(201, 'POST', '/users', user);
    const session = await fixture.logIn('frida');
    await askOnDevice(BLOCKED_NAME);
    await fixture.withPage({ session, viewport: { width: 320, height: 640 } }, async (page) => {
      await page.goto('./');
      await page.getByText('Tablet asks to unblock').waitFor();
      expect(await layoutFaults(page)).toEqual([]);
      await expectAccessible(page);
      await page.getByRole('button', { name: 'Unblock', exact: true }).click();
      expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe(BLOCKED_NAME);
      await page.getByRole('button', { name: 'Start' }).click();
      await page.getByText('Tablet asks to unblock').waitFor({ state: 'detached' });
      expect(await asked()).toEqual([EVERY_ADDRESS, BLOCKED]);
      await page.getByRole('button', { name: 'End now' }).click();
      await page.getByText(BLOCKED_NAME).waitFor({ state: 'detached' });
    });
    await askOnDevice(BLOCKED_NAME);
    await fixture.withPage({ session, viewport: { width: 320, height: 640 } }, async (page) => {
      await page.goto('./');
      await page.getByRole('button', { name: 'Dismiss the request of Tablet' }).click();
      await page.getByText('Tablet asks to unblock').waitFor({ state: 'detached' });
    });
    expect(await asked()).toEqual([BLOCKED, BLOCKED]);
    expect(await fixture.api.expect(200, 'GET', '/unblock-requests')).toEqual([]);
  });

  test('cannot be sent from the page while requests are disabled', async () => {
    await fixture.api.expect(200, 'PATCH', '/config', { blocking: { unblock_requests: false } });
    await fixture.withPage({ session: '', expected: [/ERR_NAME_NOT_RESOLVED/] }, async (page) => {
      lookUpProbes(page, (probe) => askOver4(fixture.weir.dnsPort, probe));
      await page.goto('/check');
      await page.locator('[data-verdict]').waitFor();
      expect(await page.getByText('Ask to unblock').count()).toBe(0);
    });
  });
});
