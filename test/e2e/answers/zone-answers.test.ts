/**
 * Forward zones: which server gets the queries for a name, which part of its answer is trusted, and that changes take
 * effect immediately.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Health } from '../../../shared/api/system-api.ts';
import type { UpstreamDetail, UpstreamHealth } from '../../../shared/api/upstreams-api.ts';
import { Rcode, RRType } from '../../../shared/dns/iana.ts';
import { nameToText } from '../../../shared/dns/name.ts';
import { a, cname, idOf, questionOf, response } from '../../support/dns/built-messages.ts';
import type { TestRecord } from '../../support/dns/built-messages.ts';
import { ScriptedUpstream } from '../../support/dns/scripted-upstream.ts';
import { until } from '../../support/parts/until.ts';
import type { ApiClient } from '../../support/weir/api-client.ts';
import { UdpClient } from '../../support/dns/dns-client.ts';
import { EVERY_ADDRESS, startEchoingUpstream } from '../../support/dns/echoing-upstream.ts';
import { Weir } from '../../support/weir/weir-process.ts';

const QNAME = Uint8Array.of(0xc0, 12);
/** Forged address for a name that is not in the zone of its server. */
const FORGED = '203.0.113.66';

/** Starts a server that gives the same answer to every address query. */
async function startServer(...answers: TestRecord[]): Promise<ScriptedUpstream> {
  const server = await ScriptedUpstream.start();
  server.udpScript = (query) =>
    query.reply(response(questionOf(query.bytes), { id: idOf(query.bytes), answers }));
  return server;
}

/** Starts a server that answers a question with the record for its name, or with REFUSED if there is none. */
async function startNamedServer(records: Record<string, TestRecord>): Promise<ScriptedUpstream> {
  const server = await ScriptedUpstream.start();
  server.udpScript = (query) => {
    const question = questionOf(query.bytes);
    const record = records[nameToText(question.qname).toLowerCase()];
    const found = record === undefined ? { flags: 0x8185 } : { flags: 0x8400, answers: [record] };
    query.reply(response(question, { id: idOf(query.bytes), ...found }));
  };
  return server;
}

describe('weir with health checks of the servers of forward zones', () => {
  test('lists forward zones with the pools as soon as they exist, and remains healthy', async () => {
    await using pool = await startEchoingUpstream();
    await using well = await startServer(a(QNAME, '10.0.0.1'));
    const dead = '127.0.0.1:9';
    const toml = '[dns.health_check]\ninterval_secs = 1\nfailure_threshold = 2';
    await using weir = await Weir.start({ upstreams: [addressOf(pool)], toml });
    const api = await weir.api();
    const detail = (): Promise<UpstreamDetail[]> => api.expect(200, 'GET', '/upstream/health/detail');
    const zoneLines = async (): Promise<UpstreamDetail[]> =>
      (await detail()).filter(({ kind }) => kind === 'forward_zone');
    const create = async (zone: string, server: string): Promise<string> => {
      const { id } = await api.expect<{ id: number }>(201, 'POST', '/forward-zones', {
        zone,
        servers: [server],
      });
      return `/forward-zones/${String(id)}`;
    };
    const paths = [await create('well.example', addressOf(well))];
    expect(await zoneLines()).toMatchObject([
      { address: addressOf(well), pool_name: 'well.example', protocol: 'udp', strategy: 'Parallel' },
    ]);
    paths.push(await create('dead.example', dead), await create('shared.example', addressOf(pool)));
    await until(
      'the state of every server',
      detail,
      (servers) => servers.every(({ status }) => status !== 'Unknown'),
      { pauseMs: 20 },
    );
    expect((await zoneLines()).map(({ pool_name, status }) => [pool_name, status])).toEqual([
      ['well.example', 'Healthy'],
      ['dead.example', 'Unhealthy'],
      ['shared.example', 'Healthy'],
    ]);
    // Each probe of a zone queries a name in the zone.
    const probed = well.udpQueries.map(({ bytes }) => questionOf(bytes));
    expect(new Set(probed.map(({ qtype }) => qtype))).toEqual(new Set([RRType.SOA]));
    const health = await api.expect<UpstreamHealth>(200, 'GET', '/upstream/health');
    expect(health).toEqual({
      [addressOf(pool)]: 'Healthy',
      [addressOf(well)]: 'Healthy',
      [dead]: 'Unhealthy',
    });
    expect(await api.expect<Health>(200, 'GET', '/health')).toMatchObject({
      status: 'ok',
      checks: {
        upstreams: { status: 'ok', detail: `forward zones: unhealthy: ${dead} of dead.example` },
      },
    });
    const udp = await UdpClient.open(weir.dnsPort);
    expect((await udp.ask('www.well.example', 'A')).data).toEqual(['10.0.0.1']);
    udp.close();
    await until(
      'a query at the server of a zone',
      zoneLines,
      (lines) => lines.some(({ queries }) => queries > 0),
      { pauseMs: 20 },
    );
    const lines = await detail();
    expect(lines.filter(({ queries }) => queries > 0).map((line) => line.pool_name)).toEqual([
      'well.example',
    ]);
    expect(lines.filter(({ address }) => address === addressOf(pool)).map(({ kind }) => kind)).toEqual([
      'pool',
      'forward_zone',
    ]);
    for (const path of paths) await api.expect(204, 'DELETE', path);
    expect(await zoneLines()).toEqual([]);
  });
});

