/** Small screens: the navigation on a laptop, a row of the log and notices on a phone, and large text. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DashboardFixture } from '../support/browser/dashboard-fixture.ts';
import { logRowOf, noticeOf, openExplained } from '../support/browser/page-steps.ts';
import { untilQuiet, Viewport } from '../support/browser/watched-page.ts';
import type { Page } from '../support/browser/watched-page.ts';

const NAME = 'fits.example.org';
/** Font size of users with large text in the browser, twice the default. */
const LARGE_PX = 32;

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
  test('the navigation shows all pages without scrolling at a height of 720 px', async () => {
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

  test('a row of the log names the device', async () => {
    await fixture.withPage({ viewport: Viewport.phone }, async (page) => {
      await page.goto(`./queries?domain=${NAME}`);
      const name = logRowOf(page, NAME).first().locator('[data-filter=client]');
      await name.waitFor();
      expect((await name.boundingBox())!.width).toBeGreaterThan(90);
    });
  });

  test('a notice is displayed above a sheet, and does not cover its buttons', async () => {
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

  test('large text does not break the words of the bar', async () => {
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
