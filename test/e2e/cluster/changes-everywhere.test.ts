/**
 * Two nodes with one database. The tests change policy through one node and observe the other node. Changes that affect
 * answers are checked over DNS.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ClusterNode } from '../../../shared/api/nodes-api.ts';
import type { Revision } from '../../../shared/api/revisions-api.ts';
import { UdpClient } from '../../support/dns/dns-client.ts';
import { EVERY_ADDRESS } from '../../support/dns/echoing-upstream.ts';
import { until, within } from '../../support/parts/until.ts';
import { ApiClient } from '../../support/weir/api-client.ts';
import { httpCall } from '../../support/weir/http-call.ts';
import type { HttpAnswer } from '../../support/weir/http-call.ts';
import { startListServer } from '../../support/weir/list-server.ts';
import type { ListServer } from '../../support/weir/list-server.ts';
import { NodeCluster } from '../../support/weir/node-cluster.ts';
import type { Weir } from '../../support/weir/weir-process.ts';

const BLOCKED = '0.0.0.0';
/** A client that is assigned to a group by its address, and a client that is assigned to a group by its subnet. */
const CHILD = '127.0.0.21';
const GUEST = '127.0.1.5';
const POLL_MS = 20;
/**
 * Durations of temporary settings. If the other node was too slow to show a setting, the test tries the next longer
 * duration.
 */
const SHORT_SECS = [2, 10, 40] as const;

let cluster: NodeCluster;
let lists: ListServer;
let here: Weir;
let there: Weir;
let api: ApiClient;
let kids: number;
const askers = new Map<string, UdpClient>();

beforeAll(async () => {
  cluster = await NodeCluster.open();
  lists = await startListServer();
  lists.serve('/ads', 'listed.example\n');
  here = await cluster.start('here');
  there = await cluster.start('there');
  api = await here.api();
  for (const from of ['127.0.0.1', CHILD, GUEST])
    askers.set(from, await UdpClient.open(there.dnsPort, '127.0.0.1', from));
  kids = (await api.createGroup('kids')).id;
});
afterAll(async () => {
  for (const asker of askers.values()) asker.close();
  await cluster.close();
  await lists.close();
});

/** Answer of the other node for a name. */
const answerOf = async (name: string, from = '127.0.0.1'): Promise<unknown> =>
  (await askers.get(from)!.ask(name, 'A')).data[0];

/** Waits until the other node gives this answer. */
const untilAnswered = (name: string, wanted: unknown, from?: string): Promise<unknown> =>
  until(
    `${String(wanted)} as the other node's answer to ${name}`,
    () => answerOf(name, from),
    (answer) => answer === wanted,
    { pauseMs: POLL_MS },
  );

/**
 * Allows a name for the child for a short time, and waits until the other node allows the name and then blocks it
 * again. Tries longer times if a busy machine was too slow.
 */
async function untilOver(name: string, allow: (secs: number) => Promise<unknown>): Promise<void> {
  const isSeen = async (secs: number): Promise<boolean> => {
    const endMs = Date.now() + secs * 1000;
    await allow(secs);
    const answer = await until(
      `the other node to allow ${name} for ${secs} s`,
      () => answerOf(name, CHILD),
      (address) => address === EVERY_ADDRESS || Date.now() > endMs,
      { pauseMs: POLL_MS },
    );
    await untilAnswered(name, BLOCKED, CHILD);
    return answer === EVERY_ADDRESS;
  };
  for (const secs of SHORT_SECS) if (await isSeen(secs)) return;
  throw new Error(`the other node did not allow ${name} for ${SHORT_SECS.join(', ')} s`);
}

const statusOf = async (node: Weir, path: string, cookie: string): Promise<number> =>
  (await httpCall('GET', `http://127.0.0.1:${node.webPort}${path}`, undefined, cookie)).status;

const made = (path: string, json: object): Promise<{ id: number }> =>
  api.expect<{ id: number }>(201, 'POST', path, json);

