/**
 * Access to the dashboard: the first setup, the login and its lockout, a session that ends while a form is open, and a
 * read-only user.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Grant } from '../../shared/api/policy/grants-api.ts';
import type { Revision } from '../../shared/api/revisions-api.ts';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expectAccessible } from '../support/browser/accessible.ts';
import { BLOCKED, BLOCKED_NAME, DashboardFixture, PASSWORD } from '../support/browser/dashboard-fixture.ts';
import { choose, followPath, logInThere, noticeOf, openExplained } from '../support/browser/page-steps.ts';
import { EVERY_ADDRESS } from '../support/dns/echoing-upstream.ts';
import { askOver4, lookUpProbes } from '../support/browser/probed-device.ts';
import type { Page } from '../support/browser/watched-page.ts';
import { layCluster, WITHOUT_PASSWORD } from '../support/parts/made-cluster.ts';
import { until } from '../support/parts/until.ts';
import { makeTempDir } from '../support/weir/data-dir.ts';
import { httpCall } from '../support/weir/http-call.ts';
import { Weir } from '../support/weir/weir-process.ts';

/** Lockout time of a login after the first wrong password: longer than two axe runs over the page. */
const LOCKED_SECS = 20;

let fixture: DashboardFixture;

beforeAll(async () => {
  const toml = `[auth]\nlogin_rate_limit_attempts = 1\nlogin_rate_limit_window_secs = ${LOCKED_SECS}\n`;
  fixture = await DashboardFixture.open({ toml });
});
afterAll(() => fixture.close());

describe('the first setup', () => {
  test('leads from the password to the page that checks whether a device uses Weir', async () => {
    const temp = makeTempDir();
    await layCluster(temp.dataDir, WITHOUT_PASSWORD);
    await using weir = await Weir.start({ tempDir: temp });
    const origin = `http://127.0.0.1:${weir.webPort}`;
    // The browser cannot resolve the probe name, so the test resolves it in place of the device.
    const expected = [/ERR_NAME_NOT_RESOLVED/];
    await fixture.withPage({ origin, session: '', expected }, async (page) => {
      await page.goto('./');
      await page.getByRole('heading', { name: 'Welcome to Weir' }).waitFor();
      await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
      await page.getByLabel('Repeat password').fill(`${PASSWORD}!`);
      await page.getByText('The passwords do not match.').waitFor();
      await expectAccessible(page);
      await page.getByLabel('Repeat password').fill(PASSWORD);
      await page.getByRole('button', { name: 'Set password' }).click();
      await page.getByRole('heading', { name: 'Four steps' }).waitFor();
      await page.getByText('No device has used Weir yet.').waitFor();
      // The Weir server of this suite does not listen on port 53.
      await page.getByText('Do not change your router yet').waitFor();
      expect(await page.getByRole('main').innerText()).not.toMatch(/127\.0\.0\.1/);
      await expectAccessible(page);

      lookUpProbes(page, (name) => askOver4(weir.dnsPort, name));
      const opened = page.context().waitForEvent('page');
      await page.getByRole('link', { name: 'Check this device' }).click();
      const check = await opened;
      await check.getByRole('heading', { name: 'This computer uses Weir' }).waitFor();
      await expectAccessible(check);
      // Queries of the check do not count; the device's own queries do.
      await askOver4(weir.dnsPort, 'localhost');
      await page.getByText('One device has used Weir so far.').waitFor();
    });
    const answer = await httpCall('GET', `${origin}/api/auth/status`);
    expect(JSON.parse(answer.text)).toMatchObject({ setup_required: false, password_configured: true });
    temp.remove();
  });
});

test('the setup from another machine asks for the setup code at once, and names the file with the code', async () => {
  const temp = makeTempDir();
  await layCluster(temp.dataDir, WITHOUT_PASSWORD);
  await using weir = await Weir.start({ tempDir: temp });
  const origin = `http://127.0.0.1:${weir.webPort}`;
  await fixture.withPage({ origin, session: '', locale: 'de-DE' }, async (page) => {
    // The address of the device, as a proxy in the network would send it.
    await page.context().setExtraHTTPHeaders({ 'x-forwarded-for': '192.0.2.9' });
    await page.goto('./');
    await page.getByLabel('Einrichtungscode').waitFor();
    const file = join(temp.dataDir, 'setup-code');
    await page.getByText(file).waitFor();
    await expectAccessible(page);
    await page.getByLabel('Passwort', { exact: true }).fill(PASSWORD);
    await page.getByLabel('Passwort wiederholen').fill(PASSWORD);
    await page.getByLabel('Einrichtungscode').fill(readFileSync(file, 'utf8').trim());
    await page.getByRole('button', { name: 'Passwort setzen' }).click();
    await page.getByRole('heading', { name: 'Vier Schritte' }).waitFor();
  });
  temp.remove();
});

