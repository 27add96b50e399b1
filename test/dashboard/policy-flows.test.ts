/**
 * Lists, devices, groups, services and schedules in the dashboard: what each step shows, what the API returns
 * afterwards, and what DNS answers.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Client } from '../../shared/api/policy/clients-api.ts';
import type { Group } from '../../shared/api/policy/groups-api.ts';
import type { ScheduleProfile } from '../../shared/api/policy/schedules-api.ts';
import type { BlocklistSource } from '../../shared/api/policy/sources-api.ts';
import type { Revision } from '../../shared/api/revisions-api.ts';
import { expectAccessible } from '../support/browser/accessible.ts';
import { BLOCKED, DashboardFixture } from '../support/browser/dashboard-fixture.ts';
import { choose, holdNotice, noticeOf, takeAction } from '../support/browser/page-steps.ts';
import { EVERY_ADDRESS } from '../support/dns/echoing-upstream.ts';
import { until } from '../support/parts/until.ts';
import { startListServer } from '../support/weir/list-server.ts';
import type { ListServer } from '../support/weir/list-server.ts';

let fixture: DashboardFixture;
let lists: ListServer;

beforeAll(async () => {
  [fixture, lists] = await Promise.all([DashboardFixture.open(), startListServer()]);
});
afterAll(async () => {
  await lists.close();
  await fixture.close();
});

/** Sends queries from a device with this address until it is a known client. */
async function meet(address: string): Promise<Client> {
  await fixture.ask(['hello.example.org'], address);
  const found = async (): Promise<Client | undefined> => {
    const { data } = await fixture.api.expect<{ data: Client[] }>(200, 'GET', `/clients?search=${address}`);
    return data.find(({ ip_address: known }) => known === address);
  };
  return (await until(`a client at ${address}`, found, Boolean, { pauseMs: 100 }))!;
}

async function groupNamed(name: string): Promise<Group> {
  const groups = await fixture.api.expect<Group[]>(200, 'GET', '/groups');
  return groups.find((group) => group.name === name)!;
}

