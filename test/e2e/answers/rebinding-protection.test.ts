/** Private addresses of public names: blocked wherever the answer comes from, but for names of the local network. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ExplainAnswer } from '../../../shared/api/explain-api.ts';
import { RRType, Rcode } from '../../../shared/dns/iana.ts';
import { a, idOf, octets, questionOf, response, u16 } from '../../support/dns/built-messages.ts';
import type { TestRecord } from '../../support/dns/built-messages.ts';
import { ScriptedUpstream } from '../../support/dns/scripted-upstream.ts';
import type { ApiClient } from '../../support/weir/api-client.ts';
import { UdpClient } from '../../support/dns/dns-client.ts';
import { Weir } from '../../support/weir/weir-process.ts';

const QNAME = Uint8Array.of(0xc0, 12);
const EXPECTED_EDE = 15;

/** An upstream that answers with the address that the first label spells, dashes for dots: `10-0-0-1.example`. */
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
  let upstream: ScriptedUpstream;
  let weir: Weir;
  let udp: UdpClient;
  let api: ApiClient;
  beforeAll(async () => {
    upstream = await startSpellingUpstream();
    const pools = `[[dns.pools]]\nname = "p"\nservers = ["${upstream.ip}:${String(upstream.port)}"]\n`;
    const toml = '[dns]\nrebinding_allowlist = ["plex.example"]\nlocal_domain = "home.example"\n';
    weir = await Weir.start({ pools: toml + pools });
    udp = await UdpClient.open(weir.dnsPort);
    api = await weir.api();
  });
  afterAll(async () => {
    udp.close();
    await upstream.close();
    expect(await weir.stop()).toMatchObject({ code: 0 });
  });

  test.each([
    ['A', '10-1-2-3'],
    ['A', '127-0-0-1'],
    ['A', '0-0-0-0'],
    ['A', '169-254-1-1'],
    ['A', '172-31-255-255'],
    ['A', '192-168-0-1'],
    ['AAAA', 'fd000000000000000000000000000001'],
    ['AAAA', 'fe800000000000000000000000000001'],
    ['AAAA', '00000000000000000000000000000001'],
    ['AAAA', '00000000000000000000000000000000'],
    ['AAAA', '00000000000000000000ffff0a000001'],
    ['AAAA', '0064ff9b0000000000000000c0a80001'],
    ['HTTPS', '192-168-0-1'],
  ] as const)('weir blocks %s %s, first and from the cache', async (type, label) => {
    const name = `${label}.rebind.example`;
    for (let round = 0; round < 2; round++) {
      const reply = await udp.ask(name, type, { edns: {} });
      expect(reply).toMatchObject({ rcode: Rcode.NOERROR, answers: [], extendedErrors: [EXPECTED_EDE] });
      expect(reply.authorities.map((record) => record.type)).toEqual(['SOA']);
    }
  });

  test('weir logs what it has blocked as such', async () => {
    await udp.ask('10-7-7-7.logged.example', 'A');
    await udp.ask('10-7-7-7.logged.example', 'A');
    await api.untilQueryCount(2, 'domain=logged.example');
    const rows = await api.queries('domain=logged.example');
    expect(rows.map(({ status }) => status)).toEqual(['BLOCKED_REBIND', 'BLOCKED_REBIND']);
  });

  test.each([
    ['A', '172-32-0-1'],
    ['A', '192-169-0-1'],
    ['A', '100-64-0-1'],
    ['AAAA', '20010db8000000000000000000000001'],
    ['AAAA', '0064ff9b0000000000000000c0000201'],
    ['AAAA', '00000000000000000000ffffc0000201'],
    ['HTTPS', '192-0-2-1'],
  ] as const)('weir gives %s %s', async (type, label) => {
    expect((await udp.ask(`${label}.public.example`, type)).answers).toHaveLength(1);
  });

  test('weir gives private addresses of names that are allowed or local, and of none beside them', async () => {
    const answers = async (name: string): Promise<number> => (await udp.ask(name, 'A')).answers.length;
    expect(await answers('10-0-0-1.plex.example')).toBe(1);
    expect(await answers('10-0-0-1.HOME.example')).toBe(1);
    expect(await answers('10-0-0-1.notplex.example')).toBe(0);
  });

  test('weir takes back what it gave of a forward zone once the zone is gone', async () => {
    const servers = [`${upstream.ip}:${String(upstream.port)}`];
    const { id } = await api.expect<{ id: number }>(201, 'POST', '/forward-zones', {
      zone: 'vpn.example',
      servers,
    });
    expect((await udp.ask('10-0-0-9.vpn.example', 'A')).data).toEqual(['10.0.0.9']);
    await api.expect(204, 'DELETE', `/forward-zones/${String(id)}`);
    expect((await udp.ask('10-0-0-9.vpn.example', 'A')).data).toEqual([]);
  });

  test('weir explains what it blocks', async () => {
    for (let round = 0; round < 2; round++) {
      const path = '/explain?domain=10-0-0-2.rebind.example&type=A&client=127.0.0.1';
      const answer = await api.expect<ExplainAnswer>(200, 'GET', path);
      expect(answer).toMatchObject({ status: 'BLOCKED_REBIND', answer: { answers: [] } });
      expect(answer.stages.at(-1)).toMatchObject({ stage: 'rebinding', verdict: 'answered' });
    }
  });
});
