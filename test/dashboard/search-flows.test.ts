/** The search in the frame of the dashboard, keys in the settings, and how to replace a forgotten password. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { expectAccessible } from '../support/browser/accessible.ts';
import { DashboardFixture } from '../support/browser/dashboard-fixture.ts';
import { Viewport } from '../support/browser/watched-page.ts';

let fixture: DashboardFixture;

beforeAll(async () => {
  fixture = await DashboardFixture.open();
  const { api } = fixture;
  await api.expect(201, 'POST', '/groups', { name: 'Findable people' });
  await api.expect(201, 'POST', '/clients', { ip_address: '192.0.2.70', name: 'Findable tablet' });
  const list = { name: 'Findable list', url: 'https://lists.example.org/ads.txt', enabled: false };
  await api.expect(201, 'POST', '/allowlist-sources', list);
  await api.expect(201, 'POST', '/managed-domains', { domain: 'findable.example' });
  await api.expect(201, 'POST', '/regex-filters', { pattern: '^findable[0-9]' });
  const service = { name: 'Findable service', category: 'social_media', domains: ['service.example'] };
  await api.expect(201, 'POST', '/custom-services', service);
});
afterAll(() => fixture.close());

describe('the search dialog', () => {
  test.each([
    ['findable people', 'Findable people', 'heading', 'Findable people'],
    ['findable tab', /^Findable tablet/, 'dialog', 'Findable tablet'],
    ['findable list', 'Findable list', 'dialog', 'Findable list'],
    ['findable serv', 'Findable service', 'dialog', 'Findable service'],
    ['findable.ex', 'findable.example', 'rowheader', 'findable.example'],
    ['findable[', '^findable[0-9]', 'rowheader', '^findable[0-9]'],
    ['udp coalesce', /dns\.udp_coalesce_us/, 'textbox', 'dns.udp_coalesce_us'],
    ['API tok', 'API tokens', 'heading', 'API tokens'],
  ] as const)('lists for %p the entry %p, and opens it', async (search, entry, role, name) => {
    await fixture.withPage({}, async (page) => {
      await page.goto('./nodes');
      await page.getByRole('navigation', { name: 'Main navigation' }).getByText('Search').click();
      const palette = page.getByRole('dialog', { name: 'Search everything' });
      await palette.getByRole('searchbox').fill(search);
      await palette.getByRole('menuitem').filter({ hasText: entry }).first().click();
      await page.getByRole(role, { name }).first().waitFor();
    });
  });

  test('shows a few results of each kind', async () => {
    await fixture.withPage({}, async (page) => {
      await page.goto('./nodes');
      await page.getByRole('navigation', { name: 'Main navigation' }).waitFor();
      await page.keyboard.press('Control+k');
      const palette = page.getByRole('dialog', { name: 'Search everything' });
      await palette.getByRole('searchbox').fill('findable');
      for (const place of ['Devices', 'Groups', 'Services', 'Lists', 'Rules'])
        await palette.getByRole('menuitem').getByText(place, { exact: true }).first().waitFor();
      await expectAccessible(page);
      await palette.getByRole('searchbox').fill('dns');
      const settings = palette.getByRole('menuitem').filter({ hasText: 'Settings' });
      await settings.first().waitFor();
      expect(await settings.count()).toBeLessThanOrEqual(6);
    });
  });

  test('shows long explanations of settings on a phone without overlap', async () => {
    await fixture.withPage({ viewport: Viewport.phone }, async (page) => {
      await page.goto('./more');
      await page.getByRole('button', { name: 'Search' }).click();
      const palette = page.getByRole('dialog', { name: 'Search everything' });
      await palette.getByRole('searchbox').fill('header');
      const entries = palette.getByRole('menuitem');
      await entries.filter({ hasText: 'PROXY' }).first().waitFor();
      const areInside = await page.evaluate<boolean>(
        `[...document.querySelectorAll('[role=menuitem]')].every((e) => e.scrollHeight <= e.clientHeight)`,
      );
      expect(areInside).toBe(true);
    });
  });
});

describe('the settings page', () => {
  test('shows a few keys of a section, and the expert keys of the section once they are expanded', async () => {
    await fixture.withPage({}, async (page) => {
      await page.goto('./settings?part=dns');
      await page.getByRole('switch', { name: 'dns.dnssec_enabled' }).waitFor();
      const expert = page.getByRole('textbox', { name: 'dns.udp_coalesce_us' });
      expect(await expert.isVisible()).toBe(false);
      await page.getByText(/^Expert settings/).click();
      await expert.waitFor();
      await expectAccessible(page);
    });
  });

  test('shows what a key does before its name', async () => {
    await fixture.withPage({}, async (page) => {
      await page.goto('./settings?part=cache');
      const row = page.getByRole('listitem').filter({ hasText: 'cache.enabled' });
      expect(await row.innerText()).toMatch(/^Caches answers until their TTL expires\.\s+cache\.enabled/);
    });
  });
});

describe('the login page', () => {
  test('explains how to replace a forgotten password', async () => {
    await fixture.withPage({ session: '' }, async (page) => {
      await page.goto('./');
      await page.getByText('Forgot your password?').click();
      await page.getByText('sudo weir set-password').waitFor();
      await expectAccessible(page);
    });
  });
});
