/**
 * Two users edit the same object: the user who saves second sees the differences, and decides which version is saved.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Locator } from 'playwright-core';
import { DashboardFixture } from '../support/browser/dashboard-fixture.ts';
import { noticeOf, takeAction } from '../support/browser/page-steps.ts';
import { untilQuiet } from '../support/browser/watched-page.ts';
import type { Page } from '../support/browser/watched-page.ts';

const CHANGED = 'Someone else has changed this since you opened it.';
/** Console messages of the browser about the second save. */
const REFUSED = [/ 412 |^412 /];

let fixture: DashboardFixture;

beforeAll(async () => {
  fixture = await DashboardFixture.open();
});
afterAll(() => fixture.close());

/** Presses the button that opens a form, and returns the form. */
async function openForm(page: Page, form: string | RegExp, within: Page | Locator = page): Promise<Locator> {
  await within.getByRole('button', { name: 'Edit', exact: true }).click();
  return page.getByRole('dialog', { name: form, exact: true });
}

interface Edited {
  /** Creates the object, and returns its path in the API. */
  readonly make: () => Promise<string>;
  /** Opens the object's form on the page; `path` is the object's path in the API. */
  readonly open: (page: Page, path: string) => Promise<Page | Locator>;
  readonly label: string;
  /** The field of the API that the label edits. */
  readonly field: string;
  readonly values: readonly [mine: string, theirs: string, again: string];
  readonly method?: 'PUT' | 'PATCH';
}

const made = async (path: string, body: object, key = 'id'): Promise<string> =>
  `${path}/${(await fixture.api.expect<Record<string, string>>(201, 'POST', path, body))[key]}`;

const EDITED: Readonly<Record<string, Edited>> = {
  'a local record': {
    make: () => made('/local-records', { fqdn: 'tabs.home.arpa', value: '192.0.2.9' }),
    open: async (page) => {
      await page.goto('./names?search=tabs');
      await takeAction(page, 'Actions for tabs.home.arpa', 'Edit');
      return page.getByRole('dialog', { name: 'Edit record' });
    },
    label: 'Comment',
    field: 'comment',
    values: ['mine', 'theirs', 'theirs again'],
  },
  'a forward zone': {
    make: () => made('/forward-zones', { zone: 'tabs.example', servers: ['192.0.2.1:53'] }),
    open: async (page) => {
      await page.goto('./names?tab=zones');
      await takeAction(page, 'Actions for tabs.example', 'Edit');
      return page.getByRole('dialog', { name: 'Edit forward zone' });
    },
    label: 'Comment',
    field: 'comment',
    values: ['mine', 'theirs', 'theirs again'],
  },
  'a schedule': {
    make: () => made('/schedule-profiles', { name: 'Tabs', timezone: 'UTC' }),
    open: async (page, path) => {
      await page.goto(`./schedules?open=${path.split('/').pop()}`);
      return openForm(page, 'Edit Tabs');
    },
    label: 'Comment',
    field: 'comment',
    values: ['mine', 'theirs', 'theirs again'],
  },
  'a custom service': {
    make: () =>
      made(
        '/custom-services',
        { name: 'Tabs', category: 'social_media', domains: ['tabs.example'] },
        'service_id',
      ),
    open: async (page, path) => {
      await page.goto(`./services?open=${path.split('/').pop()}`);
      // The title of the form changes when another user changes the name.
      return openForm(page, /^Edit /, page.getByRole('dialog', { name: 'Tabs', exact: true }));
    },
    label: 'Service',
    field: 'name',
    values: ['Mine', 'Theirs', 'Theirs again'],
    method: 'PATCH',
  },
  'the local domain': {
    make: async () => '/settings',
    open: async (page) => {
      await page.goto('./names?tab=settings');
      return page.getByRole('main');
    },
    label: 'Local domain',
    field: 'local_domain',
    values: ['mine.home.arpa', 'theirs.home.arpa', 'again.home.arpa'],
  },
};

