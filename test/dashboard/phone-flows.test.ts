/** Sets up a phone by its key: names, codes and profile on the page of its device, until its first query arrives. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { expectAccessible } from '../support/browser/accessible.ts';
import { DashboardFixture, PASSWORD } from '../support/browser/dashboard-fixture.ts';
import { layoutFaults } from '../support/browser/layout-faults.ts';
import { Viewport } from '../support/browser/watched-page.ts';
import { TestAuthority } from '../support/dns/certificates.ts';
import { DotClient } from '../support/dns/dot-client.ts';
import { encryptedToml } from '../support/weir/encrypted-toml.ts';
import { freePort } from '../support/weir/free-ports.ts';

let authority: TestAuthority;
let fixture: DashboardFixture;
let ports: { dot: number; doh: number };

beforeAll(async () => {
  authority = new TestAuthority();
  const certificate = authority.issue('DNS:dns.example.org,DNS:*.dns.example.org');
  ports = { dot: await freePort(['127.0.0.1']), doh: await freePort(['127.0.0.1']) };
  fixture = await DashboardFixture.open({ toml: encryptedToml(ports, certificate) });
});
afterAll(async () => {
  await fixture.close();
  authority.close();
});

test('the drawer of a device shows how to set up a phone, and confirms the set-up after the first query', async () => {
  const phone = await fixture.api.expect<{ id: number }>(201, 'POST', '/clients', {
    client_key: 'annas-phone',
    name: 'Anna',
  });
  await fixture.withPage({}, async (page) => {
    await page.goto(`./clients?open=${String(phone.id)}`);
    await page.getByText('No query with this key has arrived yet.').waitFor();
    await page.getByText('Devices use port 853').waitFor();
    await page.getByText('annas-phone.dns.example.org', { exact: true }).waitFor();
    await page.getByRole('img', { name: 'QR code of annas-phone.dns.example.org' }).waitFor();
    await expectAccessible(page);

    await page.getByRole('radio', { name: 'Other apps' }).click();
    await page.getByText(`https://dns.example.org:${String(ports.doh)}/dns-query/annas-phone`).waitFor();

    await page.getByRole('radio', { name: 'iPhone, iPad, Mac' }).click();
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download profile (DNS over TLS)' }).click();
    const file = readFileSync(await (await download).path(), 'latin1');
    expect(file).toContain('<string>annas-phone.dns.example.org</string>');
    expect(file.startsWith('<?xml')).toBe(false);
    await expectAccessible(page);

    const client = await DotClient.open(ports.dot, { servername: 'annas-phone.dns.example.org' });
    await client.ask('www.example.org', 'A');
    client.close();
    await page.getByText('It works: queries with this key have been arriving since').waitFor();
  });
});

test('the drawer of a device without a random key creates a key that allows queries from any network', async () => {
  const device = { ip_address: '192.0.2.91', name: 'Carl' };
  const { id } = await fixture.api.expect<{ id: number }>(201, 'POST', '/clients', device);
  const keyOf = async (): Promise<string | null> =>
    (await fixture.api.expect<{ client_key: string | null }>(200, 'GET', `/clients/${String(id)}`))
      .client_key;
  await fixture.withPage({ viewport: Viewport.phone }, async (page) => {
    await page.goto(`./clients?open=${String(id)}`);
    await page.getByText('Away from home, the device identifies itself by a key.').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByRole('img', { name: /^QR code of [a-z2-9]{16}\.dns\.example\.org$/ }).waitFor();
    const first = await keyOf();
    expect(await layoutFaults(page)).toEqual([]);

    await fixture.api.expect(200, 'PATCH', `/clients/${String(id)}`, { client_key: 'carls-phone' });
    await page.reload();
    const refused = page.getByText('Outside the networks that may use Weir');
    await refused.waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Create key' }).click();
    await refused.waitFor({ state: 'detached' });
    const second = await keyOf();
    expect([first, second]).toEqual(Array(2).fill(expect.stringMatching(/^[a-z2-9]{16}$/)));
    expect(second).not.toBe(first);
  });
});

test('the drawer of a device shows no phone set-up to a viewer', async () => {
  const { id } = await fixture.api.expect<{ id: number }>(201, 'POST', '/clients', {
    client_key: 'bens-phone',
  });
  await fixture.api.expect(201, 'POST', '/users', { username: 'vera', password: PASSWORD, role: 'viewer' });
  await fixture.withPage({ session: await fixture.logIn('vera') }, async (page) => {
    await page.goto(`./clients?open=${String(id)}`);
    await page.getByText('bens-phone').first().waitFor();
    expect(await page.getByRole('heading', { name: 'Use away from home' }).count()).toBe(0);
  });
});