describe('the login', () => {
  test('explains a failed login, counts down during a lockout, and then succeeds', async () => {
    const expected = [/^(401|429) POST \/api\/auth\/login$/, /status of (401|429)/];
    await fixture.withPage({ session: '', expected }, async (page) => {
      await page.goto(`./queries?domain=${BLOCKED_NAME}`);
      await page.getByRole('heading', { name: 'Log in' }).waitFor();
      await logInThere(page, { username: 'admin', password: 'a wrong one' });
      await page.getByText('Wrong user name or password.').waitFor();
      await expectAccessible(page);
      await logInThere(page);
      const locked = page.getByText('Too many attempts.');
      /** Remaining seconds; 0 once the lockout has ended. */
      const secsLeft = async (): Promise<number> => {
        const [text] = await locked.allInnerTexts();
        return Number(/\d+/.exec(text ?? '0')![0]);
      };
      await locked.waitFor();
      const first = await secsLeft();
      expect(first).toBeLessThanOrEqual(LOCKED_SECS);
      const button = page.getByRole('button', { name: 'Log in' });
      expect(await button.isDisabled()).toBe(true);
      await expectAccessible(page);
      await until('the countdown to continue', secsLeft, (secs) => secs < first);
      await locked.waitFor({ state: 'detached' });
      await button.click();
      // After the login, the page of the original URL is shown.
      await page.getByRole('row', { name: BLOCKED_NAME }).waitFor();
    });
  });

  test('opens over the page when a session ends, keeps typed text, and repeats the failed request', async () => {
    const name = 'typed.flow.example';
    const expected = [/^401 /, /status of 401/];
    const session = await fixture.logIn();
    await fixture.withPage({ session, expected }, async (page) => {
      await page.goto('./rules');
      await page.getByRole('button', { name: 'Add rule' }).click();
      const form = page.getByRole('dialog', { name: 'Add rule' });
      await form.getByLabel('Name', { exact: true }).fill(name);
      await form.getByLabel('Comment').fill('typed before the end');
      const logout = `${fixture.origin}/api/auth/logout`;
      expect(await httpCall('POST', logout, {}, `svc_session=${session}`)).toMatchObject({ status: 204 });

      await form.getByRole('button', { name: 'Save' }).click();
      const login = page.getByRole('dialog', { name: 'Your session has ended.' });
      await login.waitFor();
      expect(await fixture.ask([name])).not.toEqual([BLOCKED]);
      expect(await page.getByLabel('Comment').inputValue()).toBe('typed before the end');
      await expectAccessible(page);
      await logInThere(login);
      await noticeOf(page, 'Rule added');
      expect(await fixture.ask([name])).toEqual([BLOCKED]);
      const rules = await fixture.api.expect<{ data: unknown[] }>(
        200,
        'GET',
        `/managed-domains?search=${name}`,
      );
      expect(rules.data).toMatchObject([{ domain: `*.${name}`, comment: 'typed before the end' }]);
      await page.getByRole('row', { name }).waitFor();
    });
  });
});

/** Controls that change only the view or the user's own settings. All options of a view are also allowed. */
const LOOKING: readonly (string | RegExp)[] = [
  ...[
    'Search',
    'Explain a name',
    'Log out',
    'Close',
    'Dismiss',
    'Keys',
    'Live',
    'Export',
    'Filter',
    'Copy the name',
    'Next page',
  ],
  ...[/^(Only|Not) /, 'Show as table', 'Shown'],
  // Filters, by their values.
  ...['Entire log Period', 'Any group Group', 'Any reason Why this group', 'Any state State'],
  ...['By name Order', 'Any action Action', 'Any group For', 'All groups Group', 'Any type Type'],
  ...['Any category Category', 'Any source Source', 'Same as browser Language'],
  'Seen at any time First seen',
];

