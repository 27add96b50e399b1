/**
 * Clients that are not allowed to query: what the dashboard shows about them, and that they are answered once they are
 * allowed.
 */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Rcode } from '../../shared/dns/iana.ts';
import type { RefusedClients } from '../../shared/api/policy/access-api.ts';
import type { ConfigAnswer } from '../../shared/api/settings-api.ts';
import type { Revision } from '../../shared/api/revisions-api.ts';
import { expectAccessible } from '../support/browser/accessible.ts';
import { DashboardFixture, PASSWORD } from '../support/browser/dashboard-fixture.ts';
import { noticeOf } from '../support/browser/page-steps.ts';
import { query } from '../support/dns/dns-message.ts';
import { dohPath } from '../support/dns/doh-client.ts';
import { encryptedToml } from '../support/weir/encrypted-toml.ts';
import { freePort } from '../support/weir/free-ports.ts';
import { embeddedTarget } from '../../control-plane/storage/db/database-target.ts';
import { runningServerAddress } from '../../control-plane/storage/db/running-postgres.ts';
import { until } from '../support/parts/until.ts';

/** A proxy on this machine gives each query the source address that a test needs. */
const PROXY = { WEIR_SERVER_TRUSTED_PROXIES: '127.0.0.1' };

let fixture: DashboardFixture;
beforeAll(async () => {
  const [dot, doh] = [await freePort(['127.0.0.1']), await freePort(['127.0.0.1'])];
  const toml = `${encryptedToml({ dot, doh })}[dns]\nblocked_clients = ["203.0.113.0/24"]\n`;
  fixture = await DashboardFixture.open({ toml, env: PROXY });
});
afterAll(() => fixture.close());

/** Response code of a query from an address. */
async function rcodeOf(address: string, name = 'www.example.org'): Promise<number> {
  const path = dohPath(query(name, 'A', { id: 0 }));
  const answer = await fetch(`${fixture.origin}${path}`, { headers: { 'x-forwarded-for': address } });
  return Buffer.from(await answer.arrayBuffer())[3]! & 15;
}

async function allowed(): Promise<unknown> {
  const { dns } = await fixture.api.expect<ConfigAnswer>(200, 'GET', '/config');
  return dns['allowed_clients'];
}

describe('a network whose queries were refused', () => {
  test('is shown on the overview, and is allowed with one click, which can be undone', async () => {
    expect(await rcodeOf('198.51.100.7')).toBe(Rcode.REFUSED);
    expect(await rcodeOf('203.0.113.7')).toBe(Rcode.REFUSED);
    await fixture.withPage({}, async (page) => {
      await page.goto('./');
      await page.getByText('Devices in 198.51.100.0/24 were refused.').waitFor();
      await expectAccessible(page);
      await page.getByRole('link', { name: 'Review' }).click();
      await page.getByText('Devices with a private address (at home, in an office, over a VPN)').waitFor();
      const row = page.getByRole('row', { name: '198.51.100.0/24' });
      await row.getByText('198.51.100.7').waitFor();
      await page.getByRole('row', { name: '203.0.113.0/24' }).getByText('Blocked').waitFor();
      await expectAccessible(page);

      await row.getByRole('button', { name: 'Allow' }).click();
      await noticeOf(page, 'Network allowed');
      await row.waitFor({ state: 'detached' });
      expect(await allowed()).toEqual(['private', 'connected', '198.51.100.0/24']);
      expect(await rcodeOf('198.51.100.7')).toBe(Rcode.NOERROR);
      const [revision] = await fixture.api.expect<Revision[]>(200, 'GET', '/revisions');
      expect(revision).toMatchObject({ summary: 'configuration dns.allowed_clients: changed' });

      await page.getByRole('button', { name: 'Undo' }).click();
      await row.waitFor();
      expect(await rcodeOf('198.51.100.7')).toBe(Rcode.REFUSED);
    });
  });

  test('cannot be allowed by a viewer', async () => {
    await fixture.api.expect(201, 'POST', '/users', { username: 'vera', password: PASSWORD, role: 'viewer' });
    expect(await rcodeOf('198.51.100.7')).toBe(Rcode.REFUSED);
    const session = await fixture.logIn('vera');
    await fixture.withPage({ session }, async (page) => {
      await page.goto('./clients?tab=access');
      await page.getByRole('row', { name: '198.51.100.0/24' }).waitFor();
      expect(await page.getByRole('button', { name: 'Allow' }).count()).toBe(0);
    });
  });
});

describe('recent clients that an upgrade would refuse', () => {
  test('are announced for a day, and are still answered afterwards if the user allows them', async () => {
    const client = new pg.Client(embeddedTarget(runningServerAddress(fixture.weir.tempDir.dataDir)).config);
    await client.connect();
    await client.query(`INSERT INTO access_grace (ends_at) VALUES (now() + interval '1 day')`);
    await client.end();
    // The node reads the row that was written directly to the database with its next change.
    await fixture.api.expect(201, 'POST', '/managed-domains', { domain: 'ads.announced.example' });
    const isAnnounced = async (): Promise<boolean> => {
      const { announced } = await fixture.api.expect<RefusedClients>(200, 'GET', '/clients/refused');
      return announced?.networks.length === 2;
    };
    const isAnswered = async (): Promise<boolean> => {
      const codes = await Promise.all(
        ['198.51.100.7', '2001:db8:51::7', '203.0.113.7'].map((at) => rcodeOf(at)),
      );
      return codes.join() === [Rcode.NOERROR, Rcode.NOERROR, Rcode.REFUSED].join();
    };
    await until('answers to all that are not blocked', isAnswered, Boolean, { pauseMs: 100 });
    await until('two announced networks', isAnnounced, Boolean, { pauseMs: 100 });
    await fixture.withPage({}, async (page) => {
      await page.goto('./');
      await page.getByText('Devices in 2 networks will soon be refused', { exact: false }).waitFor();
      await page.getByText('Check who may use this server.').waitFor();
      await page.getByRole('link', { name: 'Review' }).click();
      await page.getByText('This version of Weir answers only allowed devices.', { exact: false }).waitFor();
      await page.getByRole('checkbox', { name: '2001:db8:51::/56' }).press('Space');
      await expectAccessible(page);
      await page.getByRole('button', { name: 'Allow 1 network' }).click();
      await noticeOf(page, 'Network allowed');
      await page.getByRole('heading', { name: 'Soon to be refused' }).waitFor({ state: 'detached' });
    });
    expect(await allowed()).toEqual(['private', 'connected', '198.51.100.0/24']);
    expect([await rcodeOf('198.51.100.7'), await rcodeOf('2001:db8:51::7')]).toEqual([
      Rcode.NOERROR,
      Rcode.REFUSED,
    ]);
  });
});

describe('the page of devices in German', () => {
  test('lists the allowed clients', async () => {
    await fixture.withPage({ locale: 'de-DE' }, async (page) => {
      await page.goto('./clients?tab=access');
      await page.getByRole('heading', { name: 'Wer Weir nutzen darf' }).waitFor();
      await page.getByText('Geräte in den Netzen dieses Rechners').waitFor();
      await expectAccessible(page);
    });
  });
});
