/** The page `/check` in a browser: results in both languages, over IPv4 and IPv6, and below a path of a proxy. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { expectAccessible } from '../support/browser/accessible.ts';
import { DashboardFixture } from '../support/browser/dashboard-fixture.ts';
import { layoutFaults } from '../support/browser/layout-faults.ts';
import { askOver4, askOver6, lookUpProbes } from '../support/browser/probed-device.ts';
import type { LookUp } from '../support/browser/probed-device.ts';
import { startSubPathProxy } from '../support/browser/sub-path-proxy.ts';
import type { SubPathProxy } from '../support/browser/sub-path-proxy.ts';
import { Viewport } from '../support/browser/watched-page.ts';
import type { Page, PageOptions } from '../support/browser/watched-page.ts';

/** Error of the browser, which cannot resolve the probe names. The test resolves them in place of the device. */
const NOT_RESOLVED = [/ERR_NAME_NOT_RESOLVED/];

let fixture: DashboardFixture;
let proxy: SubPathProxy;

beforeAll(async () => {
  fixture = await DashboardFixture.open({ addresses: ['127.0.0.1', '::1'] });
  proxy = await startSubPathProxy('/weir', fixture.weir.webPort);
});
afterAll(async () => {
  await proxy.close();
  await fixture.close();
});

interface Visit extends PageOptions {
  readonly path?: string;
  readonly origin?: string;
  readonly lookUp: LookUp;
}

/** Opens the check and waits for its result. */
async function check({ path = '/check', lookUp, ...options }: Visit, use: (page: Page) => Promise<void>) {
  await fixture.withPage({ session: '', expected: NOT_RESOLVED, ...options }, async (page) => {
    lookUpProbes(page, lookUp);
    await page.goto(path);
    await page.locator('[data-verdict]').waitFor();
    await use(page);
  });
}

/** Text of an element. */
const textOf = (page: Page, id: string): Promise<string> => page.locator(`[id="${id}"]`).innerText();
const over4 = (name: string): Promise<void> => askOver4(fixture.weir.dnsPort, name);
const over6 = (name: string): Promise<void> => askOver6(fixture.weir.dnsPort, name);

describe('the page /check', () => {
  test('reports that this computer uses Weir, and tests IPv4 and IPv6 separately', async () => {
    const lookUp = async (name: string, index: number): Promise<void> => {
      await over4(name);
      if (index < 2) await over6(name);
    };
    await check({ lookUp }, async (page) => {
      expect(await textOf(page, 'result')).toBe('This computer uses Weir');
      expect(await textOf(page, 'IPv4')).toBe('6 of 6 names, from 127.0.0.41 (UDP)');
      expect(await textOf(page, 'IPv6')).toBe('2 of 6 names, from ::1 (UDP)');
      expect(await page.getByText('Next steps').isVisible()).toBe(false);
      await expectAccessible(page);
    });
  });

  test('reports in German, the language of the browser, that this computer uses Weir, and fits a phone', async () => {
    const look = { locale: 'de-AT', viewport: Viewport.phone, theme: 'dark' } as const;
    await check({ lookUp: over6, ...look }, async (page) => {
      expect(await textOf(page, 'result')).toBe('Dieser Computer benutzt Weir');
      expect([await textOf(page, 'IPv4'), await textOf(page, 'IPv6')]).toEqual([
        'kein Name',
        '6 von 6 Namen, von ::1 (UDP)',
      ]);
      expect(await textOf(page, 'familyNote')).toContain('alle Namen kamen über IPv6');
      expect(await layoutFaults(page)).toEqual([]);
      await expectAccessible(page);
    });
  });

  test('explains what to do if no probe name was queried', async () => {
    const look = { viewport: Viewport.phone };
    await check({ lookUp: async () => undefined, ...look }, async (page) => {
      expect(await textOf(page, 'result')).toBe('This computer does not use Weir on e2e');
      await page.getByRole('heading', { name: 'Next steps' }).waitFor();
      expect(await layoutFaults(page)).toEqual([]);
      await expectAccessible(page);
    });
  });

  test('reports a second DNS server if only some probe names were queried, in the language of the dashboard', async () => {
    const lookUp = (name: string, index: number): Promise<void> =>
      index % 2 === 0 ? over4(name) : Promise.resolve();
    await fixture.withPage({ session: '', expected: NOT_RESOLVED }, async (page) => {
      await page.addInitScript(`localStorage.setItem('weir.language', 'de');
        localStorage.setItem('weir.theme', 'dark')`);
      lookUpProbes(page, lookUp);
      await page.goto('/check');
      await page.locator('[data-verdict="some"]').waitFor();
      expect(await textOf(page, 'result')).toBe('Dieser Computer benutzt Weir nicht immer');
      expect(await textOf(page, 'familyNote')).toContain('vielleicht eine IPv6-Adresse');
      await page.getByRole('heading', { name: 'Nächste Schritte' }).waitFor();
      expect(await page.locator('html').getAttribute('data-theme')).toBe('dark');
      await expectAccessible(page);
    });
  });

  test.each(['/weir/check', '/weir/check/'])(
    'works below the path of a reverse proxy, at %s',
    async (path) => {
      await check({ path, origin: proxy.origin, lookUp: over4 }, async (page) => {
        expect(await textOf(page, 'result')).toBe('This computer uses Weir');
        expect(new URL(page.url()).pathname).toBe('/weir/check');
        expect(await page.evaluate(`[...document.links].map(({ href }) => new URL(href).pathname)`)).toEqual([
          '/weir/guides',
          '/weir/check',
          '/weir/',
        ]);
      });
    },
  );
});
