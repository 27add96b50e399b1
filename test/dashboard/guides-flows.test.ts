/** The guides for routers and devices: how users find and choose a guide, and the size of its code. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { expectAccessible } from '../support/browser/accessible.ts';
import { DashboardFixture } from '../support/browser/dashboard-fixture.ts';
import { countLoaded } from '../support/browser/loaded-files.ts';
import { followPath } from '../support/browser/page-steps.ts';
import { untilQuiet } from '../support/browser/watched-page.ts';

/** Maximum size of the scripts that this page loads in addition to the scripts of another page, compressed by gzip. */
const PAGE_SCRIPTS_BYTES = 30 * 1024;

let fixture: DashboardFixture;

beforeAll(async () => (fixture = await DashboardFixture.open()));
afterAll(() => fixture.close());

describe('the guides for setting up devices', () => {
  test('are linked from the overview if there are few devices, and show the steps for a router', async () => {
    await fixture.withPage({}, async (page) => {
      await page.goto('./');
      await page.getByText('Only one device has used Weir in this period.').waitFor();
      await page.getByRole('link', { name: 'Guides', exact: true }).click();
      await page.getByRole('heading', { name: 'Another router: IPv4' }).waitFor();
      await page.getByRole('button', { name: 'Router or device' }).click();
      await page.getByRole('option', { name: 'FRITZ!Box' }).click();
      await page.getByRole('heading', { name: 'FRITZ!Box: IPv6' }).waitFor();
      await page.getByText(/Enter .+ as Local DNS server, and save\./).waitFor();
      // This server listens on a port that routers cannot use for DNS.
      await page.getByText('Change nothing yet').waitFor();
      expect(new URL(page.url()).search).toBe('?for=fritzbox');
      await expectAccessible(page);
    });
  });

  test('are available in German, within the size budget of a page', async () => {
    await fixture.withPage({ locale: 'de-DE' }, async (page) => {
      const loaded = countLoaded(page);
      await page.goto('./setup');
      await untilQuiet(page);
      await followPath(page, 'more');
      loaded.take();
      await followPath(page, 'setup');
      await followPath(page, 'guides');
      await page.getByRole('heading', { name: 'Anderer Router: IPv4' }).waitFor();
      await untilQuiet(page);
      const { scripts } = loaded.take();
      expect(scripts).toBeGreaterThan(0);
      expect(scripts).toBeLessThanOrEqual(PAGE_SCRIPTS_BYTES);
      await followPath(page, 'guides?for=networkManager');
      await page.getByText('nmcli connection up NAME').first().waitFor();
      await expectAccessible(page);
    });
  });
});
