/** Three nodes of a database, and a list that one of them fetches for all, whatever becomes of that one meanwhile. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { BlocklistSource } from '../../../shared/api/policy/sources-api.ts';
import { UdpClient } from '../../support/dns/dns-client.ts';
import { until } from '../../support/parts/until.ts';
import { startListServer } from '../../support/weir/list-server.ts';
import type { ListServer } from '../../support/weir/list-server.ts';
import { NodeCluster } from '../../support/weir/node-cluster.ts';
import type { Weir } from '../../support/weir/weir-process.ts';

const BLOCKED = '0.0.0.0';
const LOOK_MS = 100;

let cluster: NodeCluster;
let lists: ListServer;
let one: Weir;
let two: Weir;
let path: string;

beforeAll(async () => {
  cluster = await NodeCluster.open();
  lists = await startListServer();
  [one, two] = [await start('one'), await start('two')];
  lists.serve('/ads', 'first.example\n');
  const { id } = await (await one.api()).addSource({ name: 'ads', url: lists.url('/ads') });
  path = `/blocklist-sources/${id}`;
});
afterAll(async () => {
  await cluster.close();
  await lists.close();
});

/** Starts a node without upstreams: a name that was resolved would be one that clients use, and a list that blocks it held. */
const start = (name: string): Promise<Weir> => cluster.start(name, { upstreams: ['127.0.0.1:9'] });

/** Waits until a node blocks a name. */
async function untilBlocked(node: Weir, name: string): Promise<void> {
  using asker = await UdpClient.open(node.dnsPort);
  await until(async () => (await asker.ask(name, 'A')).data[0] === BLOCKED, LOOK_MS);
}

/** Serves a list that ends only when it is told to, and has a node begin to fetch it. */
async function beginFetch(node: Weir): Promise<{ finish: (text: string) => void }> {
  const asked = Promise.withResolvers<(text: string) => void>();
  lists.serve('/ads', (_request, response) => {
    response.write('# to be continued\n');
    asked.resolve((text) => void response.end(text));
  });
  await (await node.api()).expect(202, 'POST', `${path}/refresh`);
  return { finish: await asked.promise };
}

/** Has a node fetch until it says that it did: while another one has the lease it does nothing. */
async function untilFetched(node: Weir, name: string): Promise<void> {
  lists.serve('/ads', `${name}\n`);
  const api = await node.api();
  const before = lists.requests.length;
  await until(async () => {
    await api.expect(202, 'POST', `${path}/refresh`);
    return lists.requests.length > before;
  }, LOOK_MS);
  await untilBlocked(node, name);
}

/** As if the time of all leases had passed. */
const endLeases = (): Promise<unknown> =>
  cluster.database.rows(`UPDATE leases SET until = clock_timestamp() - interval '1 second'`);

const contentKey = async (): Promise<unknown> =>
  (await cluster.database.rows<{ content_key: string }>('SELECT content_key FROM list_sources'))[0]!
    .content_key;

describe('a list of several nodes', () => {
  test('is fetched once and in force at all, also at one that comes with an empty disk', async () => {
    await untilBlocked(two, 'first.example');
    const three = await start('three');
    await untilBlocked(three, 'first.example');
    expect(lists.requests).toHaveLength(1);
    await three.stop();
  });

  test('is fetched by another node where its holder was killed, which takes it over when it is back', async () => {
    await beginFetch(two);
    await two.end('SIGKILL');
    await endLeases();
    await untilFetched(one, 'killed.example');
    two = await start('two');
    await untilBlocked(two, 'killed.example');
  });

  test('is what the next node fetched, where its holder was stopped and goes on', async () => {
    const { finish } = await beginFetch(two);
    two.child.kill('SIGSTOP');
    await endLeases();
    await untilFetched(one, 'stopped.example');
    const key = await contentKey();
    two.child.kill('SIGCONT');
    finish('outdated.example\n');
    await two.untilOutput(/a job was left to another node/);
    await untilBlocked(two, 'stopped.example');
    expect(await contentKey()).toBe(key);
    const source = await (await two.api()).settledSource(Number(path.split('/').at(-1)));
    expect(source).toMatchObject({
      status: 'ok',
      rules: 1,
      last_error: null,
    } satisfies Partial<BlocklistSource>);
  });
});
