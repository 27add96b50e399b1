/** A node that has not answered any query: figures that do not exist are not shown as zero. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { expectAccessible } from '../support/browser/accessible.ts';
import { DashboardFixture } from '../support/browser/dashboard-fixture.ts';
import { layoutFaults } from '../support/browser/layout-faults.ts';
import { untilQuiet, Viewport } from '../support/browser/watched-page.ts';

let fixture: DashboardFixture;

beforeAll(async () => {
  fixture = await DashboardFixture.open({}, []);
});
afterAll(() => fixture.close());

test('the overview shows dashes for times and percentages if there are no queries', async () => {
  await fixture.withPage({ viewport: Viewport.phone }, async (page) => {
    await page.goto('./');
    const figure = (label: string) => page.locator('dl > div').filter({ has: page.getByText(label) });
    await figure('Queries').waitFor();
    await untilQuiet(page);
    const textOf = async (label: string): Promise<string[]> =>
      (await figure(label).innerText()).split('\n').filter((line) => line.trim() !== '');
    expect(await textOf('Blocked')).toEqual(['Blocked', '0']);
    expect(await textOf('Answer time (median)')).toEqual(['Answer time (median)', '–']);
    expect((await textOf('Answered from the cache')).slice(0, 2)).toEqual(['Answered from the cache', '–']);
    await page.getByText('Nothing in this period').first().waitFor();
    expect(await layoutFaults(page)).toEqual([]);
    await expectAccessible(page);
  });
});
