/**
 * Three nodes with one database, and lists that one node fetches for all nodes, even if that node fails during the
 * fetch.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { BlocklistSource } from '../../../shared/api/policy/sources-api.ts';
import { UdpClient } from '../../support/dns/dns-client.ts';
import { until, within } from '../../support/parts/until.ts';
import { startListServer } from '../../support/weir/list-server.ts';
import type { ListServer } from '../../support/weir/list-server.ts';
import { NodeCluster } from '../../support/weir/node-cluster.ts';
import type { Weir } from '../../support/weir/weir-process.ts';

const BLOCKED = '0.0.0.0';
const POLL_MS = 100;

let cluster: NodeCluster;
let lists: ListServer;
const nodes = new Map<string, Weir>();

beforeAll(async () => {
  cluster = await NodeCluster.open();
  lists = await startListServer();
  for (const name of ['one', 'two']) nodes.set(name, await cluster.start(name));
});
afterAll(async () => {
  await cluster.close();
  await lists.close();
});

/** Waits until a node blocks a name. */
async function untilBlocked(node: Weir, name: string): Promise<void> {
  using asker = await UdpClient.open(node.dnsPort);
  await until(
    `a node to block ${name}`,
    async () => (await asker.ask(name, 'A')).data,
    ([address]) => address === BLOCKED,
    { pauseMs: POLL_MS },
  );
}

/**
 * Creates a source and returns the source, the name of the node that starts the fetch, which may be any node, and the
 * name of another node. A new source is used because its first version is never held.
 */
async function beginFetch(path: string) {
  const asked = Promise.withResolvers<(text: string) => void>();
  lists.serve(path, (_request, response) => {
    response.write('# to be continued\n');
    asked.resolve((text) => void response.end(text));
  });
  const body = { name: path, url: lists.url(path) };
  const api = await nodes.get('one')!.api();
  const { id } = await api.expect<BlocklistSource>(201, 'POST', '/blocklist-sources', body);
  const finish = await within(`a node to fetch ${path}`, asked.promise);
  const [row] = await cluster.database.rows<{ name: string }>(
    `SELECT name FROM nodes JOIN leases ON nodes.uuid = leases.node WHERE job = 'fetch list ${id}'`,
  );
  return { id, finish, holder: row!.name, other: row!.name === 'one' ? 'two' : 'one' };
}

/**
 * Makes a node fetch a list. Repeats the request until the node fetches, because the node does nothing while another
 * node has the lease.
 */
async function untilFetched(node: Weir, id: number, path: string, name: string): Promise<void> {
  lists.serve(path, `${name}\n`);
  const api = await node.api();
  const before = lists.requests.length;
  await until(
    `another node to fetch ${path}`,
    async () => {
      await api.expect(202, 'POST', `/blocklist-sources/${id}/refresh`);
      return lists.requests.length;
    },
    (requests) => requests > before,
    { pauseMs: POLL_MS },
  );
  await untilBlocked(node, name);
}

/** Expires all leases. */
const endLeases = (): Promise<unknown> =>
  cluster.database.rows(`UPDATE leases SET until = clock_timestamp() - interval '1 second'`);

const contentKey = async (id: number): Promise<unknown> =>
  (await cluster.database.rows(`SELECT content_key FROM list_sources WHERE id = ${id}`))[0];

describe('a list that several nodes share', () => {
  test('is fetched once and active on all nodes, even on one that starts with an empty disk', async () => {
    lists.serve('/once', 'once.example\n');
    await (await nodes.get('one')!.api()).addSource({ name: 'once', url: lists.url('/once') });
    await untilBlocked(nodes.get('two')!, 'once.example');
    const three = await cluster.start('three');
    await untilBlocked(three, 'once.example');
    expect(lists.requests).toHaveLength(1);
    await three.stop();
  });

  test('is fetched by another node if the node with the fetch lease is killed, and loaded by the killed node after its restart', async () => {
    const { id, holder, other } = await beginFetch('/killed');
    await nodes.get(holder)!.end('SIGKILL');
    await endLeases();
    await untilFetched(nodes.get(other)!, id, '/killed', 'killed.example');
    nodes.set(holder, await cluster.start(holder));
    await untilBlocked(nodes.get(holder)!, 'killed.example');
  });

  test('has the version of the new lease holder if the previous holder was suspended and continues', async () => {
    const { id, finish, holder, other } = await beginFetch('/stopped');
    const stopped = nodes.get(holder)!;
    stopped.child.kill('SIGSTOP');
    await endLeases();
    await untilFetched(nodes.get(other)!, id, '/stopped', 'stopped.example');
    const key = await contentKey(id);
    stopped.child.kill('SIGCONT');
    finish('outdated.example\n');
    await stopped.untilOutput(/another node has taken over a job/);
    await untilBlocked(stopped, 'stopped.example');
    expect(await contentKey(id)).toEqual(key);
    const source = await (await stopped.api()).settledSource(id);
    expect(source).toMatchObject({ status: 'ok', rules: 1, last_error: null });
  });

  test('becomes active on all nodes after the database was lost during the fetch', async () => {
    const { finish } = await beginFetch('/lost');
    lists.serve('/lost', 'lost.example\n');
    const restarted = cluster.database.restart('SIGKILL');
    finish('lost.example\n');
    await restarted;
    for (const node of nodes.values()) await untilBlocked(node, 'lost.example');
  });
});