/** A path for each page, part of a page and drawer of the dashboard, with content to show. */
async function places(): Promise<string[]> {
  const { api } = fixture;
  const made = async (path: string, body: object): Promise<number> =>
    (await api.expect<{ id: number }>(201, 'POST', path, body)).id;
  const source = { name: 'Shown', url: 'https://lists.example.org/shown.txt', enabled: false };
  const list = await made('/blocklist-sources', source);
  const profile = await made('/schedule-profiles', { name: 'Nights', timezone: 'UTC' });
  const slot = { days: 127, start_time: '21:00', end_time: '06:30', action: 'block_all' };
  await made(`/schedule-profiles/${String(profile)}/slots`, slot);
  const client = await made('/clients', { ip_address: '192.0.2.61', name: 'Tablet' });
  await made('/grants', { domain: 'shown.example', client_id: client, secs: 3600 });
  await made('/regex-filters', { pattern: '^shown[0-9]' });
  await made('/local-records', { fqdn: 'shown.home.arpa', value: '192.0.2.62' });
  await made('/forward-zones', { zone: 'shown.example', servers: ['192.0.2.63'] });
  await made('/client-subnets', { subnet_cidr: '192.0.2.0/26', group_id: 1 });
  const [row] = await api.queries(`domain=${BLOCKED_NAME}`);
  const [revision] = await api.expect<Revision[]>(200, 'GET', '/revisions');
  return [
    ...['', `queries?open=${String(row!.id)}`, `clients?open=${String(client)}`, 'clients?tab=subnets'],
    ...['groups', 'groups?open=1', `lists?open=${String(list)}`, 'rules', 'rules?tab=expression'],
    ...['rules?tab=grants', 'services', 'schedules', `schedules?open=${String(profile)}`, 'names'],
    ...['names?tab=zones', 'names?tab=settings', 'resolving', `history?revision=${String(revision!.id)}`],
    ...['history?view=audit', 'settings?part=dns', 'settings?part=users'],
  ];
}

/** The controls on a page that could change something. */
async function changingControls(page: Page): Promise<string[]> {
  await page.getByRole('heading', { level: 1, includeHidden: true }).waitFor();
  const snapshot = await page.locator('body').ariaSnapshot();
  const controls = [...snapshot.matchAll(/- (?:button|switch|checkbox|textbox) "((?:[^"\\]|\\.)*)"(.*)/g)];
  return controls
    .filter(([, , state]) => !state!.includes('[disabled]'))
    .map(([, name]) => name!)
    .filter((name) => !LOOKING.some((one) => (typeof one === 'string' ? one === name : one.test(name))));
}

describe('a viewer of the dashboard', () => {
  test('sees every page, but no control that viewers may not use', async () => {
    const all = await places();
    await fixture.api.expect(201, 'POST', '/users', {
      username: 'looker',
      password: PASSWORD,
      role: 'viewer',
    });
    const session = await fixture.logIn('looker');
    const seen = { admin: [] as string[], viewer: [] as string[] };
    const check = async (page: Page, found: string[]): Promise<void> => {
      await page.goto('./');
      for (const place of all) {
        await followPath(page, place);
        for (const name of await changingControls(page)) found.push(`${place}: ${name}`);
      }
      await expectAccessible(page);
    };
    await Promise.all([
      fixture.withPage({}, (page) => check(page, seen.admin)),
      fixture.withPage({ session }, (page) => check(page, seen.viewer)),
    ]);
    expect(seen.viewer).toEqual([]);
    // The administrator's page has such controls, which proves that the search finds them.
    expect(all.filter((place) => !seen.admin.some((one) => one.startsWith(`${place}: `)))).toEqual([]);
    const { status, text } = await httpCall(
      'POST',
      `${fixture.origin}/api/managed-domains`,
      { domain: 'not.his.example' },
      `svc_session=${session}`,
    );
    expect([status, text]).toEqual([403, expect.stringContaining('forbidden')]);
  });

  test('sees no empty toolbar below an explanation, and no links that create objects', async () => {
    await fixture.api.expect(201, 'POST', '/users', {
      username: 'reader',
      password: PASSWORD,
      role: 'viewer',
    });
    const session = await fixture.logIn('reader');
    const check = async (page: Page): Promise<boolean> => {
      await openExplained(page, BLOCKED_NAME);
      return page.evaluate<boolean>(`document.querySelector('[role=dialog] footer').offsetHeight > 0`);
    };
    expect(await fixture.withPage({}, check)).toBe(true);
    await fixture.withPage({ session }, async (page) => {
      expect(await check(page)).toBe(false);
      await page.goto('./groups?open=1');
      await page.getByText('No schedule').waitFor();
      expect(await page.getByRole('link', { name: 'Add schedule' }).count()).toBe(0);
      expect(await page.getByRole('button', { name: /^Pause internet|^Set up/ }).count()).toBe(0);
      await page.goto('./names');
      await page.getByRole('rowheader', { name: 'shown.home.arpa' }).waitFor();
      expect(await page.locator('main section > div:empty').count()).toBe(0);
    });
  });
});