describe('a change at one node becomes active at the other node:', () => {
  test('rules for every group and for one group', async () => {
    const { id } = await made('/managed-domains', { domain: 'managed.example' });
    await untilAnswered('managed.example', BLOCKED);
    await api.expect(200, 'PUT', `/managed-domains/${id}`, { action: 'allow' });
    await untilAnswered('managed.example', EVERY_ADDRESS);
    await made('/regex-filters', { pattern: '^expr' });
    await untilAnswered('expressed.example', BLOCKED);
    await made('/managed-domains', { domain: '*.toys.example', group_id: kids });
  });

  test('groups, their clients and their subnets', async () => {
    expect(await answerOf('a.toys.example', CHILD)).toBe(EVERY_ADDRESS);
    await made('/clients', { ip_address: CHILD, group_id: kids });
    await untilAnswered('a.toys.example', BLOCKED, CHILD);
    await made('/client-subnets', { subnet_cidr: '127.0.1.0/24', group_id: kids });
    await untilAnswered('a.toys.example', BLOCKED, GUEST);
    await api.expect(200, 'PUT', `/groups/${kids}`, { enabled: false });
    await untilAnswered('a.toys.example', EVERY_ADDRESS, CHILD);
    await api.expect(200, 'PUT', `/groups/${kids}`, { enabled: true });
    await untilAnswered('a.toys.example', BLOCKED, CHILD);
  });

  test('grants, until they end', async () => {
    const { id } = await made('/grants', { domain: 'a.toys.example', group_id: kids, secs: 3600 });
    await untilAnswered('a.toys.example', EVERY_ADDRESS, CHILD);
    await api.expect(204, 'DELETE', `/grants/${id}`);
    await untilAnswered('a.toys.example', BLOCKED, CHILD);
    await untilOver('a.toys.example', (secs) =>
      made('/grants', { domain: 'a.toys.example', group_id: kids, secs }),
    );
  });

  test('schedules', async () => {
    const { id } = await made('/schedule-profiles', { name: 'always', timezone: 'UTC' });
    await api.expect(200, 'PUT', `/groups/${kids}/schedule`, { profile_id: id });
    const day = { days: 127, start_time: '00:00', end_time: '24:00', action: 'block_all' };
    await made(`/schedule-profiles/${id}/slots`, day);
    await untilAnswered('free.example', BLOCKED, CHILD);
    await api.expect(204, 'DELETE', `/groups/${kids}/schedule`);
    await untilAnswered('free.example', EVERY_ADDRESS, CHILD);
  });

  test('a pause of blocking, with and without a timer', async () => {
    await api.expect(200, 'POST', '/blocking', { enabled: false });
    await untilAnswered('a.toys.example', EVERY_ADDRESS, CHILD);
    await api.expect(204, 'DELETE', '/blocking');
    await untilAnswered('a.toys.example', BLOCKED, CHILD);
    await untilOver('a.toys.example', (secs) =>
      api.expect(200, 'POST', '/blocking', { enabled: false, timer_secs: secs }),
    );
  });

  test('services and safe search', async () => {
    await made('/services', { service_id: 'netflix', group_id: kids });
    await untilAnswered('www.netflix.com', undefined, CHILD);
    await api.expect(200, 'POST', `/safe-search/configs/${kids}`, { engine: 'bing' });
    await untilAnswered('www.bing.com', 'strict.bing.com', CHILD);
  });

  test('local records, forward zones and configuration keys', async () => {
    await made('/local-records', { fqdn: 'nas.home.arpa', record_type: 'A', value: '192.0.2.9' });
    await untilAnswered('nas.home.arpa', '192.0.2.9');
    const { id } = await made('/forward-zones', { zone: 'corp.example', servers: ['127.0.0.1:9'] });
    await untilAnswered('www.corp.example', undefined);
    await api.expect(204, 'DELETE', `/forward-zones/${id}`);
    await untilAnswered('www.corp.example', EVERY_ADDRESS);
    await api.expect(200, 'PATCH', '/config', { blocking: { custom_ipv4: '192.0.2.8', mode: 'custom_ip' } });
    await untilAnswered('a.toys.example', '192.0.2.8', CHILD);
    await api.expect(200, 'PATCH', '/config', { blocking: { mode: 'null_ip' } });
    await untilAnswered('a.toys.example', BLOCKED, CHILD);
  });

  test('lists', async () => {
    const source = await api.addSource({ name: 'ads', url: lists.url('/ads') });
    await untilAnswered('listed.example', BLOCKED);
    await api.expect(200, 'PUT', `/blocklist-sources/${source.id}`, { enabled: false });
    await untilAnswered('listed.example', EVERY_ADDRESS);
  });

  test('names and groups of clients, also after deletion and undo', async () => {
    const other = await there.api();
    const untilShown = (id: number, wanted: unknown): Promise<unknown> =>
      until(
        `client ${id} at the other node`,
        async () => {
          const { data } = await other.expect<{ data: { id: number; name: string; group_id: number }[] }>(
            200,
            'GET',
            '/clients?limit=1000',
          );
          return data.flatMap((one) => (one.id === id ? [`${one.name} ${one.group_id}`] : []))[0];
        },
        (shown) => shown === wanted,
        { pauseMs: POLL_MS },
      );
    const { id } = await made('/clients', { mac_address: '02:00:5e:10:00:07', name: 'tv', group_id: kids });
    await untilShown(id, `tv ${kids}`);
    const [named] = await api.expect<Revision[]>(200, 'GET', '/revisions');
    await api.expect(200, 'PATCH', `/clients/${id}`, { name: 'radio' });
    await untilShown(id, `radio ${kids}`);
    await api.expect(204, 'DELETE', `/clients/${id}`);
    await untilShown(id, undefined);
    await api.expect(200, 'POST', `/revisions/${named!.id}/rollback`);
    await untilShown(id, `tv ${kids}`);
    // The other node undoes the changes made here.
    await other.expect(200, 'POST', `/revisions/${named!.id - 1}/rollback`);
    await untilShown(id, undefined);
    expect(
      (await api.expect<{ data: { id: number }[] }>(200, 'GET', '/clients?limit=1000')).data,
    ).not.toContainEqual(expect.objectContaining({ id }));
  });

  test('a rollback of several changes, with its revision', async () => {
    const revisionOf = async (node: string): Promise<number | null> => {
      const nodes = await (await there.api()).expect<ClusterNode[]>(200, 'GET', '/nodes');
      return nodes.find((row) => row.node === node)!.policy_revision;
    };
    const [newest] = await api.expect<Revision[]>(200, 'GET', '/revisions');
    const before = newest!.id;
    await made('/managed-domains', { domain: 'one.undone.example' });
    await made('/managed-domains', { domain: 'two.undone.example' });
    await untilAnswered('two.undone.example', BLOCKED);
    await api.expect(200, 'POST', `/revisions/${before}/rollback`);
    await untilAnswered('one.undone.example', EVERY_ADDRESS);
    expect(await answerOf('two.undone.example')).toBe(EVERY_ADDRESS);
    await until(
      `a revision after ${before + 2} at the other node`,
      () => revisionOf('there'),
      (revision) => revision! > before + 2,
    );
  });
});