describe('a form that is saved after another user has saved the same object', () => {
  test.each(Object.entries(EDITED))(
    'shows the differences of %s, and saves the selected version',
    async (_what, edited) => {
      const { make, open, label, field, values, method = 'PUT' } = edited;
      const [mine, theirs, again] = values;
      const path = await make();
      const save = async (value: string): Promise<void> => {
        await fixture.api.expect(200, method, path, { [field]: value });
      };
      await fixture.withPage({ expected: REFUSED }, async (page) => {
        const form = await open(page, path);
        const text = form.getByRole('textbox', { name: label });
        await text.fill(mine);
        await untilQuiet(page);
        await save(theirs);
        await form.getByRole('button', { name: 'Save', exact: true }).click();
        await form.getByText(CHANGED).waitFor();
        const differing = form.getByRole('row').filter({ hasText: theirs });
        expect(await differing.last().innerText()).toMatch(new RegExp(`${label}\\s+${mine}\\s+${theirs}`));
        await form.getByRole('button', { name: 'Use the current version' }).click();
        expect(await text.inputValue()).toBe(theirs);
        await text.fill(mine);
        await untilQuiet(page);
        await save(again);
        await form.getByRole('button', { name: 'Save', exact: true }).click();
        await form.getByRole('button', { name: 'Save my version anyway' }).click();
        await noticeOf(page, /saved/i);
        expect(await fixture.api.expect(200, 'GET', path)).toMatchObject({ [field]: mine });
      });
    },
  );

  test('shows the value of a setting that differs, and saves the selected value', async () => {
    const save = async (hours: number): Promise<void> => {
      await fixture.api.expect(200, 'PATCH', '/config', { blocking: { list_refresh_hours: hours } });
    };
    await fixture.withPage({ expected: REFUSED }, async (page) => {
      await page.goto('./settings?part=blocking');
      const text = page.getByRole('textbox', { name: 'blocking.list_refresh_hours' });
      await text.fill('7');
      await save(8);
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await page.getByText(CHANGED).waitFor();
      await page.getByRole('row').filter({ hasText: 'blocking.list_refresh_hours' }).getByText('8').waitFor();
      await page.getByRole('button', { name: 'Save my version anyway' }).click();
      await noticeOf(page, 'Setting saved');
      expect(await fixture.api.expect(200, 'GET', '/config')).toMatchObject({
        blocking: { list_refresh_hours: 7 },
      });
    });
  });

  test('keeps the upstream pool that another user has added', async () => {
    type Pools = { readonly name: string }[];
    const pools = async (): Promise<Pools> =>
      (await fixture.api.expect<{ dns: { pools: Pools } }>(200, 'GET', '/config')).dns.pools;
    const [first] = await pools();
    await fixture.withPage({ expected: REFUSED }, async (page) => {
      await page.goto('./resolving');
      await page.getByRole('button', { name: 'Edit', exact: true }).first().click();
      const form = page.getByRole('dialog', { name: 'Edit pool' });
      await form.getByLabel('Name', { exact: true }).fill('mine');
      const added = { name: 'theirs', priority: 9, servers: ['127.0.0.1:9'] };
      await fixture.api.expect(200, 'PATCH', '/config?force=true', { dns: { pools: [first, added] } });
      await form.getByRole('button', { name: 'Save', exact: true }).click();
      await form.getByText(CHANGED).waitFor();
      await form.getByRole('button', { name: 'Save my version anyway' }).click();
      await noticeOf(page, 'Pool saved');
      expect((await pools()).map(({ name }) => name)).toEqual(['mine', 'theirs']);
    });
  });

  test('deletes an upstream pool only after it has shown the pools that another user added', async () => {
    type Pools = { readonly name: string }[];
    const pools = async (): Promise<Pools> =>
      (await fixture.api.expect<{ dns: { pools: Pools } }>(200, 'GET', '/config')).dns.pools;
    const names = async (): Promise<string[]> => (await pools()).map(({ name }) => name);
    const store = (wanted: object[]): Promise<unknown> =>
      fixture.api.expect(200, 'PATCH', '/config?force=true', { dns: { pools: wanted } });
    const [first] = await pools();
    const unused = { name: 'unused', priority: 8, servers: ['127.0.0.1:8'] };
    const added = { name: 'added', priority: 9, servers: ['127.0.0.1:9'] };
    await store([first!, unused]);
    await fixture.withPage({}, async (page) => {
      await page.goto('./resolving');
      const card = page.locator('section').filter({ has: page.getByRole('heading', { name: /unused/ }) });
      await card.getByRole('button', { name: 'Edit', exact: true }).click();
      const form = page.getByRole('dialog', { name: 'Edit pool' });
      await store([first!, unused, added]);
      await form.getByRole('button', { name: 'Delete', exact: true }).click();
      await form.getByText(CHANGED).waitFor();
      await form.getByRole('row').filter({ hasText: 'added (127.0.0.1:9)' }).waitFor();
      expect(await names()).toEqual([first!.name, 'unused', 'added']);
      await form.getByRole('button', { name: 'Save my version anyway' }).click();
      await noticeOf(page, 'Pool deleted');
      expect(await names()).toEqual([first!.name, 'added']);
    });
  });

  test('asks for confirmation before it adds a schedule slot in place of a slot that was deleted', async () => {
    const slot = { days: 31, start_time: '21:00', end_time: '22:00', action: 'block_all' };
    const path = await made('/schedule-profiles', { name: 'Times', timezone: 'UTC', slots: [slot] });
    const slots = async (): Promise<{ id: number; start_time: string }[]> =>
      (await fixture.api.expect<{ slots: { id: number; start_time: string }[] }>(200, 'GET', path)).slots;
    await fixture.withPage({ expected: [/ 404 |^404 /] }, async (page) => {
      await page.goto(`./schedules?open=${path.split('/').pop()}`);
      await page.getByRole('button', { name: /^Edit .*21:00/ }).click();
      const form = page.getByRole('dialog', { name: 'Edit time' });
      await form.getByLabel('From').fill('20:00');
      const [first] = await slots();
      await fixture.api.expect(204, 'DELETE', `${path}/slots/${first!.id}`);
      await form.getByRole('button', { name: 'Save', exact: true }).click();
      await form.getByText(CHANGED).waitFor();
      expect(await slots()).toEqual([]);
      await form.getByRole('button', { name: 'Save my version anyway' }).click();
      await noticeOf(page, 'Time saved');
      expect(await slots()).toMatchObject([{ start_time: '20:00' }]);
    });
  });
});

describe('a switch that another user has already changed', () => {
  test('reports this, and shows the current state', async () => {
    const block = { service_id: 'tiktok', group_id: 1 };
    await fixture.api.expect(201, 'POST', '/services', block);
    await fixture.withPage({ expected: [/ 404 |^404 /] }, async (page) => {
      await page.goto('./services?open=tiktok');
      const isBlocked = page.getByRole('dialog').getByRole('switch', { name: 'Default' });
      await isBlocked.waitFor();
      await untilQuiet(page);
      // Deletes the row just before the page's request, so that the page is not notified of the deletion first.
      await page.route('**/api/services/tiktok/groups/1', async (route) => {
        await fixture.api.expect(204, 'DELETE', '/services/tiktok/groups/1');
        await route.continue();
      });
      await isBlocked.press('Space');
      await noticeOf(page, 'Someone else has already done this.');
      await page.getByRole('dialog').getByRole('switch', { name: 'Default', checked: false }).waitFor();
    });
  });
});