describe('weir with forward zones', () => {
  let pool: ScriptedUpstream;
  let weir: Weir;
  let udp: UdpClient;
  let api: ApiClient;
  beforeAll(async () => {
    pool = await startEchoingUpstream();
    weir = await Weir.start({ upstreams: [addressOf(pool)] });
    udp = await UdpClient.open(weir.dnsPort);
    api = await weir.api();
  });
  afterAll(async () => {
    udp.close();
    await pool.close();
    expect(await weir.stop()).toMatchObject({ code: 0 });
  });

  const create = async (zone: string, server: { ip: string; port: number }): Promise<string> => {
    const servers = [addressOf(server)];
    const { id } = await api.expect<{ id: number }>(201, 'POST', '/forward-zones', { zone, servers });
    return `/forward-zones/${String(id)}`;
  };
  const addressFor = async (name: string): Promise<unknown> => (await udp.ask(name, 'A')).data.at(-1);

  test('queries the servers of the forward zone with the longest name, and the pools for other names', async () => {
    await using wide = await startServer(a(QNAME, '10.0.0.1'));
    await using narrow = await startServer(a(QNAME, '10.0.0.2'));
    const zones = [await create('corp.example', wide), await create('lab.corp.example', narrow)];
    const names = ['corp.example', 'a.corp.example', 'lab.corp.example', 'x.y.LAB.corp.example'];
    const expected = ['10.0.0.1', '10.0.0.1', '10.0.0.2', '10.0.0.2'];
    // The second answer comes from the cache.
    for (let round = 0; round < 2; round++)
      expect(await Promise.all(names.map(addressFor))).toEqual(expected);
    expect(await addressFor('notcorp.example')).toBe(EVERY_ADDRESS);
    expect(asked(wide) + asked(narrow)).toBe(names.length);
    await api.untilQueryCount(2, 'domain=y.lab.corp.example');
    const [row] = await api.queries('domain=y.lab.corp.example');
    expect(row).toMatchObject({ status: 'CACHED', upstream: addressOf(narrow) });
    for (const path of zones) await api.expect(204, 'DELETE', path);
  });

  test('answers names of a forward zone without servers itself, and never forwards them', async () => {
    await using office = await startServer(a(QNAME, '10.0.0.3'));
    const { id } = await api.expect<{ id: number }>(201, 'POST', '/forward-zones', {
      zone: 'own.example',
      servers: [],
    });
    const officePath = await create('office.own.example', office);
    const record = { fqdn: 'nas.lab.own.example', record_type: 'A', value: '10.0.0.4' };
    const { id: recordId } = await api.expect<{ id: number }>(201, 'POST', '/local-records', record);
    const alias = { fqdn: 'alias.example', record_type: 'CNAME', value: 'gone.own.example' };
    const { id: aliasId } = await api.expect<{ id: number }>(201, 'POST', '/local-records', alias);
    const before = pool.udpQueries.length;
    await api.expect(200, 'POST', '/blocking', { enabled: false });
    for (const name of ['a.own.example', 'x.y.own.example', '_acme-challenge.nas.lab.own.example'])
      for (const type of ['A', 'AAAA', 'TXT'] as const)
        expect([name, type, (await udp.ask(name, type)).rcode]).toEqual([name, type, Rcode.NXDOMAIN]);
    expect((await udp.ask('a.own.example', 'DS')).rcode).toBe(Rcode.NXDOMAIN);
    expect(await addressFor('nas.lab.own.example')).toBe('10.0.0.4');
    // The first name has a record; the second and third names exist because they are its parents.
    for (const name of ['nas.lab.own.example', 'lab.own.example', 'own.example'])
      expect(await udp.ask(name, 'TXT')).toMatchObject({ rcode: Rcode.NOERROR, data: [] });
    expect(await addressFor('pc.office.own.example')).toBe('10.0.0.3');
    expect((await udp.ask('alias.example', 'A')).rcode).toBe(Rcode.NXDOMAIN);
    expect(pool.udpQueries.length).toBe(before);
    await udp.ask('own.example', 'DS');
    expect(pool.udpQueries.length).toBe(before + 1);
    await api.expect(200, 'POST', '/blocking', { enabled: true });
    await api.untilQueryCount(1, 'domain=a.own.example');
    const explained = await api.expect<{ stages: { stage: string }[]; status: string }>(
      200,
      'GET',
      '/explain?domain=a.own.example&type=A&client=127.0.0.1',
    );
    expect(explained.status).toBe('LOCAL');
    expect(explained.stages.at(-1)).toMatchObject({
      stage: 'special_names',
      verdict: 'answered',
      detail: 'zone own.example',
    });
    const [row] = await api.queries('domain=a.own.example');
    expect(row).toMatchObject({ status: 'LOCAL' });
    for (const path of [
      `/forward-zones/${id}`,
      officePath,
      `/local-records/${recordId}`,
      `/local-records/${aliasId}`,
    ])
      await api.expect(204, 'DELETE', path);
    expect(await addressFor('a.own.example')).toBe(EVERY_ADDRESS);
  });

  test('switches to new zone servers immediately, and never returns an answer of the previous server', async () => {
    await using first = await startServer(a(QNAME, '10.0.1.1', 3600));
    await using second = await startServer(a(QNAME, '10.0.1.2', 3600));
    const name = 'host.moving.example';
    expect(await addressFor(name)).toBe(EVERY_ADDRESS);
    const path = await create('moving.example', first);
    expect(await addressFor(name)).toBe('10.0.1.1');
    await api.expect(200, 'PUT', path, { servers: [addressOf(second)] });
    expect(await addressFor(name)).toBe('10.0.1.2');
    await api.expect(200, 'PUT', path, { enabled: false });
    expect(await addressFor(name)).toBe(EVERY_ADDRESS);
    await api.expect(200, 'PUT', path, { enabled: true });
    expect(await addressFor(name)).toBe('10.0.1.2');
    await api.expect(204, 'DELETE', path);
    expect(await addressFor(name)).toBe(EVERY_ADDRESS);
  });

  test('ignores records of names outside the forward zone of a server', async () => {
    const claims = [cname('trap.liar.example', 'bank.example'), a('bank.example', FORGED, 86_400)];
    await using liar = await startServer(...claims);
    const path = await create('liar.example', liar);
    expect((await udp.ask('trap.liar.example', 'A')).data).toEqual(['bank.example', FORGED]);
    expect(await addressFor('bank.example')).toBe(EVERY_ADDRESS);
    await api.expect(204, 'DELETE', path);
    expect(await addressFor('bank.example')).toBe(EVERY_ADDRESS);
  });

  test('sends a waiting query to the pools if its forward zone is deleted', async () => {
    await using silent = await ScriptedUpstream.start();
    const path = await create('silent.example', silent);
    const answer = udp.ask('www.silent.example', 'A');
    await until('the question at the server of the zone', () => asked(silent));
    await api.expect(204, 'DELETE', path);
    expect((await answer).data).toEqual([EVERY_ADDRESS]);
  });

  test('answers SERVFAIL without querying the pools if no server of the forward zone answers', async () => {
    const dead = { ip: '127.0.0.1', port: 9 };
    const path = await create('dead.example', dead);
    const before = asked(pool);
    expect((await udp.ask('www.dead.example', 'A')).rcode).toBe(Rcode.SERVFAIL);
    expect(asked(pool)).toBe(before);
    await api.expect(204, 'DELETE', path);
  });

  test('queries the local DNS server for the local domain and private addresses as soon as it is set', async () => {
    await using local = await startServer(a(QNAME, '10.0.3.1'));
    await using made = await startServer(a(QNAME, '10.0.3.2'));
    const set = { local_domain: 'lan.test-home.example', local_dns_server: addressOf(local) };
    expect(await api.expect(200, 'PUT', '/settings', set)).toMatchObject(set);
    const path = await create('made.lan.test-home.example', made);
    expect(await addressFor('host.lan.test-home.example')).toBe('10.0.3.1');
    expect(await addressFor('host.made.lan.test-home.example')).toBe('10.0.3.2');
    await udp.ask('1.2.16.172.in-addr.arpa', 'PTR');
    await udp.ask(`1.${'0.'.repeat(29)}d.f.ip6.arpa`, 'PTR');
    expect(asked(local)).toBe(3);
    await api.expect(204, 'DELETE', path);
    await api.expect(200, 'PUT', '/settings', { local_domain: '', local_dns_server: '' });
    expect(await addressFor('host.lan.test-home.example')).toBe(EVERY_ADDRESS);
  });

  describe('with a zone server that knows an alias but not its target', () => {
    let zone: ScriptedUpstream;
    /** The pools, which resolve all other names. */
    let outside: ScriptedUpstream;
    beforeAll(async () => {
      zone = await startNamedServer({
        'www.corp.example': cname('www.corp.example', 'cdn.example.net'),
        'trap.corp.example': cname('trap.corp.example', 'lair.example.net'),
        'nas.corp.example': a('nas.corp.example', '10.0.0.7'),
        'loop.corp.example': cname('loop.corp.example', 'loop.example.net'),
      });
      outside = await startNamedServer({
        'cdn.example.net': a('cdn.example.net', '198.51.100.7'),
        'lair.example.net': a('lair.example.net', '192.168.1.1'),
        'evil.example.net': cname('evil.example.net', 'nas.corp.example'),
        'loop.example.net': cname('loop.example.net', 'loop.corp.example'),
      });
      const pools = [{ name: 'outside', strategy: 'Failover', servers: [addressOf(outside)] }];
      await api.expect(200, 'PATCH', '/config?force=true', { dns: { pools } });
      await create('corp.example', zone);
    });
    afterAll(async () => {
      await zone.close();
      await outside.close();
    });

    test('queries the pools if the target of an alias is outside its forward zone, and caches both answers', async () => {
      for (let i = 0; i < 3; i++) {
        const { data } = await udp.ask('www.corp.example', 'A');
        expect(data).toEqual(['cdn.example.net', '198.51.100.7']);
      }
      expect((await udp.ask('cdn.example.net', 'A')).data).toEqual(['198.51.100.7']);
      const named = ({ bytes }: { bytes: Uint8Array }): string =>
        nameToText(questionOf(bytes).qname).toLowerCase();
      expect(zone.udpQuestions.map(named).filter((name) => name === 'www.corp.example')).toHaveLength(1);
      expect(outside.udpQuestions.map(named).filter((name) => name === 'cdn.example.net')).toHaveLength(1);
    });

    test('blocks an alias from a forward zone to a public name with a private address (DNS rebinding)', async () => {
      for (let i = 0; i < 2; i++) {
        expect((await udp.ask('trap.corp.example', 'A')).data).not.toContain('192.168.1.1');
        expect((await udp.ask('evil.example.net', 'A')).data).toEqual([]);
      }
      expect((await udp.ask('nas.corp.example', 'A')).data).toEqual(['10.0.0.7']);
    });

    test('returns SERVFAIL for an alias loop between a forward zone and the pools', async () => {
      const before = zone.udpQuestions.length + outside.udpQuestions.length;
      expect(await udp.ask('loop.corp.example', 'A', { edns: {} })).toMatchObject({
        rcode: Rcode.SERVFAIL,
        extendedErrors: [0],
      });
      expect(zone.udpQuestions.length + outside.udpQuestions.length - before).toBeLessThan(20);
    });
  });
});

/** Number of client questions that reached a server. Leaves out health probes, which query an SOA or the root's NS. */
function asked({ udpQuestions }: ScriptedUpstream): number {
  const probes: readonly number[] = [RRType.SOA, RRType.NS];
  return udpQuestions.filter(({ bytes }) => !probes.includes(questionOf(bytes).qtype)).length;
}

function addressOf({ ip, port }: { readonly ip: string; readonly port: number }): string {
  return `${ip}:${String(port)}`;
}
