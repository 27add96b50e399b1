/**
 * The contract's decision order over real sockets: each client sends the query of each row of `decision-table.ts`; the
 * test compares the reply, the query log and the result of `explain`.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ExplainAnswer } from '../../../shared/api/explain-api.ts';
import type { LoggedQuery } from '../../../shared/api/query-log-api.ts';
import { Rcode } from '../../../shared/dns/iana.ts';
import { a, cname, questionOf, response, wireName } from '../../support/dns/built-messages.ts';
import { ScriptedUpstream } from '../../support/dns/scripted-upstream.ts';
import { until } from '../../support/parts/until.ts';
import type { ApiClient } from '../../support/weir/api-client.ts';
import {
  ALLOW_LIST,
  CLIENTS,
  CLIENT_NAMES,
  DECISIONS,
  GLOBAL_LIST,
  KIDS_LIST,
  MANAGED,
  REGEXES,
} from '../../support/weir/decision-table.ts';
import type { ClientName, DecisionRow, Outcome } from '../../support/weir/decision-table.ts';
import { UdpClient } from '../../support/dns/dns-client.ts';
import type { Reply } from '../../support/dns/dns-message.ts';
import { EVERY_ADDRESS, answerTo } from '../../support/dns/echoing-upstream.ts';
import { startListServer } from '../../support/weir/list-server.ts';
import type { ListServer } from '../../support/weir/list-server.ts';
import { Weir } from '../../support/weir/weir-process.ts';

const ZONE_ADDRESS = '192.0.2.88';
const TTL_SECS = 3600;

/** Answers of the upstream for names that have more than an address record. */
const SPECIAL_ANSWERS: Readonly<Record<string, readonly ReturnType<typeof a>[]>> = {
  'cloaked.example.org': [
    cname('cloaked.example.org', 'x.cloak.example.net', TTL_SECS),
    a('x.cloak.example.net', EVERY_ADDRESS, TTL_SECS),
  ],
  'to-games.example.org': [
    cname('to-games.example.org', 'play.games.example.com', TTL_SECS),
    a('play.games.example.com', EVERY_ADDRESS, TTL_SECS),
  ],
  'rebind.example.org': [a('rebind.example.org', '192.168.7.7', TTL_SECS)],
};
const SPECIAL_BY_WIRE = new Map(
  Object.entries(SPECIAL_ANSWERS).map(([name, records]) => [
    Buffer.from(wireName(name)).toString('latin1'),
    records,
  ]),
);

async function startUpstream(): Promise<ScriptedUpstream> {
  const upstream = await ScriptedUpstream.start();
  upstream.udpScript = (query) => {
    const asked = questionOf(query.bytes);
    const records = SPECIAL_BY_WIRE.get(Buffer.from(asked.qname).toString('latin1').toLowerCase());
    const id = (query.bytes[0]! << 8) | query.bytes[1]!;
    query.reply(records === undefined ? answerTo(query.bytes) : response(asked, { id, answers: records }));
  };
  upstream.tcpScript = upstream.udpScript;
  return upstream;
}

async function startZoneServer(): Promise<ScriptedUpstream> {
  const server = await ScriptedUpstream.start();
  server.udpScript = (query) => {
    const asked = questionOf(query.bytes);
    const id = (query.bytes[0]! << 8) | query.bytes[1]!;
    query.reply(response(asked, { id, answers: [a(asked.qname, ZONE_ADDRESS, TTL_SECS)] }));
  };
  return server;
}