describe('a change sent with Prefer: wait', () => {
  /** Sends a change with `Prefer: wait`, so that the change is active on all nodes when the response arrives. */
  async function waited(method: string, path: string, body?: object): Promise<{ id: number }> {
    const answer = await fetch(`http://127.0.0.1:${here.webPort}/api${path}`, {
      method,
      headers: {
        'content-type': 'application/json',
        ...{ cookie: `svc_session=${api.session}`, prefer: 'wait=30' },
      },
      body: JSON.stringify(body ?? {}),
    });
    const { headers } = answer;
    expect([headers.get('preference-applied'), headers.get('weir-nodes-behind')]).toEqual(['wait=30', null]);
    const text = await answer.text();
    return text === '' ? { id: 0 } : (JSON.parse(text) as { id: number });
  }

  test('is active on all nodes when the response arrives', async () => {
    for (let change = 0; change < 10; change++) {
      const domain = `waited-${change}.example`;
      await waited('POST', '/managed-domains', { domain });
      expect(await answerOf(domain)).toBe(BLOCKED);
    }
  });

  test('is active on all nodes even if it creates no revision (grants, pauses of blocking)', async () => {
    await waited('POST', '/managed-domains', { domain: 'granted.example' });
    const { id } = await waited('POST', '/grants', { domain: 'granted.example', group_id: 1, secs: 3600 });
    expect(await answerOf('granted.example')).toBe(EVERY_ADDRESS);
    await waited('DELETE', `/grants/${id}`);
    expect(await answerOf('granted.example')).toBe(BLOCKED);
    await waited('POST', '/blocking', { enabled: false });
    expect(await answerOf('granted.example')).toBe(EVERY_ADDRESS);
    await waited('DELETE', '/blocking');
    expect(await answerOf('granted.example')).toBe(BLOCKED);
  });

  test('is active on all nodes even if it requires lists to be compiled', async () => {
    lists.serve('/waited', 'waited-list.example\n');
    const { id } = await api.addSource({ name: 'waited', url: lists.url('/waited') });
    await untilAnswered('waited-list.example', BLOCKED);
    expect(await answerOf('sub.waited-list.example')).toBe(EVERY_ADDRESS);
    await waited('PUT', `/blocklist-sources/${id}`, { subdomains: true });
    expect(await answerOf('sub.waited-list.example')).toBe(BLOCKED);
  });

  test('that revokes an API token is active on all nodes when the response arrives', async () => {
    const token = await api.expect<{ id: number; key: string }>(201, 'POST', '/api-tokens', { name: 'tv' });
    const asked = async (): Promise<number> => {
      const headers = { 'x-api-key': token.key };
      return (await fetch(`http://127.0.0.1:${there.webPort}/api/groups`, { headers })).status;
    };
    expect(await asked()).toBe(200);
    await waited('DELETE', `/api-tokens/${token.id}`);
    expect(await asked()).toBe(401);
  });
});

