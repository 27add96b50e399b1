/**
 * Forced colours, as in the contrast themes of Windows, on each page: shapes, states, charts and focus rings stay
 * distinguishable. Compares computed styles, not pictures.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DashboardPath } from '../../shared/dashboard-paths.ts';
import { DashboardFixture } from '../support/browser/dashboard-fixture.ts';
import { lostShapes, shownStates } from '../support/browser/forced-colours.ts';
import { followPath } from '../support/browser/page-steps.ts';
import { untilQuiet } from '../support/browser/watched-page.ts';
import type { Page } from '../support/browser/watched-page.ts';

/** Every page with the navigation, and parts with other controls. */
const VIEWS = [
  ...Object.values(DashboardPath).filter((path) => path !== 'login'),
  ...['settings?part=users', 'settings?part=tls', 'clients?tab=access', 'groups?open=1'],
];
const TABS = 30;

let fixture: DashboardFixture;

beforeAll(async () => {
  fixture = await DashboardFixture.open();
  const { api } = fixture;
  await api.expect(201, 'POST', '/services', { service_id: 'youtube', group_id: 1 });
  const profile = { name: 'Nights', timezone: 'UTC' };
  const { id } = await api.expect<{ id: number }>(201, 'POST', '/schedule-profiles', profile);
  const slot = { days: 127, start_time: '22:00', end_time: '06:00', action: 'block_all' };
  await api.expect(201, 'POST', `/schedule-profiles/${String(id)}/slots`, slot);
});
afterAll(() => fixture.close());

/** Passes a page with forced colours to `use`. Nothing is animated, so that computed styles are final. */
function withForcedColours(path: string, use: (page: Page) => Promise<void>): Promise<void> {
  return fixture.withPage({ isCalm: true }, async (page) => {
    await page.emulateMedia({ forcedColors: 'active' });
    await page.goto(`./${path}`);
    await untilQuiet(page);
    await use(page);
  });
}

/** The focused control if no element of the control and its label has a focus ring; otherwise empty. */
const FOCUS_WITHOUT_RING = `(() => {
  const control = document.activeElement;
  if (control === document.body) return '';
  const whole = control.closest('label') ?? control;
  const hasRing = (element) => {
    const { outlineStyle, outlineWidth, outlineColor, backgroundColor } = getComputedStyle(element);
    return outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2 && outlineColor !== backgroundColor;
  };
  const parts = [whole, whole.parentElement, ...whole.querySelectorAll('*')];
  return parts.some(hasRing) ? '' : control.outerHTML.slice(0, 120);
})()`;

describe('with forced colours (high contrast mode)', () => {
  test('each page shows the outlines and states of its controls', async () => {
    await withForcedColours('', async (page) => {
      for (const path of VIEWS) {
        await followPath(page, path);
        const shapes = await lostShapes(page);
        const { lost } = await shownStates(page);
        expect({ path, shapes, lost }).toEqual({ path, shapes: [], lost: [] });
      }
    });
  });

  test('selected switches, segments, chips and the current page differ from those not selected', async () => {
    const expected = [
      ['', 'nav a[aria-current]'],
      ['', '[role=radiogroup] [data-selected]'],
      ['queries', 'label[data-selected]:has([role=switch])'],
      ['settings', 'main a[aria-current]'],
    ] as const;
    await withForcedColours('', async (page) => {
      for (const [path, selector] of expected) {
        await followPath(page, path);
        expect({ selector, count: await page.locator(selector).count() }).not.toEqual({ selector, count: 0 });
        const { states, lost } = await shownStates(page);
        expect(lost).toEqual([]);
        expect(states).toBeGreaterThan(0);
      }
    });
  });

  test('an unchecked checkbox shows no tick', async () => {
    await withForcedColours('queries', async (page) => {
      await page.getByRole('button', { name: 'Clear', exact: true }).click();
      const box = page.getByRole('dialog').locator('label').filter({ hasText: 'Also delete devices' });
      const tick = box.locator('svg');
      await tick.waitFor({ state: 'attached' });
      expect(await tick.isVisible()).toBe(false);
      await box.click();
      await tick.waitFor();
    });
  });

  test('the focused option of a list, a menu and the search differs from the other options', async () => {
    await withForcedColours('clients', async (page) => {
      await page.getByRole('button', { name: / Group$/ }).press('Enter');
      await page.locator('[role=option][data-focused]').waitFor();
      expect(await shownStates(page)).toMatchObject({ lost: [] });
      await page.keyboard.press('Escape');

      await followPath(page, 'queries');
      await page.getByRole('button', { name: 'Export' }).press('Enter');
      await page.locator('[role=menuitem][data-focused]').waitFor();
      expect(await shownStates(page)).toMatchObject({ lost: [] });
      await page.keyboard.press('Escape');

      await page.keyboard.press('Control+k');
      const search = page.getByRole('dialog').getByRole('searchbox').or(page.getByRole('combobox'));
      await search.first().fill('log');
      await page.keyboard.press('ArrowDown');
      await page.getByRole('dialog').locator('[role=menuitem][data-focused]').waitFor();
      expect(await shownStates(page)).toMatchObject({ lost: [] });
    });
  });

  test('the parts of charts have different colours, as in the legend, and bars differ from the background', async () => {
    await withForcedColours('', async (page) => {
      await page.locator('figure canvas').first().waitFor();
      const read = `(() => {
        const frame = document.querySelector('figure .uplot').parentElement;
        const colourOf = (name) => {
          frame.style.color = 'var(--' + name + ')';
          const { color } = getComputedStyle(frame);
          frame.style.color = '';
          return color;
        };
        const swatches = [...document.querySelectorAll('figure ul li')].slice(0, 2);
        return {
          layers: ['allowed-ground', 'blocked', 'allowed', 'series-1', 'series-2', 'text-quiet'].map(colourOf),
          swatches: swatches.map((swatch) => getComputedStyle(swatch, '::before').backgroundColor),
          bars: [...document.querySelectorAll('main li rect')].map((bar) => [
            getComputedStyle(bar).fill, getComputedStyle(bar.parentElement).backgroundColor,
          ]),
        };
      })()`;
      const { layers, swatches, bars } = await page.evaluate<{
        readonly layers: readonly string[];
        readonly swatches: readonly string[];
        readonly bars: readonly (readonly [string, string])[];
      }>(read);
      expect(new Set(layers).size).toBe(layers.length);
      expect(swatches).toEqual(layers.slice(0, 2));
      expect(bars.length).toBeGreaterThan(0);
      expect(bars.filter(([bar, ground]) => bar === ground)).toEqual([]);
    });
  });

  test.each(['', 'queries', 'clients', 'settings'])('/%s shows the focus on each control', async (path) => {
    await withForcedColours(path, async (page) => {
      const unmarked = new Set<string>();
      for (let tab = 0; tab < TABS; tab += 1) {
        await page.keyboard.press('Tab');
        unmarked.add(await page.evaluate<string>(FOCUS_WITHOUT_RING));
      }
      expect([...unmarked].filter((control) => control !== '')).toEqual([]);
    });
  });
});