/** Creates the policy of the table; resolves when the whole policy is active. */
async function makePolicy(api: ApiClient, lists: ListServer, zoneServer: ScriptedUpstream): Promise<void> {
  const groups: Record<string, number> = {};
  for (const name of ['kids', 'work', 'night', 'free', 'gone']) {
    const { id } = await api.createGroup(name);
    groups[name] = id;
  }
  const add = (path: string, body: object): Promise<{ id: number }> => api.expect(201, 'POST', path, body);
  await add('/clients', { ip_address: CLIENTS.kid, group_id: groups['kids'] });
  await add('/clients', { ip_address: CLIENTS.ghost, group_id: groups['gone'] });
  await add('/client-subnets', { subnet_cidr: '127.0.1.0/24', group_id: groups['work'] });
  await add('/client-subnets', { subnet_cidr: '127.0.2.0/24', group_id: groups['night'] });
  await add('/client-subnets', { subnet_cidr: '127.0.2.128/25', group_id: groups['free'] });
  await api.expect(200, 'PUT', `/groups/${String(groups['gone'])}`, { name: 'gone', enabled: false });
  lists.serve('/global', GLOBAL_LIST);
  lists.serve('/kids', KIDS_LIST);
  lists.serve('/allow', ALLOW_LIST);
  await api.addSource({ name: 'global', url: lists.url('/global') });
  await api.addSource({ name: 'kids list', url: lists.url('/kids'), group_ids: [groups['kids']!] });
  const { id: allowId } = await add('/allowlist-sources', { name: 'allow', url: lists.url('/allow') });
  await until(
    'the allowlist to be active',
    () => api.expect<{ status: string }>(200, 'GET', `/allowlist-sources/${String(allowId)}`),
    ({ status }) => status === 'ok',
    { pauseMs: 50 },
  );
  for (const [name, domain, action, group] of MANAGED)
    await add('/managed-domains', { name, domain, action, group_id: group === null ? null : groups[group] });
  for (const [name, pattern, action, group] of REGEXES)
    await add('/regex-filters', { name, pattern, action, group_id: group === null ? null : groups[group] });
  const games = await api.expect<{ service_id: string }>(201, 'POST', '/services/custom', {
    name: 'Games',
    category: 'gambling',
    domains: ['games.example.com'],
  });
  await add('/services', { service_id: games.service_id, group_id: groups['kids'] });
  for (const [group, profileName, action] of [
    ['night', 'bedtime', 'block_all'],
    ['free', 'holidays', 'allow_all'],
  ] as const) {
    const profile = await add('/schedule-profiles', { name: profileName, timezone: 'UTC', comment: '' });
    const slot = { days: 127, start_time: '00:00', end_time: '24:00', action };
    await add(`/schedule-profiles/${String(profile.id)}/slots`, slot);
    await api.expect(200, 'PUT', `/groups/${String(groups[group])}/schedule`, { profile_id: profile.id });
  }
  for (const [hostname, domain, value] of [
    ['local-ads', 'example.com', '192.0.2.20'],
    ['local', 'games.example.com', '192.0.2.21'],
    ['*', 'apps.example.org', '192.0.2.22'],
  ])
    await add('/local-records', { hostname, domain, record_type: 'A', value });
  await add('/forward-zones', {
    zone: 'corp.example.net',
    servers: [`127.0.0.1:${String(zoneServer.port)}`],
    comment: '',
    enabled: true,
  });
  if (process.env['NOSAFE'] === undefined)
    await api.expect(200, 'POST', `/safe-search/configs/${String(groups['kids'])}`, {
      engine: 'google',
      enabled: true,
    });
}

interface ExpectedOutcome {
  readonly rcode: number;
  readonly data: readonly string[];
  readonly statuses: readonly string[];
  readonly blockSource: string | null;
}

/** Expected reply and log row. */
function outcomeFor(outcome: Outcome, { type }: DecisionRow): ExpectedOutcome {
  const [kind, what = ''] = outcome.split(/:(.*)/s) as [string, string?];
  const unusable = type === 'A' ? ['0.0.0.0'] : type === 'AAAA' ? ['::'] : [];
  const noError = (
    statuses: string[],
    data: readonly string[],
    blockSource: string | null = null,
  ): ExpectedOutcome => ({
    rcode: Rcode.NOERROR,
    data,
    statuses,
    blockSource,
  });
  switch (kind) {
    case 'resolved':
      return noError(['ALLOWED', 'CACHED'], [EVERY_ADDRESS]);
    case 'nodata':
      return noError(['ALLOWED', 'CACHED'], []);
    case 'zone':
      return noError(['ALLOWED', 'CACHED'], [ZONE_ADDRESS]);
    case 'local':
      return noError(['LOCAL'], [what]);
    case 'safe':
      return noError(['SAFE_SEARCH'], what === '' ? [] : [what, EVERY_ADDRESS]);
    case 'leads':
      return noError(['ALLOWED', 'CACHED'], [what, EVERY_ADDRESS]);
    case 'address':
      return noError(['ALLOWED', 'CACHED'], [what]);
    case 'rebind':
      return noError(['BLOCKED_REBIND'], []);
    case 'refused':
      return { rcode: Rcode.REFUSED, data: [], statuses: ['REFUSED'], blockSource: null };
    case 'private':
      return { rcode: Rcode.NXDOMAIN, data: [], statuses: ['BLOCKED_PTR'], blockSource: null };
    case 'service':
      return { rcode: Rcode.NXDOMAIN, data: [], statuses: ['BLOCKED_SERVICE'], blockSource: what };
    case 'cnamenx':
      return { rcode: Rcode.NXDOMAIN, data: [], statuses: ['BLOCKED_CNAME'], blockSource: what };
    case 'listnx':
      return { rcode: Rcode.NXDOMAIN, data: [], statuses: ['BLOCKED_LIST'], blockSource: what };
    default:
      return noError([`BLOCKED_${kind.toUpperCase()}`], unusable, what);
  }
}

