// Speed of the dashboard on a phone: first paint, layout shifts up to the first paint, and response time to a touch.
import type { Browser, Page } from 'playwright-core';
import type { Demo } from '../../demo/running-demo.ts';
import type { Figure } from './figure.ts';
import { MeasuredPage } from './measured-page.ts';

const COLD_MS = 1000;
const WARM_MS = 500;
const INTERACTION_MS = 100;
const MAX_SHIFT = 0.02;

interface Interaction {
  readonly what: string;
  /** Path of the page, below the root. */
  readonly path: string;
  readonly touch: (page: Page) => Promise<void>;
}

const INTERACTIONS: readonly Interaction[] = [
  { what: 'overview: other period', path: '', touch: (page) => page.getByText('7 days').tap() },
  {
    what: 'overview: to the log',
    path: '',
    touch: (page) => page.locator('nav a[href$="/queries"]:visible').tap(),
  },
  {
    what: 'log: explain a row',
    path: 'queries?live=off',
    touch: (page) => page.locator('[data-index="2"]').tap(),
  },
  {
    what: 'log: open the filters',
    path: 'queries?live=off',
    touch: (page) => page.getByRole('button', { name: 'Filter', exact: true }).tap(),
  },
  {
    what: 'log: type a name',
    path: 'queries?live=off',
    touch: async (page) => {
      await page.getByRole('searchbox').first().tap();
      await page.keyboard.type('bank', { delay: 120 });
    },
  },
  {
    what: 'lists: open one',
    path: 'lists',
    touch: (page) => page.getByText('Ads and trackers').first().tap(),
  },
];

/** Loads each page cold and warm, and runs its touch actions, `rounds` times. */
export async function phoneFigures(browser: Browser, demo: Demo, rounds: number): Promise<Figure[]> {
  const figures: Figure[] = [];
  const paths = { overview: '', log: 'queries', login: 'login' };
  for (const [name, path] of Object.entries(paths)) {
    const [cold, warm, shift]: [number[], number[], number[]] = [[], [], []];
    for (let round = 0; round < rounds; round++)
      await MeasuredPage.with({ browser, demo, profile: 'phone' }, async (measured) => {
        if (name === 'login') await measured.page.context().clearCookies();
        await measured.page.goto(`./${path}`);
        await measured.settle();
        const first = await measured.seen();
        cold.push(first.lcpMs);
        shift.push(first.shift);
        await measured.page.goto(`./${path}`);
        await measured.settle();
        warm.push((await measured.seen()).lcpMs);
      });
    figures.push(
      { what: `${name}: LCP, cold`, unit: 'ms', values: cold, budget: COLD_MS },
      { what: `${name}: LCP, warm`, unit: 'ms', values: warm, budget: WARM_MS },
      { what: `${name}: CLS`, unit: '', values: shift, budget: MAX_SHIFT },
    );
  }
  for (const { what, path, touch } of INTERACTIONS) {
    const values: number[] = [];
    for (let round = 0; round < rounds; round++)
      await MeasuredPage.with({ browser, demo, profile: 'phone' }, async (measured) => {
        await measured.page.goto(`./${path}`);
        await measured.settle();
        await measured.clear();
        await touch(measured.page);
        await measured.settle();
        values.push((await measured.seen()).slowestEventMs);
      });
    figures.push({ what: `INP, ${what}`, unit: 'ms', values, budget: INTERACTION_MS });
  }
  return figures;
}