describe('an authorization created at one node', () => {
  test('for a session is valid at the other node until the session ends', async () => {
    const session = await ApiClient.signIn(here.webPort);
    const asked = (): Promise<number> =>
      statusOf(there, '/api/queries?limit=1', `svc_session=${session.session}`);
    expect(await asked()).toBe(200);
    const stream = new AbortController();
    const shown = await fetch(`http://127.0.0.1:${there.webPort}/api/queries/stream`, {
      headers: { cookie: `svc_session=${session.session}` },
      signal: stream.signal,
    });
    expect(shown.status).toBe(200);
    await session.expect(204, 'POST', '/auth/logout');
    // Resolves when the node ends the stream.
    await within('the end of the stream', shown.text());
    expect(await asked()).toBe(401);
  });

  test('for a token or a user is valid at the other node until it is revoked', async () => {
    const token = await api.expect<{ id: number; key: string }>(201, 'POST', '/api-tokens', {
      name: 'phone',
    });
    const asked = async (): Promise<number> => {
      const headers = { 'x-api-key': token.key };
      return (await fetch(`http://127.0.0.1:${there.webPort}/api/groups`, { headers })).status;
    };
    expect(await asked()).toBe(200);
    await api.expect(204, 'DELETE', `/api-tokens/${token.id}`);
    const isRefused = (status: number): boolean => status === 401;
    await until('the token to be refused', asked, isRefused, { pauseMs: POLL_MS });
    const password = 'a password of another user';
    const { id } = await made('/users', { username: 'vera', password });
    const login = (): Promise<HttpAnswer> =>
      httpCall('POST', `http://127.0.0.1:${there.webPort}/api/auth/login`, { username: 'vera', password });
    expect((await login()).status).toBe(200);
    await api.expect(200, 'PATCH', `/users/${id}`, { enabled: false });
    expect((await login()).status).toBe(401);
  });
});
