/**
 * Figures of the compatibility API for real queries, compared with figures of a running FTL; and how programs find the
 * API.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { CompatSummary } from '../../../shared/api/compat/compat-api.ts';
import type {
  CompatQueries,
  CompatTopDomains,
  CompatUpstreams,
} from '../../../shared/api/compat/compat-log-api.ts';
import { RRClass, rrTypeName } from '../../../shared/dns/iana.ts';
import { nameToText } from '../../../shared/dns/name.ts';
import { a, cname, questionOf, response, type TestRecord } from '../../support/dns/built-messages.ts';
import { UdpClient } from '../../support/dns/dns-client.ts';
import { answerTo } from '../../support/dns/echoing-upstream.ts';
import { ScriptedUpstream } from '../../support/dns/scripted-upstream.ts';
import { until } from '../../support/parts/until.ts';
import { httpCall } from '../../support/weir/http-call.ts';
import { Weir } from '../../support/weir/weir-process.ts';

const TEXT: TestRecord = { owner: 'text.example', type: 'TXT', ttl: 60, rdata: Uint8Array.of(2, 104, 105) };
const LONG_TEXT = Uint8Array.from([255, ...Buffer.alloc(255, 'x')]);
const ANSWERS: Readonly<Record<string, readonly TestRecord[]>> = {
  'text.example TXT': [TEXT],
  // A record that is too long for a log record.
  'long.example TXT': [{ ...TEXT, owner: 'long.example', rdata: LONG_TEXT }],
  'alias.example A': [cname('alias.example', 'host.example'), a('host.example', '192.0.2.9')],
  'to-regex.example A': [cname('to-regex.example', 'tracker.example'), a('tracker.example', '192.0.2.9')],
  'to-deny.example A': [cname('to-deny.example', 'denied.example'), a('denied.example', '192.0.2.9')],
};

/** Each question, with the status and the reply type of its row. */
const ROWS = [
  ['plain.example', 'A', 'FORWARDED', 'IP'],
  ['plain.example', 'HTTPS', 'FORWARDED', 'NODATA'],
  ['text.example', 'TXT', 'FORWARDED', 'BLOB'],
  ['long.example', 'TXT', 'FORWARDED', 'BLOB'],
  ['alias.example', 'A', 'FORWARDED', 'CNAME'],
  ['denied.example', 'A', 'DENYLIST', 'IP'],
  ['denied.example', 'HTTPS', 'DENYLIST', 'NODATA'],
  ['to-regex.example', 'A', 'REGEX_CNAME', 'IP'],
  ['to-deny.example', 'A', 'DENYLIST_CNAME', 'IP'],
  ['1.0.0.10.in-addr.arpa', 'PTR', 'CACHE', 'NXDOMAIN'],
  ['use-application-dns.net', 'A', 'SPECIAL_DOMAIN', 'NXDOMAIN'],
  ['mask.icloud.com', 'A', 'SPECIAL_DOMAIN', 'NXDOMAIN'],
  ['_dns.resolver.arpa', 'SVCB', 'SPECIAL_DOMAIN', 'NODATA'],
] as const;

/** Names that are queried twice, the second time from the cache. */
const ASKED_TWICE = ['plain.example', 'alias.example'] as const;

let upstream: ScriptedUpstream;
let weir: Weir;
let udp: UdpClient;
let sid: string;
beforeAll(async () => {
  upstream = await ScriptedUpstream.start();
  upstream.udpScript = (query) => {
    const asked = questionOf(query.bytes);
    const answers = ANSWERS[`${nameToText(asked.qname).toLowerCase()} ${rrTypeName(asked.qtype)}`];
    const id = (query.bytes[0]! << 8) | query.bytes[1]!;
    query.reply(answers === undefined ? answerTo(query.bytes) : response(asked, { id, answers }));
  };
  upstream.tcpScript = upstream.udpScript;
  weir = await Weir.start({ upstreams: [`127.0.0.1:${String(upstream.port)}`], altCompat: true });
  udp = await UdpClient.open(weir.dnsPort);
  const api = await weir.api();
  sid = api.session;
  const rule = { action: 'deny' } as const;
  await api.expect(201, 'POST', '/managed-domains', { ...rule, name: 'Denied', domain: 'denied.example' });
  await api.expect(201, 'POST', '/regex-filters', { ...rule, name: 'Tracker', pattern: '^tracker' });
  for (const [name, type] of ROWS) await udp.ask(name, type, { edns: {} });
  for (const name of ASKED_TWICE) await udp.ask(name, 'A');
});
afterAll(async () => {
  udp.close();
  const ended = await weir.stop();
  await upstream.close();
  expect(ended).toMatchObject({ code: 0 });
});

