/**
 * The local network, over real sockets: names that Weir answers itself (records of the API, the configuration and DHCP
 * leases). Also private addresses in answers to public names, which are blocked except for local names.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { RRType, Rcode } from '../../../shared/dns/iana.ts';
import type { ExplainAnswer } from '../../../shared/api/explain-api.ts';
import type { LocalRecord } from '../../../shared/api/policy/local-records-api.ts';
import { a, idOf, octets, questionOf, response, u16 } from '../../support/dns/built-messages.ts';
import type { TestRecord } from '../../support/dns/built-messages.ts';
import { ScriptedUpstream } from '../../support/dns/scripted-upstream.ts';
import { until } from '../../support/parts/until.ts';
import type { ApiClient } from '../../support/weir/api-client.ts';
import { makeTempDir } from '../../support/weir/data-dir.ts';
import { askOverTcp, UdpClient } from '../../support/dns/dns-client.ts';
import type { Reply } from '../../support/dns/dns-message.ts';
import { answerTo, EVERY_ADDRESS, startEchoingUpstream } from '../../support/dns/echoing-upstream.ts';
import { Weir } from '../../support/weir/weir-process.ts';

const tempDir = makeTempDir();
const LEASES = join(tempDir.path, 'leases');
const CONFIG = `[dns]
local_domain = "home.example"
local_records = ["fixed.home.example 120 A 192.0.2.20"]
dhcp_leases = ["${LEASES}"]
rebinding_allowlist = ["plex.example"]
`;
const IN_2040_SECS = 2_208_988_800;
const QNAME = Uint8Array.of(0xc0, 12);
const EXPECTED_EDE = 15;

let upstream: ScriptedUpstream;
let weir: Weir;
let udp: UdpClient;
let api: ApiClient;
beforeAll(async () => {
  upstream = await startEchoingUpstream();
  upstream.udpScript = (query) => {
    const reply = answerTo(query.bytes);
    // The letter case of the name is random. The address is at the end of the reply.
    if (Buffer.from(query.bytes).toString('latin1').toLowerCase().includes('private'))
      reply.set([192, 168, 0, 9], reply.length - 4);
    query.reply(reply);
  };
  writeFileSync(LEASES, `${String(IN_2040_SECS)} 02:00:00:00:00:01 192.0.2.50 phone 01:02\n`);
  const upstreams = [`127.0.0.1:${String(upstream.port)}`];
  weir = await Weir.start({ upstreams, toml: CONFIG, env: { WEIR_SERVER_WORKERS: '1' } });
  udp = await UdpClient.open(weir.dnsPort);
  api = await weir.api();
});
afterAll(async () => {
  udp.close();
  const ended = await weir.stop();
  await upstream.close();
  tempDir.remove();
  expect(ended).toMatchObject({ code: 0 });
});

describe('weir with local records', () => {
  const create = (record: object): Promise<LocalRecord> =>
    api.expect<LocalRecord>(201, 'POST', '/local-records', record);

  const shown = (reply: Reply) => ({
    rcode: reply.rcode,
    aa: reply.message.flag_aa,
    data: reply.data,
    authority: (reply.message.authorities ?? []).map(({ type }) => type),
  });

  test('applies a local record as soon as it is stored, changed or deleted', async () => {
    const record = await create({ hostname: 'nas', ip: '192.0.2.5' });
    const own = { rcode: Rcode.NOERROR, aa: true, authority: [] };
    expect(shown(await udp.ask('nas.home.example', 'A'))).toEqual({ ...own, data: ['192.0.2.5'] });
    expect(shown(await askOverTcp(weir.dnsPort, 'NAS.home.example', 'A'))).toMatchObject({
      data: ['192.0.2.5'],
    });
    expect(shown(await udp.ask('5.2.0.192.in-addr.arpa', 'PTR'))).toEqual({
      ...own,
      data: ['nas.home.example'],
    });
    expect(shown(await udp.ask('nas.home.example', 'AAAA'))).toEqual({
      ...own,
      data: [],
      authority: ['SOA'],
    });
    const path = `/local-records/${String(record.id)}`;
    await api.expect(200, 'PUT', path, { ip: '192.0.2.6', ttl: 7 });
    expect((await udp.ask('nas.home.example', 'A')).answers).toMatchObject([{ data: '192.0.2.6', ttl: 7 }]);
    expect(shown(await udp.ask('5.2.0.192.in-addr.arpa', 'PTR'))).toMatchObject({ rcode: Rcode.NXDOMAIN });
    await api.expect(204, 'DELETE', path);
    expect(shown(await udp.ask('nas.home.example', 'A'))).toMatchObject({ aa: false, data: [EVERY_ADDRESS] });
  });

  test('rotates the addresses of an answer', async () => {
    for (const last of [1, 2, 3]) await create({ fqdn: 'many.example.org', ip: `192.0.2.${String(last)}` });
    const replies = [];
    for (let i = 0; i < 6; i++) replies.push(await udp.ask('many.example.org', 'A'));
    expect(new Set(replies.map(({ data }) => data[0])).size).toBe(3);
    expect(replies.map(({ data }) => [...data].sort())).toEqual(
      Array(6).fill(['192.0.2.1', '192.0.2.2', '192.0.2.3']),
    );
  });

  test('answers wildcards and empty non-terminals', async () => {
    await create({ hostname: '*', domain: 'lab.example', ip: '192.0.2.30' });
    await create({ hostname: 'text', domain: 'lab.example', record_type: 'TXT', value: 'here' });
    expect((await udp.ask('x.lab.example', 'A')).data).toEqual(['192.0.2.30']);
    expect((await udp.ask('y.x.lab.example', 'A')).data).toEqual(['192.0.2.30']);
    expect(shown(await udp.ask('text.lab.example', 'A'))).toMatchObject({ aa: true, data: [] });
    expect((await udp.ask('lab.example', 'A')).data).toEqual([EVERY_ADDRESS]);
  });

  test('truncates a long TXT record over UDP and sends all of it over TCP', async () => {
    const value = 'long '.repeat(1000);
    await create({ fqdn: 'long.example.org', record_type: 'TXT', value });
    const cut = await udp.ask('long.example.org', 'TXT', { edns: { udpSize: 4096 } });
    expect([cut.truncated, cut.data]).toEqual([true, []]);
    const [strings] = (await askOverTcp(weir.dnsPort, 'long.example.org', 'TXT')).data as Buffer[][];
    expect(Buffer.concat(strings!).toString()).toBe(value);
  });

  test('follows a local alias to a public name, does not filter the target, and logs the query as local', async () => {
    await create({ fqdn: 'alias.example.org', record_type: 'CNAME', value: 'middle.example.org' });
    await create({ fqdn: 'middle.example.org', record_type: 'CNAME', value: 'www.example.net' });
    for (const ask of [
      () => udp.ask('alias.example.org', 'A', { edns: {} }),
      () => udp.ask('alias.example.org', 'A'),
      () => askOverTcp(weir.dnsPort, 'alias.example.org', 'A'),
    ]) {
      const reply = await ask();
      expect(reply.answers.map(({ name, type, data }) => [name, type, data])).toEqual([
        ['alias.example.org', 'CNAME', 'middle.example.org'],
        ['middle.example.org', 'CNAME', 'www.example.net'],
        ['www.example.net', 'A', EVERY_ADDRESS],
      ]);
      expect(reply.message.flag_aa).toBe(true);
    }
    const nothing = await udp.ask('alias.example.org', 'AAAA');
    expect([nothing.rcode, nothing.answers.map(({ type }) => type)]).toEqual([
      Rcode.NOERROR,
      ['CNAME', 'CNAME'],
    ]);
    await api.untilQueryCount(4, 'domain=alias.example.org');
    const rows = await api.queries('domain=alias.example.org');
    expect(rows.map(({ status }) => status)).toEqual(Array(4).fill('LOCAL'));
    const deny = await api.expect<{ id: number }>(201, 'POST', '/managed-domains', {
      domain: 'www.example.net',
      action: 'deny',
    });
    // Policy applies to the name, not to the target of an alias that users have set.
    expect((await udp.ask('www.example.net', 'A')).data).toEqual(['0.0.0.0']);
    expect((await udp.ask('alias.example.org', 'A')).data.at(-1)).toBe(EVERY_ADDRESS);
    await api.expect(204, 'DELETE', `/managed-domains/${String(deny.id)}`);
  });

  test('blocks the private address of a public name that is the target of a local alias', async () => {
    await create({ fqdn: 'lure.example.org', record_type: 'CNAME', value: 'private.example.net' });
    const reply = await udp.ask('lure.example.org', 'A');
    expect(reply.answers.map(({ type }) => type)).toEqual(['CNAME']);
    await api.untilQueryCount(1, 'domain=lure.example.org');
    expect(await api.queries('domain=lure.example.org')).toMatchObject([{ status: 'BLOCKED_REBIND' }]);
  });

  test('answers and lists records of the configuration and names of DHCP leases', async () => {
    expect((await udp.ask('fixed.home.example', 'A')).answers).toMatchObject([
      { data: '192.0.2.20', ttl: 120 },
    ]);
    await until(
      'the address of a lease',
      async () => (await udp.ask('phone.home.example', 'A')).data[0],
      (address) => address === '192.0.2.50',
    );
    expect((await udp.ask('50.2.0.192.in-addr.arpa', 'PTR')).data).toEqual(['phone.home.example']);
    const list = await api.expect<LocalRecord[]>(200, 'GET', '/local-records');
    expect(list.filter(({ source }) => source !== 'api').map(({ source, fqdn }) => [source, fqdn])).toEqual([
      ['config', 'fixed.home.example'],
      ['dhcp', 'phone.home.example'],
    ]);
  });

  test('explains a local answer with its record', async () => {
    const path = '/explain?domain=fixed.home.example&type=A';
    const { status, stages, answer } = await api.expect<ExplainAnswer>(200, 'GET', path);
    const stage = stages.find(({ stage: name }) => name === 'local_names');
    expect(status).toBe('LOCAL');
    expect(stage).toMatchObject({
      verdict: 'answered',
      rules: [{ rule: 'fixed.home.example A 192.0.2.20', origin: 'local_record', source: 'config' }],
    });
    expect(answer?.answers).toMatchObject([{ data: '192.0.2.20' }]);
  });

  test('does not forward reserved names and reverse names of private addresses without a local record', async () => {
    expect((await udp.ask('localhost', 'A')).data).toEqual(['127.0.0.1']);
    for (const name of ['x.onion', 'x.home.arpa', 'use-application-dns.net', 'mask.icloud.com'])
      expect(shown(await udp.ask(name, 'A'))).toMatchObject({ rcode: Rcode.NXDOMAIN, authority: ['SOA'] });
    expect((await udp.ask('1.0.168.192.in-addr.arpa', 'PTR')).rcode).toBe(Rcode.NXDOMAIN);
    await create({ fqdn: 'router.home.arpa', ip: '192.168.0.1' });
    expect((await udp.ask('router.home.arpa', 'A')).data).toEqual(['192.168.0.1']);
    expect((await udp.ask('1.0.168.192.in-addr.arpa', 'PTR')).data).toEqual(['router.home.arpa']);
  });
});

/** An upstream that answers with the address in the first label, with dashes instead of dots: `10-0-0-1.example`. */
async function startSpellingUpstream(): Promise<ScriptedUpstream> {
  const upstream = await ScriptedUpstream.start();
  upstream.udpScript = (query) => {
    const { bytes } = query;
    const label = Buffer.from(bytes.subarray(13, 13 + bytes[12]!)).toString();
    const asked = questionOf(bytes);
    query.reply(response(asked, { id: idOf(bytes), answers: [recordOf(label, asked.qtype)] }));
  };
  return upstream;
}

