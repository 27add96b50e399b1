/** Small screens: the navigation on a laptop, a row of the log and notices on a phone, and large text. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { expectAccessible } from '../support/browser/accessible.ts';
import { DashboardFixture } from '../support/browser/dashboard-fixture.ts';
import { PHONE } from '../support/browser/finger.ts';
import { layoutFaults } from '../support/browser/layout-faults.ts';
import { choose, followPath, logRowOf, noticeOf, openExplained } from '../support/browser/page-steps.ts';
import { untilQuiet, Viewport } from '../support/browser/watched-page.ts';
import type { Page } from '../support/browser/watched-page.ts';
import { until } from '../support/parts/until.ts';

const NAME = 'fits.example.org';
/** Font size of users with large text in the browser, twice the default. */
const LARGE_PX = 32;
/** Devices without a name that have not been seen before. */
const NEW_DEVICES = ['127.0.0.61', '127.0.0.62', '127.0.0.63'];

let fixture: DashboardFixture;

beforeAll(async () => {
  fixture = await DashboardFixture.open();
  await fixture.api.expect(201, 'POST', '/clients', { ip_address: '127.0.0.1', name: 'Anna’s telephone' });
  await fixture.askLogged(NAME);
});
afterAll(() => fixture.close());

/** Elements with text wider than the element. */
function cutTexts(page: Page, selector: string): Promise<string[]> {
  return page.evaluate(`[...document.querySelectorAll(${JSON.stringify(selector)})]
    .filter((it) => it.scrollWidth > it.clientWidth).map((it) => it.textContent)`);
}

describe('on a small screen', () => {
  test('the navigation shows all pages without scrolling on a screen 720 px high', async () => {
    await fixture.withPage({ viewport: { width: 1_280, height: 720 } }, async (page) => {
      await page.goto('./');
      const navigation = page.getByRole('navigation', { name: 'Main navigation' });
      await navigation.getByRole('link', { name: 'Settings' }).waitFor();
      const hiddenPx = await page.evaluate(`(() => {
        const it = document.querySelector('nav');
        return it.scrollHeight - it.clientHeight;
      })()`);
      expect(hiddenPx).toBe(0);
    });
  });

  test('a row of the log contains the name of the device', async () => {
    await fixture.withPage({ viewport: Viewport.phone }, async (page) => {
      await page.goto(`./queries?domain=${NAME}`);
      const name = logRowOf(page, NAME).first().locator('[data-filter=client]');
      await name.waitFor();
      expect((await name.boundingBox())!.width).toBeGreaterThan(90);
    });
  });

  test.each(['en', 'de'])(
    'a row of the log on a desktop shows the whole outcome in the language %s',
    async (language) => {
      const name = `ads.outcome-${language}.example`;
      await fixture.api.expect(201, 'POST', '/regex-filters', {
        pattern: `outcome-${language}`,
        action: 'deny',
      });
      await fixture.askLogged(name);
      await fixture.withPage({ locale: language }, async (page) => {
        await page.goto(`./queries?domain=${name}`);
        await page.locator('[data-index="0"] [data-filter=status]').waitFor();
        expect(await cutTexts(page, '[data-index="0"] > :has([data-filter=status])')).toEqual([]);
      });
    },
  );

  test('the list of devices shows devices below the notices, and its options after a click on a button', async () => {
    await Promise.all(NEW_DEVICES.map((address) => fixture.ask([NAME], address)));
    await until(
      'the new devices',
      () => fixture.api.expect<{ total: number }>(200, 'GET', '/clients?is_new=true&is_unnamed=true'),
      ({ total }) => total >= NEW_DEVICES.length,
    );
    await fixture.withPage(PHONE, async (page) => {
      await page.goto('./clients');
      await page.getByRole('button', { name: 'I know these devices' }).waitFor();
      await page.getByRole('button', { name: 'Name devices' }).waitFor();
      await untilQuiet(page);
      const bar = (await page.getByRole('navigation', { name: 'Pages' }).boundingBox())!;
      const second = (await page.locator('main tbody tr').nth(1).boundingBox())!;
      expect(second.y + second.height).toBeLessThanOrEqual(bar.y);

      const group = page.getByRole('button', { name: / Group$/ });
      expect(await group.count()).toBe(0);
      await page.getByRole('button', { name: 'Filters', exact: true }).tap();
      await group.waitFor();
      await choose(page, 'First seen', 'New in the last 24 hours');
      await page.getByRole('button', { name: 'Filters (1)' }).waitFor();
      expect(await layoutFaults(page)).toEqual([]);
      // Makes the window as high as the page, because the bar covers content that is scrolled below it.
      await page.setViewportSize({ ...Viewport.phone, height: 4_000 });
      await expectAccessible(page);
    });
  });

  test('a notice about devices shows its advice after a click', async () => {
    await fixture.withPage(PHONE, async (page) => {
      await page.goto('./clients');
      const advice = page.getByText('someone may have joined your network', { exact: false });
      const details = page.getByRole('button', { name: 'Details' }).first();
      await details.waitFor();
      expect(await advice.isVisible()).toBe(false);
      await details.tap();
      await advice.waitFor();
      expect(await details.getAttribute('aria-expanded')).toBe('true');
      expect(await layoutFaults(page)).toEqual([]);
    });
  });

  test('a notice does not cover a tall dialog on a tablet', async () => {
    await fixture.withPage({ viewport: { width: 820, height: 700 } }, async (page) => {
      await page.goto('./clients');
      await page.getByRole('button', { name: 'I know these devices' }).click();
      const notice = await noticeOf(page, /./);
      // The notice stays while the pointer is on it.
      await notice.hover();
      await followPath(page, 'groups');
      await page.getByRole('button', { name: 'Set up a child' }).press('Enter');
      const dialog = page.getByRole('dialog', { name: 'Set up a child' });
      await dialog.getByRole('button', { name: 'Save' }).waitFor();
      await untilQuiet(page);
      const [above, below] = [(await dialog.boundingBox())!, (await notice.boundingBox())!];
      expect(above.height).toBeGreaterThan(400);
      expect(above.y + above.height).toBeLessThanOrEqual(below.y);
    });
  });

  test('a notice is shown above a bottom sheet, and does not cover its buttons', async () => {
    await fixture.withPage({ viewport: Viewport.phone }, async (page) => {
      const sheet = await openExplained(page, NAME);
      await sheet
        .getByRole('button', { name: /^Block/ })
        .first()
        .click();
      const notice = await noticeOf(page, /./);
      await untilQuiet(page);
      const [above, below] = [(await notice.boundingBox())!, (await sheet.boundingBox())!];
      expect(above.y + above.height).toBeLessThanOrEqual(below.y);
    });
  });

  test('large text does not break words in the navigation bar', async () => {
    await fixture.withPage({ viewport: Viewport.phone }, async (page) => {
      const devTools = await page.context().newCDPSession(page);
      await devTools.send('Page.setFontSizes', { fontSizes: { standard: LARGE_PX, fixed: LARGE_PX } });
      await page.goto('./groups?open=1');
      const bar = page.getByRole('navigation', { name: 'Pages' });
      await bar.getByText('Queries').waitFor();
      expect(await cutTexts(page, 'nav a span')).toEqual([]);
    });
  });
});