const ASKED = ROWS.length + ASKED_TWICE.length;

async function read<Body>(path: string): Promise<Body> {
  const url = `http://127.0.0.1:${String(weir.webPort)}/api/${path}`;
  const { status, text } = await httpCall('GET', url, undefined, `sid=${sid}`);
  if (status !== 200) throw new Error(`GET ${path}: status ${String(status)}: ${text}`);
  return JSON.parse(text) as Body;
}

function allRows(): Promise<CompatQueries> {
  return until(
    'the rows of all questions',
    () => read<CompatQueries>('queries?length=-1'),
    ({ recordsTotal }) => recordsTotal === ASKED,
  );
}

describe('the compatibility API of a running node', () => {
  test('shows the same status and reply for each query as FTL', async () => {
    const { queries } = await allRows();
    const shown = queries.map(({ domain, type, status, reply }) => [domain, type, status, reply.type]);
    const cached = ASKED_TWICE.map((name) => [name, 'A', 'CACHE', name === 'plain.example' ? 'IP' : 'CNAME']);
    expect(shown.sort()).toEqual([...ROWS.map((row) => [...row]), ...cached].sort());
    const byName = new Map(queries.map((row) => [row.domain, row]));
    expect(byName.get('to-regex.example')).toMatchObject({ cname: 'tracker.example', list_id: 1 });
    expect(byName.get('to-deny.example')).toMatchObject({ cname: 'denied.example', list_id: 1 });
    expect(byName.get('use-application-dns.net')).toMatchObject({ ede: { code: 15, text: 'blocked' } });
  });

  test('counts the same queries in all statistics', async () => {
    const { queries } = await allRows();
    const { queries: sums } = await read<CompatSummary>('stats/summary');
    const tally = (of: (row: (typeof queries)[number]) => string): Record<string, number> =>
      Object.fromEntries([...Map.groupBy(queries, of)].map(([key, rows]) => [key, rows.length]));
    const positive = (counts: Record<string, number>): Record<string, number> =>
      Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== 0));
    expect(positive(sums.status)).toEqual(tally(({ status }) => status));
    expect(positive(sums.replies)).toEqual(tally(({ reply }) => reply.type));
    expect([sums.total, sums.blocked, sums.cached]).toEqual([ASKED, 7, 3]);
    for (const kind of Object.keys(positive(sums.replies))) {
      const { recordsFiltered } = await read<CompatQueries>(`queries?reply=${kind}`);
      expect([kind, recordsFiltered]).toEqual([kind, sums.replies[kind as keyof typeof sums.replies]]);
    }
    const { upstreams, forwarded_queries: forwarded } = await read<CompatUpstreams>('stats/upstreams');
    expect(upstreams.reduce((sum, { count }) => sum + count, 0)).toBeLessThanOrEqual(ASKED);
    expect(forwarded).toBe(queries.filter(({ status }) => status === 'FORWARDED').length);
    const { domains } = await read<CompatTopDomains>('stats/top_domains?blocked=true&count=100');
    const top = Object.fromEntries(domains.map(({ domain, count }) => [domain, count]));
    expect(top).toMatchObject({ 'denied.example': 3, 'tracker.example': 1, 'mask.icloud.com': 1 });
    expect(Object.keys(top).filter((name) => name.startsWith('to-') || name.endsWith('.arpa'))).toEqual([
      '_dns.resolver.arpa',
    ]);
    const { blocked } = await read<{ blocked: string[] }>('stats/recent_blocked');
    expect(blocked).toEqual(['_dns.resolver.arpa']);
  });

  test("accepts the host name pi.hole, and answers PADD's DNS query for its location", async () => {
    expect((await udp.ask('pi.hole', 'A')).data).toEqual(['127.0.0.1']);
    const text = await udp.ask('local.api.ftl', 'TXT', { qclass: RRClass.CH });
    expect(text.data.map(String)).toEqual([`http://127.0.0.1:${String(weir.webPort)}/api/`]);
  });
});
