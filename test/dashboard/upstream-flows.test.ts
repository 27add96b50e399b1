/** Choosing upstream servers: known operators, a test before saving, and a warning if no server answers. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { expectAccessible } from '../support/browser/accessible.ts';
import { DashboardFixture } from '../support/browser/dashboard-fixture.ts';
import { Finger, PHONE } from '../support/browser/finger.ts';
import { layoutFaults } from '../support/browser/layout-faults.ts';
import { choose, noticeOf } from '../support/browser/page-steps.ts';
import type { Page } from '../support/browser/watched-page.ts';
import { startEchoingUpstream } from '../support/dns/echoing-upstream.ts';
import { ScriptedUpstream } from '../support/dns/scripted-upstream.ts';

let fixture: DashboardFixture;
let live: ScriptedUpstream;
/** Address on which nothing listens. */
let dead: string;

beforeAll(async () => {
  [fixture, live] = await Promise.all([DashboardFixture.open(), startEchoingUpstream()]);
  const closed = await ScriptedUpstream.start();
  dead = `127.0.0.1:${String(closed.port)}`;
  await closed.close();
});
afterAll(async () => {
  await live.close();
  await fixture.close();
});

async function poolNames(): Promise<string[]> {
  const { dns } = await fixture.api.expect<{ dns: { pools: { name: string }[] } }>(200, 'GET', '/config');
  return dns.pools.map(({ name }) => name);
}

interface Known {
  readonly operator: string;
  readonly udp: readonly string[];
}

/** Replaces the addresses of an operator in the catalogue, because tests query only servers of this machine. */
async function moveOperator(page: Page, operator: string, servers: readonly string[]): Promise<void> {
  await page.route('**/api/upstream-catalog', async (route) => {
    const response = await route.fetch();
    const all = (await response.json()) as Known[];
    const addresses = { tls: [], https: [], udp: servers };
    const moved = all.map((one) => (one.operator === operator ? { ...one, ...addresses } : one));
    await route.fulfill({ response, json: moved });
  });
}