describe('a new list', () => {
  test('is added after a preview of the names that it would block, and an update with fewer rules waits for approval', async () => {
    const used = 'shop.listed.example';
    const names = ['a', 'b', 'c', 'd', 'e'].map((label) => `${label}.listed.example`);
    lists.serve('/ads.txt', [...names, used].join('\n'));
    await fixture.askLogged(used);
    const source = async (): Promise<BlocklistSource> => {
      const sources = await fixture.api.expect<BlocklistSource[]>(200, 'GET', '/blocklist-sources');
      return fixture.api.settledSource(sources.find(({ name }) => name === 'Flowing')!.id);
    };
    await fixture.withPage({}, async (page) => {
      await page.goto('./lists');
      await page.getByRole('button', { name: 'Add list' }).first().click();
      const form = page.getByRole('dialog', { name: 'Add blocklist' });
      await form.getByRole('textbox', { name: 'Address' }).fill(lists.url('/ads.txt'));
      await form.getByLabel('Name', { exact: true }).fill('Flowing');
      await form.getByRole('button', { name: 'Show what it would change' }).click();
      await form.getByText('Would block 1 name that 1 device asked for in 7 days (1 query).').waitFor();
      await form.getByRole('rowheader', { name: used }).waitFor();
      await expectAccessible(page);
      expect(await fixture.ask([used])).toEqual([EVERY_ADDRESS]);
      await form.getByRole('button', { name: 'Add and enable' }).click();
      await noticeOf(page, 'List added');
      expect(await source()).toMatchObject({ status: 'ok', rules: 6 });
      expect(await fixture.ask([used])).toEqual([BLOCKED]);
      await page.getByRole('row', { name: 'Flowing' }).getByText('active', { exact: true }).waitFor();

      lists.serve('/ads.txt', names.slice(0, 2).join('\n'));
      await takeAction(page, 'Actions for Flowing', 'Update now');
      await page.getByText('The update of Flowing is on hold.').waitFor();
      expect(await source()).toMatchObject({ status: 'held', rules: 6 });
      expect(await fixture.ask([used])).toEqual([BLOCKED]);
      await page.getByRole('button', { name: 'Show', exact: true }).click();
      const drawer = page.getByRole('dialog', { name: 'Flowing' });
      await drawer.getByText('The update has far fewer rules than the active version.').waitFor();
      await drawer.getByText('2 rules (−4)').waitFor();
      await drawer.getByRole('button', { name: 'What would it change?' }).click();
      await drawer.getByText(/^Would allow 1 name/).waitFor();
      await expectAccessible(page);
      await drawer.getByRole('button', { name: 'Apply', exact: true }).click();
      const question = page.getByRole('alertdialog', { name: 'Apply the update of Flowing?' });
      await question.getByRole('button', { name: 'Apply', exact: true }).click();
      await noticeOf(page, 'Update applied');
      expect(await fixture.ask([used, names[0]!])).toEqual([EVERY_ADDRESS, BLOCKED]);
      expect(await source()).toMatchObject({ status: 'ok', rules: 2 });
    });
  });
  test('that cannot be fetched shows a red notice with one plain line, without the path and address', async () => {
    const address = lists.url('/gone.txt');
    lists.serve('/page', '<!doctype html><title>Lists</title>');
    await fixture.withPage({ expected: [/ 400 |^400 /] }, async (page) => {
      await page.goto('./lists');
      await page.getByRole('button', { name: 'Add list' }).first().click();
      const form = page.getByRole('dialog', { name: 'Add blocklist' });
      const field = form.getByRole('textbox', { name: 'Address' });
      await field.fill('lists.example/ads.txt');
      await form.getByRole('button', { name: 'Add and enable' }).click();
      await form.getByText('The address must start with http:, https: or file:.').waitFor();
      await field.fill(lists.url('/page'));
      await form.getByRole('button', { name: 'Show what it would change' }).click();
      const fault = form.getByRole('alert');
      await fault.getByText('This is a web page, not a list. Use the address of the raw file.').waitFor();
      expect(await fault.innerText()).not.toMatch(/lists\.add|http:\/\//);
      await field.fill(address);
      await form.getByLabel('Name', { exact: true }).fill('Gone');
      await form.getByRole('button', { name: 'Add and enable' }).click();
      await noticeOf(page, 'Gone does not work yet. There is no list at this address (HTTP 404).');
      expect(await page.getByText('List added').count()).toBe(0);
      await page.getByRole('link', { name: 'Show', exact: true }).click();
      const drawer = page.getByRole('dialog', { name: 'Gone' });
      await drawer.getByText('There is no list at this address (HTTP 404).').waitFor();
    });
  });
});

describe('pasted custom rules', () => {
  test('are accepted in any syntax, invalid lines are marked, and a failed save loses nothing', async () => {
    const rules = [
      '! what we block',
      '||ads.pasted.example^',
      '0.0.0.0 hosts.pasted.example',
      'address=/dnsmasq.pasted.example/',
      '^',
      '||other.pasted.example^$client=127.0.0.61',
      '||nas.pasted.example^$dnsrewrite=192.0.2.61',
    ];
    const answers = () =>
      fixture.ask(['ads', 'hosts', 'dnsmasq', 'other', 'nas'].map((label) => `${label}.pasted.example`));
    await fixture.withPage({ expected: [/ERR_FAILED/] }, async (page) => {
      await page.goto('./lists');
      await page.getByRole('button', { name: 'Add custom rules' }).click();
      const form = page.getByRole('dialog', { name: 'Add custom rules' });
      await form.getByLabel('Name', { exact: true }).fill('Pasted');
      await form.getByRole('button', { name: 'Edit rules' }).click();
      const box = page.getByRole('dialog', { name: 'Pasted' });
      const field = box.getByRole('textbox', { name: 'Rules' });
      await field.fill(rules.join('\n'));
      await box.getByText('5 rules, 1 invalid line').waitFor();
      await box.getByRole('listitem').filter({ hasText: 'Line 5' }).waitFor();
      await expectAccessible(page);
      expect(await answers()).toEqual(Array(5).fill(EVERY_ADDRESS));

      await page.route('**/text', (route) => route.abort('failed'), { times: 1 });
      await box.getByRole('button', { name: 'Save' }).click();
      await box.getByRole('alert').waitFor();
      expect(await field.inputValue()).toBe(rules.join('\n'));
      await box.getByRole('button', { name: 'Save' }).click();
      await noticeOf(page, 'Rules saved');
      expect(await answers()).toEqual([BLOCKED, BLOCKED, BLOCKED, EVERY_ADDRESS, '192.0.2.61']);
      expect(await fixture.ask(['other.pasted.example'], '127.0.0.61')).toEqual([BLOCKED]);
    });
  });
});

describe('a new device', () => {
  test("is acknowledged, is merged with another device and gets that device's rules, and is split off again", async () => {
    const name = 'merged.flow.example';
    const [main, other] = [await meet('127.0.0.53'), await meet('127.0.0.54')];
    expect(other).toMatchObject({ name: null, hostname: null, is_new: true });
    const { id } = await fixture.api.createGroup('Laptops');
    await fixture.api.expect(200, 'PUT', `/clients/${String(main.id)}/group`, { group_id: id });
    await fixture.api.expect(201, 'POST', '/managed-domains', { domain: name, action: 'deny', group_id: id });
    const answers = (): Promise<unknown> =>
      Promise.all(['127.0.0.53', '127.0.0.54'].map((address) => fixture.ask([name], address)));
    expect(await answers()).toEqual([[BLOCKED], [EVERY_ADDRESS]]);
    await fixture.withPage({}, async (page) => {
      await page.goto(`./clients?seen=new&search=127.0.0.54&open=${String(other.id)}`);
      const drawer = page.getByRole('dialog', { name: '127.0.0.54' });
      await drawer.getByText('New', { exact: true }).waitFor();
      await drawer.getByRole('button', { name: 'I know this device' }).click();
      await noticeOf(page, 'No longer shown as new');
      await drawer.getByRole('button', { name: 'Close' }).click();
      await page.getByText('No device matches').waitFor();

      await page.goto(`./clients?open=${String(main.id)}`);
      await page.getByRole('dialog', { name: '127.0.0.53' }).getByRole('button', { name: 'Merge' }).click();
      const merging = page.getByRole('dialog', { name: 'Merge a device into 127.0.0.53' });
      await merging.getByRole('searchbox').fill('127.0.0.54');
      await merging.getByRole('button', { name: 'Choose 127.0.0.54' }).click();
      await merging.getByText('127.0.0.53 keeps its name and stays in the group Laptops.').waitFor();
      await expectAccessible(page);
      await merging.getByRole('button', { name: 'Merge' }).click();
      await noticeOf(page, 'Devices merged');
      expect(await answers()).toEqual([[BLOCKED], [BLOCKED]]);

      await page.getByRole('button', { name: 'Split off 127.0.0.54' }).click();
      await noticeOf(page, 'Device split off');
      expect(await answers()).toEqual([[BLOCKED], [BLOCKED]]);
      const split = await fixture.api.expect<Client>(200, 'GET', `/clients/${String(other.id)}`);
      expect(split).toMatchObject({ merged_into: null, group_id: id, is_new: false });
    });
  });
});

describe('a new group', () => {
  test('is created, gets a client and a rule, and only that client is blocked', async () => {
    const name = 'games.flow.example';
    const client = await meet('127.0.0.51');
    await fixture.withPage({}, async (page) => {
      await page.goto('./groups');
      await page.getByRole('button', { name: 'Add group' }).click();
      const form = page.getByRole('dialog', { name: 'Add group' });
      await form.getByLabel('Name').fill('Kids');
      await form.getByRole('switch', { name: 'No IPv6 answers' }).press('Space');
      await form.getByRole('button', { name: 'Add group' }).click();
      await page.getByRole('heading', { name: 'Kids', level: 1 }).waitFor();
      const { id, no_ipv6: isWithoutIpv6 } = await groupNamed('Kids');
      expect(isWithoutIpv6).toBe(true);

      await page.getByRole('button', { name: 'Add device' }).click();
      const moving = page.getByRole('dialog', { name: 'Move devices to Kids' });
      await moving.getByRole('searchbox').fill('127.0.0.51');
      await moving.getByRole('button', { name: 'Add 127.0.0.51' }).click();
      await noticeOf(page, 'Device moved');
      await moving.getByText('No matching device in another group.').waitFor();
      await expectAccessible(page);
      await moving.getByRole('button', { name: 'Close' }).click();
      await page.getByRole('link', { name: '127.0.0.51' }).waitFor();
      const moved = await fixture.api.expect<Client>(200, 'GET', `/clients/${String(client.id)}`);
      expect(moved).toMatchObject({ group_id: id });

      await page.getByLabel('Domain', { exact: true }).fill(name);
      await page.getByRole('button', { name: 'Add', exact: true }).click();
      await noticeOf(page, 'Rule added');
      expect(await fixture.ask([name], '127.0.0.51')).toEqual([BLOCKED]);
      expect(await fixture.ask([name])).toEqual([EVERY_ADDRESS]);
      await page.getByRole('button', { name: `Delete the rule *.${name}` }).waitFor();
      await expectAccessible(page);
    });
  });

  test('is deleted with its client and rule in one change, which is undone as a whole', async () => {
    const client = await meet('127.0.0.52');
    const { id } = await fixture.api.createGroup('Gamers');
    await fixture.api.expect(200, 'PUT', `/clients/${String(client.id)}/group`, { group_id: id });
    const rule = { domain: 'arcade.flow.example', action: 'deny', group_id: id };
    await fixture.api.expect(201, 'POST', '/managed-domains', rule);
    const asked = (): Promise<unknown> => fixture.ask([rule.domain], '127.0.0.52');
    expect(await asked()).toEqual([BLOCKED]);
    const revisions = (): Promise<Revision[]> => fixture.api.expect<Revision[]>(200, 'GET', '/revisions');
    const before = await revisions();
    await fixture.withPage({}, async (page) => {
      await page.goto(`./groups?open=${String(id)}`);
      await page.getByRole('button', { name: 'Delete', exact: true }).click();
      const dialog = page.getByRole('alertdialog', { name: 'Delete Gamers?' });
      await dialog.getByText('Its device moves to the group of its network, or to Default.').waitFor();
      await expectAccessible(page);
      await dialog.getByRole('button', { name: 'Delete' }).click();
      const undo = await holdNotice(await noticeOf(page, 'Group deleted'), 'Undo');
      expect((await revisions()).slice(0, -before.length).map(({ summary }) => summary)).toEqual([
        'group Gamers: deleted',
      ]);
      expect(await asked()).toEqual([EVERY_ADDRESS]);
      await undo.click();
      await noticeOf(page, 'Undone');
      expect(await asked()).toEqual([BLOCKED]);
    });
  });
});

describe('a service', () => {
  test('is found by its tag, and shown with its icon', async () => {
    await fixture.withPage({}, async (page) => {
      await page.goto('./services');
      await choose(page, 'Category', 'Messaging');
      const link = page.getByRole('link', { name: 'Signal' });
      await link.waitFor();
      await page.getByText('Popular · Messaging').first().waitFor();
      expect(await page.getByRole('link', { name: 'YouTube' }).count()).toBe(0);
      const drawn = `[...document.images].filter(({ src, naturalWidth }) => src.startsWith('data:') && naturalWidth > 0)`;
      await until('an icon', () => page.evaluate(`${drawn}.length`), Boolean, { pauseMs: 100 });
      await expectAccessible(page);
    });
  });
});

describe('the list of services', () => {
  test('starts with popular services; a service gets preset times, and the schedule shows that it blocks services', async () => {
    const { id } = await fixture.api.createGroup('Streamers');
    await fixture.api.expect(201, 'POST', '/services', { service_id: 'youtube', group_id: id });
    await fixture.api.expect(201, 'POST', '/schedule-profiles', { name: 'Other', timezone: 'UTC' });
    await fixture.withPage({}, async (page) => {
      await page.goto('./services');
      const first = page.getByRole('row').nth(1);
      await first.getByRole('link', { name: 'YouTube' }).waitFor();

      await page.goto(`./groups?open=${String(id)}`);
      await choose(page, 'When YouTube is blocked', 'Bedtime');
      await noticeOf(page, 'Times saved');
      const profiles = await fixture.api.expect<ScheduleProfile[]>(200, 'GET', '/schedule-profiles');
      const bedtime = profiles.find(({ name }) => name === 'Bedtime')!;
      expect(await fixture.api.expect(200, 'GET', `/services?group_id=${String(id)}`)).toMatchObject([
        { service_id: 'youtube', profile_id: bedtime.id },
      ]);
      await page.goto(`./schedules?open=${String(bedtime.id)}`);
      await page.getByText('blocks its services', { exact: true }).waitFor();
      expect(await page.getByText('blocks everything', { exact: true }).count()).toBe(0);
      await expectAccessible(page);
    });
  });
});

describe('a schedule', () => {
  test('whose slot spans midnight blocks its group during that slot', async () => {
    const name = 'late.flow.example';
    const client = await meet('127.0.0.52');
    const { id } = await fixture.api.createGroup('Night owls');
    await fixture.api.expect(200, 'PUT', `/clients/${String(client.id)}/group`, { group_id: id });
    // The period spans midnight and contains the current hour.
    const [start, end] = new Date().getUTCHours() < 12 ? ['20:00', '19:00'] : ['05:00', '04:00'];
    await fixture.withPage({}, async (page) => {
      await page.goto('./schedules');
      await page.getByRole('button', { name: 'Add schedule' }).click();
      const form = page.getByRole('dialog', { name: 'Add schedule' });
      await form.getByLabel('Name').fill('Most of the time');
      await form.getByText('Start with nights').click();
      await form.getByRole('button', { name: 'Add schedule' }).click();
      await page.getByText('No times yet').waitFor();

      await page.getByRole('button', { name: 'Add time' }).click();
      const slot = page.getByRole('dialog', { name: 'Add time' });
      await slot.getByRole('button', { name: 'Every day' }).click();
      await slot.getByLabel('From', { exact: true }).fill(start);
      await slot.getByLabel('To', { exact: true }).fill(end);
      await slot.getByText('Ends the next day.').waitFor();
      await expectAccessible(page);
      await slot.getByRole('button', { name: 'Save' }).click();
      await noticeOf(page, 'Time added');
      await page
        .getByRole('listitem')
        .filter({ hasText: `${start}–${end} (over midnight)` })
        .waitFor();
      expect(await fixture.ask([name], '127.0.0.52')).toEqual([EVERY_ADDRESS]);

      await page.getByText('Night owls').click();
      await noticeOf(page, 'The group now uses this schedule.');
      await page.getByText('Everything is blocked').waitFor();
      expect(await fixture.ask([name], '127.0.0.52')).toEqual([BLOCKED]);
      expect(await fixture.ask([name])).toEqual([EVERY_ADDRESS]);
      await fixture.api.untilQueryCount(1, `domain=${name}&status=BLOCKED_SCHEDULE`);
      await expectAccessible(page);
    });
  });
});

describe('the draft of a policy change', () => {
  test('shows its effects before it is applied, and then has these effects', async () => {
    const name = 'draft.flow.example';
    await fixture.askLogged(name);
    await fixture.withPage({}, async (page) => {
      await page.goto('./simulate');
      await choose(page, 'Change', 'Add a domain rule');
      await page.getByLabel('Name', { exact: true }).fill(name);
      await page.getByRole('button', { name: 'Add to draft' }).click();
      await page.getByText(`Block ${name} for All groups`).waitFor();
      await page.getByRole('button', { name: 'Try', exact: true }).click();
      await page.getByText('Would block 1 name that 1 device asked for in 7 days (1 query).').waitFor();
      await page.getByRole('radio', { name: 'By device' }).click();
      await page.getByRole('rowheader', { name: '127.0.0.1' }).waitFor();
      await expectAccessible(page);
      expect(await fixture.ask([name])).toEqual([EVERY_ADDRESS]);
      await page.getByRole('button', { name: 'Apply', exact: true }).click();
      await noticeOf(page, 'Changes applied');
      await page.getByText('The draft is empty').waitFor();
      expect(await fixture.ask([name])).toEqual([BLOCKED]);
    });
  });
});
