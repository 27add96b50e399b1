/**
 * Tasks of parents on a phone: services and times for a child in one form, and a pause of its devices. Counts each tap
 * from the first page on.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Locator } from 'playwright-core';
import type { Client } from '../../shared/api/policy/clients-api.ts';
import type { Grant } from '../../shared/api/policy/grants-api.ts';
import type { GroupPlan } from '../../shared/api/policy/schedules-api.ts';
import type { Revision } from '../../shared/api/revisions-api.ts';
import { expectAccessible } from '../support/browser/accessible.ts';
import { BLOCKED, DashboardFixture } from '../support/browser/dashboard-fixture.ts';
import { Finger, PHONE } from '../support/browser/finger.ts';
import { layoutFaults } from '../support/browser/layout-faults.ts';
import { choose, noticeOf } from '../support/browser/page-steps.ts';
import type { Page } from '../support/browser/watched-page.ts';
import { EVERY_ADDRESS } from '../support/dns/echoing-upstream.ts';

/** The phone of the child, and another phone in the family. */
const [CHILD, OTHER] = ['127.0.0.71', '127.0.0.72'];
const SCHOOL_NIGHTS = { days: 79, start_time: '20:00', end_time: '07:00', skips_days_off: true };

let fixture: DashboardFixture;

beforeAll(async () => {
  fixture = await DashboardFixture.open();
  await own(CHILD, 'Mia’s phone');
  await own(OTHER, 'Tablet');
});
afterAll(() => fixture.close());

async function own(address: string, name: string): Promise<Client> {
  return fixture.api.expect<Client>(201, 'POST', '/clients', { ip_address: address, name });
}

async function planOf(name: string): Promise<GroupPlan | undefined> {
  return (await fixture.api.expect<GroupPlan[]>(200, 'GET', '/group-plans')).find(
    (plan) => plan.name === name,
  );
}

const revisions = async (): Promise<number> =>
  (await fixture.api.expect<Revision[]>(200, 'GET', '/revisions')).length;

const chip = (within: Page | Locator, name: string): Locator =>
  within.getByRole('button', { name, exact: true });

describe('the form that sets up a child', () => {
  test('blocks YouTube on school nights after five taps from the first page, with one revision', async () => {
    const before = await revisions();
    await fixture.withPage(PHONE, async (page) => {
      await page.goto('./');
      await page.getByRole('heading', { name: 'Overview' }).waitFor();
      const finger = new Finger();
      await finger.tap('Groups', page.getByRole('navigation').getByRole('link', { name: 'Groups' }));
      await finger.tap('Set up a child', page.getByRole('button', { name: 'Set up a child' }));
      const form = page.getByRole('dialog', { name: 'Set up a child' });
      await finger.tap('the phone', form.getByText('Mia’s phone'));
      await finger.tap('YouTube', chip(form, 'YouTube'));
      expect(await form.getByLabel('Name', { exact: true }).inputValue()).toBe('Mia');
      expect(await chip(form, 'School nights').first().getAttribute('aria-pressed')).toBe('true');
      await expectAccessible(page);
      expect(await layoutFaults(page)).toEqual([]);
      await finger.tap('Save', form.getByRole('button', { name: 'Save' }));
      await noticeOf(page, 'Devices, services and times are saved.');
      expect(finger.taps).toEqual(['Groups', 'Set up a child', 'the phone', 'YouTube', 'Save']);
      await page.getByRole('link', { name: 'Mia', exact: true }).waitFor();
      await page.getByText('1 (1 by schedule)').waitFor();
      await page.getByText('Mia: services').waitFor();
    });
    expect(await revisions()).toBe(before + 1);
    expect(await planOf('Mia')).toMatchObject({
      client_ids: [expect.any(Number)],
      services: [{ service_id: 'youtube', always: false }],
      service_times: [SCHOOL_NIGHTS],
      offline_times: [],
    });
  });

  test('blocks services permanently, adds bedtime and holidays, and keeps the other times of the group', async () => {
    const before = await revisions();
    await fixture.withPage(PHONE, async (page) => {
      await page.goto('./groups');
      await page.getByRole('button', { name: 'Services and times of Mia' }).tap();
      const form = page.getByRole('dialog', { name: 'Services and times of Mia' });
      await chip(form, 'Roblox').tap();
      await form.getByText('Block some of them at all times').tap();
      await form.getByText('Roblox', { exact: true }).last().tap();
      const offline = form.getByRole('region', { name: 'Block everything' });
      await chip(offline, 'Bedtime').tap();
      await offline.getByRole('group', { name: 'Bedtime' }).getByLabel('From').fill('21:30');
      await form.getByRole('button', { name: 'Add holidays' }).tap();
      await form.getByLabel('First day').fill('2026-07-01');
      await form.getByLabel('Last day').fill('2026-08-14');
      await expectAccessible(page);
      expect(await layoutFaults(page)).toEqual([]);
      await form.getByRole('button', { name: 'Save' }).tap();
      await noticeOf(page, 'Devices, services and times are saved.');
    });
    expect(await revisions()).toBe(before + 1);
    expect(await planOf('Mia')).toMatchObject({
      services: expect.arrayContaining([
        { service_id: 'youtube', always: false },
        { service_id: 'roblox', always: true },
      ]),
      service_times: [SCHOOL_NIGHTS],
      offline_times: [{ days: 127, start_time: '21:30', end_time: '06:30', skips_days_off: false }],
      days_off: [{ from: '2026-07-01', to: '2026-08-14' }],
    });
    const [mine, others] = [
      await fixture.ask(['www.roblox.com'], CHILD),
      await fixture.ask(['www.roblox.com'], OTHER),
    ];
    // During bedtime, the schedule blocks the name before the rule of the service applies.
    expect([undefined, '0.0.0.0']).toContain(mine[0]);
    expect(others).toEqual([EVERY_ADDRESS]);
  });

  test('sets up another device for an existing group, with the holidays of the first child', async () => {
    await fixture.api.createGroup('Ben');
    await fixture.withPage(PHONE, async (page) => {
      await page.goto('./groups');
      await page.getByRole('button', { name: 'Set up a child' }).tap();
      const form = page.getByRole('dialog', { name: 'Set up a child' });
      await form.getByText('First day').waitFor();
      expect(await form.getByLabel('First day').inputValue()).toBe('2026-07-01');
      await choose(form, 'For', 'Ben');
      const ben = page.getByRole('dialog', { name: 'Services and times of Ben' });
      await ben.getByText('Tablet').tap();
      await ben.getByLabel('Another service').fill('wechat');
      await chip(ben, 'WeChat').tap();
      await ben.getByText('If you choose no time, they are always blocked.').waitFor();
      await ben.getByRole('button', { name: 'Save' }).tap();
      await noticeOf(page, 'Devices, services and times are saved.');
    });
    expect(await planOf('Ben')).toMatchObject({
      client_ids: [expect.any(Number)],
      services: [{ service_id: 'wechat' }],
      service_times: [],
    });
    expect(await fixture.ask(['www.wechat.com'], OTHER)).toEqual([undefined]);
  });
});

