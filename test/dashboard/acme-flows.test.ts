/** Gets a certificate by ACME with the button of the settings, from Pebble. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { expectAccessible } from '../support/browser/accessible.ts';
import { DashboardFixture } from '../support/browser/dashboard-fixture.ts';
import { AcmeServer, TSIG_NAME } from '../support/dns/acme-server.ts';

let server: AcmeServer;
let fixture: DashboardFixture;

beforeAll(async () => {
  server = await AcmeServer.start();
  const toml = `[server.acme]
directory_url = ${JSON.stringify(server.directoryUrl)}
directory_ca_path = ${JSON.stringify(server.caPath)}
names = ["dns.example.org", "*.dns.example.org"]
challenge = "dns-01"
dns_server = "127.0.0.1:${server.dnsPort}"
dns_wait_secs = 0
tsig_name = "${TSIG_NAME}"
tsig_key_file = ${JSON.stringify(server.tsigPath)}
`;
  fixture = await DashboardFixture.open({ toml });
});
afterAll(async () => {
  await fixture.close();
  await server[Symbol.asyncDispose]();
});

test('the button "Get a certificate" reports what is missing, then gets a certificate and shows the certificate at once', async () => {
  await fixture.withPage({}, async (page) => {
    await page.goto('./settings?part=tls');
    const button = page.getByRole('button', { name: 'Get a certificate' });
    await button.click();
    await page.getByText('The order failed: ').waitFor();
    await page.getByText('server.acme.terms_agreed').waitFor();
    await expectAccessible(page);

    await fixture.api.expect(200, 'PATCH', '/config', { server: { acme: { terms_agreed: true } } });
    await button.click();
    await page.getByText('Certificate obtained').waitFor();
    await page.getByText('Next renewal').waitFor();
    await page.getByText('Pebble Intermediate').waitFor();
    await expectAccessible(page);
  });
  const status = await fixture.api.expect<{ error: string | null }>(200, 'GET', '/tls/acme');
  expect(status.error).toBeNull();
});