function recordOf(label: string, type: number): TestRecord {
  if (type === RRType.A) return a(QNAME, label.replaceAll('-', '.'));
  const bytes = Uint8Array.from(Buffer.from(label, 'hex'));
  if (type === RRType.AAAA) return { owner: QNAME, type, ttl: 300, rdata: bytes };
  const hints = octets([0, 1, 0], u16(4), u16(4), label.split('-').map(Number));
  return { owner: QNAME, type, ttl: 300, rdata: hints };
}

describe('weir with rebinding protection', () => {
  let spelling: ScriptedUpstream;
  beforeAll(async () => {
    spelling = await startSpellingUpstream();
    const pools = [
      { name: 'spelling', strategy: 'Failover', servers: [`${spelling.ip}:${String(spelling.port)}`] },
    ];
    await api.expect(200, 'PATCH', '/config?force=true', { dns: { pools } });
  });
  afterAll(() => spelling.close());

  test.each([
    ['A', '10-1-2-3'],
    ['A', '127-0-0-1'],
    ['A', '0-0-0-0'],
    ['A', '169-254-1-1'],
    ['A', '172-31-255-255'],
    ['A', '192-168-0-1'],
    ['A', '100-64-0-1'],
    ['A', '239-1-2-3'],
    ['AAAA', '2002c0a8010100000000000000000001'],
    ['AAAA', 'ff020000000000000000000000000001'],
    ['AAAA', 'fd000000000000000000000000000001'],
    ['AAAA', 'fe800000000000000000000000000001'],
    ['AAAA', '00000000000000000000000000000001'],
    ['AAAA', '00000000000000000000000000000000'],
    ['AAAA', '00000000000000000000ffff0a000001'],
    ['AAAA', '0064ff9b0000000000000000c0a80001'],
    ['HTTPS', '192-168-0-1'],
  ] as const)('blocks %s %s, from the upstream and from the cache', async (type, label) => {
    const name = `${label}.rebind.example`;
    for (let round = 0; round < 2; round++) {
      const reply = await udp.ask(name, type, { edns: {} });
      expect(reply).toMatchObject({ rcode: Rcode.NOERROR, answers: [], extendedErrors: [EXPECTED_EDE] });
      expect(reply.authorities.map((record) => record.type)).toEqual(['SOA']);
    }
  });

  test('logs an answer blocked by rebinding protection as blocked', async () => {
    await udp.ask('10-7-7-7.logged.example', 'A');
    await udp.ask('10-7-7-7.logged.example', 'A');
    await api.untilQueryCount(2, 'domain=logged.example');
    const rows = await api.queries('domain=logged.example');
    expect(rows.map(({ status }) => status)).toEqual(['BLOCKED_REBIND', 'BLOCKED_REBIND']);
  });

  test.each([
    ['A', '172-32-0-1'],
    ['A', '192-169-0-1'],
    ['A', '100-128-0-1'],
    ['AAAA', '20010db8000000000000000000000001'],
    ['AAAA', '0064ff9b0000000000000000c0000201'],
    ['AAAA', '00000000000000000000ffffc0000201'],
    ['HTTPS', '192-0-2-1'],
  ] as const)('does not block %s %s', async (type, label) => {
    expect((await udp.ask(`${label}.public.example`, type)).answers).toHaveLength(1);
  });

  test('returns private addresses only for exempt or local names', async () => {
    const answers = async (name: string): Promise<number> => (await udp.ask(name, 'A')).answers.length;
    expect(await answers('10-0-0-1.plex.example')).toBe(1);
    expect(await answers('10-0-0-1.HOME.example')).toBe(1);
    expect(await answers('10-0-0-1.notplex.example')).toBe(0);
  });

  test('no longer returns cached answers of a forward zone once the zone is deleted', async () => {
    const servers = [`${spelling.ip}:${String(spelling.port)}`];
    const { id } = await api.expect<{ id: number }>(201, 'POST', '/forward-zones', {
      zone: 'vpn.example',
      servers,
    });
    expect((await udp.ask('10-0-0-9.vpn.example', 'A')).data).toEqual(['10.0.0.9']);
    await api.expect(204, 'DELETE', `/forward-zones/${String(id)}`);
    expect((await udp.ask('10-0-0-9.vpn.example', 'A')).data).toEqual([]);
  });

  test('explains a block by rebinding protection', async () => {
    for (let round = 0; round < 2; round++) {
      const path = '/explain?domain=10-0-0-2.rebind.example&type=A&client=127.0.0.1';
      const answer = await api.expect<ExplainAnswer>(200, 'GET', path);
      expect(answer).toMatchObject({ status: 'BLOCKED_REBIND', answer: { answers: [] } });
      expect(answer.stages.at(-1)).toMatchObject({ stage: 'rebinding', verdict: 'answered' });
    }
  });
});