describe('the devices of a group', () => {
  test('are blocked with one tap, and unblocked with a second tap', async () => {
    const group = await fixture.api.createGroup('Lea');
    const { id } = await own('127.0.0.73', 'Lea’s laptop');
    await fixture.api.expect(200, 'PUT', `/clients/${String(id)}/group`, { group_id: group.id });
    const ask = () => fixture.ask(['pause.flow.example'], '127.0.0.73');
    expect(await ask()).toEqual([EVERY_ADDRESS]);
    await fixture.withPage(PHONE, async (page) => {
      await page.goto('./groups');
      await page.getByRole('button', { name: 'Pause internet for Lea' }).tap();
      await noticeOf(page, 'The internet is paused for this group until you resume it.');
      expect(await ask()).toEqual([BLOCKED]);
      expect(await fixture.ask(['pause.flow.example'])).toEqual([EVERY_ADDRESS]);
      expect(await fixture.api.expect<Grant[]>(200, 'GET', '/grants')).toMatchObject([
        { group_id: group.id, client_id: null, domain: null, action: 'block', until: null },
      ]);
      await page.getByText('paused', { exact: true }).waitFor();
      expect(await layoutFaults(page)).toEqual([]);
      await page.getByRole('button', { name: 'Resume internet for Lea' }).tap();
      await noticeOf(page, 'The internet is no longer paused for this group.');
      expect(await ask()).toEqual([EVERY_ADDRESS]);
      await page.getByRole('button', { name: 'Pause internet for Lea' }).waitFor();
    });
  });
});

describe('a service that is blocked for a group', () => {
  test('is unblocked by an administrator on one device for an hour', async () => {
    const { id: group } = await fixture.api.createGroup('Tom');
    const [mine, others] = ['127.0.0.74', '127.0.0.75'];
    const { id } = await own(mine, 'Tom’s laptop');
    for (const client of [id, (await own(others, 'Tom’s phone')).id])
      await fixture.api.expect(200, 'PUT', `/clients/${String(client)}/group`, { group_id: group });
    await fixture.api.expect(201, 'POST', '/services', { service_id: 'youtube', group_id: group });
    const asked = async (): Promise<unknown[]> => [
      ...(await fixture.ask(['www.youtube.com'], mine)),
      ...(await fixture.ask(['www.youtube.com'], others)),
    ];
    expect(await asked()).toEqual([undefined, undefined]);
    await fixture.withPage(PHONE, async (page) => {
      await page.goto(`./clients?open=${String(id)}`);
      await page.getByRole('button', { name: 'Unblock a service' }).tap();
      const form = page.getByRole('dialog', { name: 'Unblock a service for Tom’s laptop' });
      await choose(form, 'Service', 'YouTube');
      await choose(form, 'Duration', '1 hr');
      await expectAccessible(page);
      expect(await layoutFaults(page)).toEqual([]);
      await form.getByRole('button', { name: 'Start' }).tap();
      await page.getByText('Service YouTube').waitFor();
      expect(await asked()).toEqual([EVERY_ADDRESS, undefined]);
      expect(await fixture.api.expect<Grant[]>(200, 'GET', '/grants')).toMatchObject([
        { client_id: id, service_id: 'youtube', action: 'allow', until: expect.any(String) },
      ]);
      await page.getByRole('button', { name: 'End now' }).tap();
      await page.getByText('Service YouTube').waitFor({ state: 'detached' });
    });
    expect(await asked()).toEqual([undefined, undefined]);
  });
});
