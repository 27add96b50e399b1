/** Views of several nodes with one database, also when one of them is lost. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { expectAccessible } from '../support/browser/accessible.ts';
import { ASKED_NAMES, DashboardFixture } from '../support/browser/dashboard-fixture.ts';
import { choose } from '../support/browser/page-steps.ts';
import { untilQuiet } from '../support/browser/watched-page.ts';
import { UdpClient } from '../support/dns/dns-client.ts';
import { EVERY_ADDRESS } from '../support/dns/echoing-upstream.ts';
import { NodeCluster } from '../support/weir/node-cluster.ts';
import type { Weir } from '../support/weir/weir-process.ts';

let cluster: NodeCluster;
let fixture: DashboardFixture;
let other: Weir;

beforeAll(async () => {
  cluster = await NodeCluster.open();
  fixture = await DashboardFixture.open(cluster.optionsOf('core'));
  other = await cluster.start('edge');
});
afterAll(async () => {
  await fixture.close();
  await cluster.close();
});

describe('the dashboard with two nodes', () => {
  test('counts the queries of both nodes on the overview, or of the node in the URL', async () => {
    using udp = await UdpClient.open(other.dnsPort);
    await udp.ask('printer.example', 'A');
    await fixture.api.untilQueryCount(1, 'node=edge');
    await fixture.withPage({}, async (page) => {
      await page.goto('./');
      const max = page
        .locator('section')
        .filter({ has: page.getByRole('heading', { name: 'Most queried' }) });
      const named = (name: string) => max.getByRole('link', { name });
      await named('printer.example').waitFor();
      await named(ASKED_NAMES[0]!).waitFor();
      await choose(page, 'Node', 'edge');
      await named(ASKED_NAMES[0]!).waitFor({ state: 'detached' });
      expect(new URL(page.url()).searchParams.get('node')).toBe('edge');
      await page.reload();
      await page.getByRole('button', { name: 'edge Node' }).waitFor();
      expect(await named(ASKED_NAMES[0]!).count()).toBe(0);
      await expectAccessible(page);
      await named('printer.example').click();
      await page.getByText('Node: edge').waitFor();
      await page.getByRole('row', { name: 'printer.example, A, asked by' }).waitFor();
    });
  });

  test('shows both nodes as current, then reports the lost node; a user can remove that node while DNS keeps answering', async () => {
    await fixture.withPage({}, async (page) => {
      await page.goto('./nodes');
      await page.getByText('All 2 nodes use the current policy.').waitFor();
      await other.end('SIGKILL');
      await page.getByText('One heartbeat is late: edge.').waitFor();
      // Simulates the minute after which a node counts as gone.
      await cluster.database.rows(
        `UPDATE nodes SET last_seen = last_seen - interval '1 minute' WHERE name = 'edge'`,
      );
      await page.getByText('One node does not respond: edge.').waitFor();
      await expectAccessible(page);
      expect(await fixture.ask(['still.example'])).toEqual([EVERY_ADDRESS]);
      await page.getByRole('button', { name: 'Remove edge' }).click();
      await page.getByRole('alertdialog').getByRole('button', { name: 'Remove' }).click();
      await page.getByText('This node uses the current policy.').waitFor();
      // With a single node, the page does not offer a choice of nodes.
      await page.goto('./');
      await untilQuiet(page);
      expect(await page.getByRole('button', { name: / Node$/ }).count()).toBe(0);
    });
  });
});