describe('a new upstream pool', () => {
  test('of a well-known operator takes five taps from the first page on a phone, including a test of its servers', async () => {
    const before = await poolNames();
    const server = `udp://127.0.0.1:${String(live.port)}`;
    await fixture.withPage(PHONE, async (page) => {
      await moveOperator(page, 'Quad9', [server]);
      await page.goto('./');
      await page.getByRole('heading', { name: 'Overview' }).waitFor();
      const finger = new Finger();
      await finger.tap('More', page.getByRole('navigation').getByRole('link', { name: 'More' }));
      await finger.tap('Upstreams', page.getByRole('main').getByRole('link', { name: 'Upstreams' }));
      await finger.tap('Add pool', page.getByRole('button', { name: 'Add pool' }));
      const form = page.getByRole('dialog', { name: 'Add pool' });
      await finger.tap('Quad9', form.getByRole('button', { name: 'Quad9', exact: true }));
      await form.getByRole('row', { name: server }).getByText('answers', { exact: true }).waitFor();
      expect(await form.getByLabel('Name', { exact: true }).inputValue()).toBe('Quad9');
      expect(await layoutFaults(page)).toEqual([]);
      await expectAccessible(page);
      await finger.tap('Save', form.getByRole('button', { name: 'Save' }));
      await noticeOf(page, 'Pool saved');
      expect(finger.taps).toEqual(['More', 'Upstreams', 'Add pool', 'Quad9', 'Save']);
    });
    expect(await poolNames()).toEqual([...before, 'Quad9']);
  });

  test('of a well-known operator that does not respond is saved only after a confirmation', async () => {
    const before = await poolNames();
    const refused = [/^409 PATCH \/api\/config/, /status of 409/];
    await fixture.withPage({ ...PHONE, expected: refused }, async (page) => {
      await moveOperator(page, 'Cloudflare', [`udp://${dead}`]);
      await page.goto('./resolving');
      await page.getByRole('button', { name: 'Add pool' }).tap();
      const form = page.getByRole('dialog', { name: 'Add pool' });
      await form.getByRole('button', { name: 'Cloudflare', exact: true }).tap();
      await form.getByRole('row', { name: dead }).getByText('does not answer').waitFor();
      await form.getByRole('button', { name: 'Save' }).tap();
      const question = page.getByRole('alertdialog', { name: 'Save a pool that does not answer?' });
      await question.getByRole('button', { name: 'Cancel' }).tap();
    });
    expect(await poolNames()).toEqual(before);
  });

  test('is tested before it is saved, and is saved without a response only after a confirmation', async () => {
    const before = await poolNames();
    const refused = [/^409 PATCH \/api\/config/, /status of 409/];
    await fixture.withPage({ expected: refused }, async (page) => {
      await page.goto('./resolving');
      await page.getByRole('heading', { name: 'Upstreams', level: 1 }).waitFor();
      await page.getByRole('button', { name: /^Add (a )?pool$/ }).click();
      const form = page.getByRole('dialog', { name: /^Add (a )?pool$/ });
      await form.getByLabel('Name', { exact: true }).fill('second');
      const servers = form.getByRole('textbox', { name: /^Servers/ });
      await servers.fill(dead);
      await form.getByRole('button', { name: 'Save' }).click();
      const question = page.getByRole('alertdialog', { name: 'Save a pool that does not answer?' });
      await expectAccessible(page);
      await question.getByRole('button', { name: 'Cancel' }).click();
      await form.getByRole('row', { name: dead }).getByText('does not answer').waitFor();
      expect(await poolNames()).toEqual(before);

      await servers.fill(`127.0.0.1:${String(live.port)}`);
      await form.getByRole('button', { name: 'Test servers' }).click();
      const row = form.getByRole('row', { name: `127.0.0.1:${String(live.port)}` });
      await row.getByText('answers', { exact: true }).waitFor();
      await row.getByText('Removes signatures').waitFor();
      await expectAccessible(page);
      await form.getByRole('button', { name: 'Save' }).click();
      await noticeOf(page, 'Pool saved');
      expect(await poolNames()).toEqual([...before, 'second']);
    });
  });

  test('with the servers of a known operator shows a description of the operator', async () => {
    await fixture.withPage({}, async (page) => {
      // The servers of the operator are not on this machine.
      await page.route('**/api/upstreams/test', (route) => route.fulfill({ json: [] }));
      await page.goto('./resolving');
      await page.getByRole('button', { name: /^Add (a )?pool$/ }).click();
      const form = page.getByRole('dialog', { name: /^Add (a )?pool$/ });
      await choose(form, 'Operator', 'Quad9');
      const servers = form.getByRole('textbox', { name: /^Servers/ });
      expect(await servers.inputValue()).toContain('tls://dns.quad9.net@9.9.9.9');
      expect(await form.getByLabel('Name', { exact: true }).inputValue()).toBe('Quad9');
      await form
        .getByRole('paragraph')
        .filter({ hasText: 'Blocks malware and phishing by itself' })
        .waitFor();
      await form.getByText('Keeps no log of queries, according to its operator.').waitFor();
      await form.getByRole('link', { name: 'About Quad9 and privacy' }).waitFor();
      await choose(form, 'Connection', 'Not encrypted: UDP');
      expect(await servers.inputValue()).toBe('udp://9.9.9.9\nudp://149.112.112.112');
      await expectAccessible(page);
    });
  });

  test('states which pool is queried before it, until it becomes the first pool', async () => {
    const [first] = await poolNames();
    await fixture.withPage({}, async (page) => {
      await page.goto('./resolving');
      await page.getByRole('button', { name: /^Add (a )?pool$/ }).click();
      const form = page.getByRole('dialog', { name: /^Add (a )?pool$/ });
      const note = form.getByText(`Asked only if the pool ${first!} fails.`);
      await note.waitFor();
      await form.getByLabel('Order', { exact: true }).fill('0');
      await note.waitFor({ state: 'detached' });
    });
  });
});