describe('a user of the role family in the dashboard', () => {
  test('sees only their own devices on one page, pauses a device, unblocks a name, and ends the pause and the unblocking', async () => {
    const idOf = async (ip: string, name: string): Promise<number> =>
      (await fixture.api.expect<{ id: number }>(201, 'POST', '/clients', { ip_address: ip, name })).id;
    const tablet = await idOf('192.0.2.71', 'Tablet of Ida');
    await idOf('192.0.2.72', 'Not Idas');
    const user = { username: 'frida', password: PASSWORD, role: 'family', client_ids: [tablet] };
    await fixture.api.expect(201, 'POST', '/users', user);
    const session = await fixture.logIn('frida');
    const grants = async (): Promise<Grant[]> =>
      (await fixture.api.expect<Grant[]>(200, 'GET', '/grants')).filter((one) => one.client_id === tablet);
    await fixture.withPage({ session, viewport: { width: 320, height: 640 } }, async (page) => {
      await page.goto('./settings?part=users');
      await page.getByRole('heading', { name: 'Tablet of Ida' }).waitFor();
      expect(await page.getByText('Not Idas').count()).toBe(0);
      expect(await page.getByRole('navigation').count()).toBe(0);
      await expectAccessible(page);

      await page.getByRole('button', { name: 'Pause internet for Tablet of Ida' }).click();
      await page.getByRole('menuitem', { name: /^For 1/ }).click();
      await page.getByText('The internet is paused.').waitFor();
      await page.getByText(/^Everything/).waitFor();
      expect(await grants()).toMatchObject([{ client_id: tablet, action: 'block', domain: null }]);
      await page.getByRole('button', { name: 'End now' }).click();
      await page.getByText(/^Everything/).waitFor({ state: 'detached' });

      await page.getByRole('button', { name: 'Unblock a name for Tablet of Ida' }).click();
      await page.getByRole('textbox', { name: 'Name' }).fill('https://games.example/play');
      await expectAccessible(page);
      await page.getByRole('button', { name: 'Start' }).click();
      await page.getByText('games.example', { exact: true }).waitFor();
      expect(await grants()).toMatchObject([
        { client_id: tablet, action: 'allow', domain: 'games.example', secs_left: expect.any(Number) },
      ]);
      await page.getByRole('button', { name: 'End now' }).click();
      await page.getByText('games.example', { exact: true }).waitFor({ state: 'detached' });
      await page.getByRole('button', { name: 'Log out' }).click();
      await page.getByRole('heading', { name: 'Log in' }).waitFor();
    });
    expect(await grants()).toEqual([]);
  });

  test('unblocks a service that is blocked, for their own device only', async () => {
    const { id: group } = await fixture.api.createGroup('Ida');
    const ids: number[] = [];
    for (const ip of ['127.0.0.75', '127.0.0.76']) {
      const client = { ip_address: ip, name: `Device ${ip}`, group_id: group };
      ids.push((await fixture.api.expect<{ id: number }>(201, 'POST', '/clients', client)).id);
    }
    await fixture.api.expect(201, 'POST', '/services', { service_id: 'youtube', group_id: group });
    const user = { username: 'ida', password: PASSWORD, role: 'family', client_ids: [ids[0]] };
    await fixture.api.expect(201, 'POST', '/users', user);
    const asked = async (): Promise<unknown[]> => [
      ...(await fixture.ask(['www.youtube.com'], '127.0.0.75')),
      ...(await fixture.ask(['www.youtube.com'], '127.0.0.76')),
    ];
    expect(await asked()).toEqual([undefined, undefined]);
    const session = await fixture.logIn('ida');
    await fixture.withPage({ session, viewport: { width: 320, height: 640 } }, async (page) => {
      await page.goto('./');
      await page.getByRole('button', { name: 'Unblock a service for Device 127.0.0.75' }).click();
      const form = page.getByRole('dialog', { name: 'Unblock a service for Device 127.0.0.75' });
      await choose(form, 'Service', 'YouTube');
      await expectAccessible(page);
      await form.getByRole('button', { name: 'Start' }).click();
      await page.getByText('Service YouTube').waitFor();
      expect(await asked()).toEqual([EVERY_ADDRESS, undefined]);
      await page.getByRole('button', { name: 'End now' }).click();
      await page.getByText('Service YouTube').waitFor({ state: 'detached' });
    });
    expect(await asked()).toEqual([undefined, undefined]);
  });

  test('gets devices assigned in the form of the user', async () => {
    await fixture.api.expect(201, 'POST', '/clients', { ip_address: '192.0.2.73', name: 'Console of Jo' });
    await fixture.withPage({}, async (page) => {
      await page.goto('./settings?part=users');
      await page.getByRole('button', { name: 'Add user' }).click();
      await page.getByLabel('User name').fill('jo');
      await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
      await page.getByRole('button', { name: /Role/ }).click();
      await page.getByRole('option', { name: 'Family' }).click();
      await page.getByRole('searchbox', { name: 'Search devices' }).fill('console');
      await page.getByRole('checkbox', { name: 'Console of Jo' }).check({ force: true });
      await expectAccessible(page);
      await page.getByRole('button', { name: 'Create', exact: true }).click();
      await page.getByText('jo', { exact: true }).waitFor();
    });
    const users = await fixture.api.expect<{ username: string; client_ids: number[] }[]>(
      200,
      'GET',
      '/users',
    );
    expect(users.find(({ username }) => username === 'jo')!.client_ids).toHaveLength(1);
  });
});