const CELLS = DECISIONS.flatMap((row) =>
  CLIENT_NAMES.map((client, index) => ({ row, client, outcome: row.outcomes[index]! })),
);

describe('the order of policy decisions', () => {
  let upstream: ScriptedUpstream;
  let zoneServer: ScriptedUpstream;
  let lists: ListServer;
  let weir: Weir;
  let api: ApiClient;
  const sockets = new Map<ClientName, UdpClient>();
  let logged: LoggedQuery[];
  const replies = new Map<string, Reply>();
  const keyOf = (client: ClientName, { name, type }: DecisionRow): string => `${client} ${name} ${type}`;

  beforeAll(async () => {
    upstream = await startUpstream();
    zoneServer = await startZoneServer();
    lists = await startListServer();
    weir = await Weir.start({ upstreams: [`127.0.0.1:${String(upstream.port)}`] });
    api = await weir.api();
    await makePolicy(api, lists, zoneServer);
    for (const name of CLIENT_NAMES)
      sockets.set(name, await UdpClient.open(weir.dnsPort, '127.0.0.1', CLIENTS[name]));
    for (const { row, client } of CELLS)
      replies.set(keyOf(client, row), await sockets.get(client)!.ask(row.name, row.type, { edns: {} }));
    await api.untilQueryCount(CELLS.length);
    logged = await api.queries();
  });
  afterAll(async () => {
    for (const socket of sockets.values()) socket.close();
    await weir.stop();
    await lists.close();
    await upstream.close();
    await zoneServer.close();
  });

  test('is covered by a table of at least 120 rows', () => {
    expect(CELLS.length).toBeGreaterThanOrEqual(120);
  });

  test.each(DECISIONS.map((row) => [`${row.why} (${row.name} ${row.type})`, row] as const))(
    'weir decides: %s',
    async (_title, row) => {
      for (const [index, client] of CLIENT_NAMES.entries()) {
        const reported = outcomeFor(row.outcomes[index]!, row);
        const reply = replies.get(keyOf(client, row))!;
        const rows = logged.filter(
          (query) => query.client === CLIENTS[client] && query.domain === row.name && query.type === row.type,
        );
        expect({
          client,
          rcode: reply.rcode,
          data: reply.data,
          count: rows.length,
          blockSource: rows[0]?.block_source,
        }).toEqual({
          client,
          rcode: reported.rcode,
          data: reported.data,
          count: 1,
          blockSource: reported.blockSource,
        });
        expect(reported.statuses).toContain(rows[0]?.status);
        const question = `domain=${row.name}&type=${row.type}&client=${CLIENTS[client]}`;
        const explained = await api.expect<ExplainAnswer>(200, 'GET', `/explain?${question}`);
        expect({ client, source: explained.decided_by?.source ?? null }).toEqual({
          client,
          source: reported.blockSource,
        });
        expect(reported.statuses).toContain(explained.status);
        expect(explained.answer?.answers.map(({ data }) => data)).toEqual(reported.data);
      }
    },
  );

  test('weir with blocking disabled still answers local names and refuses the same queries as before', async () => {
    await api.expect(200, 'POST', '/blocking', { enabled: false, timer_secs: null });
    for (const { row, client, outcome } of CELLS) {
      const { rcode, data } = outcomeFor(outcome, row);
      const reply = await sockets.get(client)!.ask(row.name, row.type, { edns: {} });
      const kind = outcome.split(':')[0]!;
      if (['local', 'refused', 'private', 'zone', 'nodata', 'resolved', 'leads'].includes(kind))
        expect({ name: row.name, rcode: reply.rcode, data: reply.data }).toEqual({
          name: row.name,
          rcode,
          data,
        });
      if (
        ['list', 'listnx', 'managed', 'regex', 'service', 'cname', 'cnamenx'].includes(kind) &&
        row.type === 'A'
      )
        expect({ name: row.name, data: reply.data.at(-1) }).toEqual({ name: row.name, data: EVERY_ADDRESS });
    }
    await api.expect(200, 'POST', '/blocking', { enabled: true, timer_secs: null });
    const blocked = await sockets.get('guest')!.ask('ads.example.com', 'A');
    expect(blocked.data).toEqual(['0.0.0.0']);
  });
});
