/**
 * A forward zone whose server knows an alias and not where it leads: the pools know the rest, and the other way round.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Rcode } from '../../../shared/dns/iana.ts';
import { a, cname, idOf, questionOf, response } from '../../support/dns/built-messages.ts';
import type { TestRecord } from '../../support/dns/built-messages.ts';
import { ScriptedUpstream } from '../../support/dns/scripted-upstream.ts';
import { nameToText } from '../../../shared/dns/name.ts';
import { UdpClient } from '../../support/dns/dns-client.ts';
import { BACK_ENDS, Weir } from '../../support/weir/weir-process.ts';

/** Answers a question with the records of its name, and REFUSED where there are none. */
async function startServer(records: Record<string, TestRecord>): Promise<ScriptedUpstream> {
  const server = await ScriptedUpstream.start();
  server.udpScript = (query) => {
    const asked = questionOf(query.bytes);
    const record = records[nameToText(asked.qname).toLowerCase()];
    const found = record === undefined ? { flags: 0x8185 } : { flags: 0x8400, answers: [record] };
    query.reply(response(asked, { id: idOf(query.bytes), ...found }));
  };
  return server;
}

const addressOf = ({ ip, port }: ScriptedUpstream): string => `${ip}:${String(port)}`;

describe.each(BACK_ENDS)('weir, back end %s', (backEnd) => {
  let zone: ScriptedUpstream;
  let pool: ScriptedUpstream;
  let weir: Weir;
  let udp: UdpClient;

  beforeAll(async () => {
    zone = await startServer({
      'www.corp.example': cname('www.corp.example', 'cdn.example.net'),
      'trap.corp.example': cname('trap.corp.example', 'lair.example.net'),
      'nas.corp.example': a('nas.corp.example', '10.0.0.7'),
      'loop.corp.example': cname('loop.corp.example', 'loop.example.net'),
    });
    pool = await startServer({
      'cdn.example.net': a('cdn.example.net', '198.51.100.7'),
      'lair.example.net': a('lair.example.net', '192.168.1.1'),
      'evil.example.net': cname('evil.example.net', 'nas.corp.example'),
      'loop.example.net': cname('loop.example.net', 'loop.corp.example'),
    });
    weir = await Weir.start({ backEnd, upstreams: [addressOf(pool)] });
    const api = await weir.api();
    await api.expect(201, 'POST', '/forward-zones', { zone: 'corp.example', servers: [addressOf(zone)] });
    udp = await UdpClient.open(weir.dnsPort);
  });
  afterAll(async () => {
    udp.close();
    await weir.stop();
    await zone.close();
    await pool.close();
  });

  test('weir asks the pools where an alias of a zone leads out of it, and keeps both', async () => {
    for (let i = 0; i < 3; i++) {
      const { data } = await udp.ask('www.corp.example', 'A');
      expect(data).toEqual(['cdn.example.net', '198.51.100.7']);
    }
    expect((await udp.ask('cdn.example.net', 'A')).data).toEqual(['198.51.100.7']);
    const named = ({ bytes }: { bytes: Uint8Array }): string =>
      nameToText(questionOf(bytes).qname).toLowerCase();
    expect(zone.udpQuestions.map(named).filter((name) => name === 'www.corp.example')).toHaveLength(1);
    expect(pool.udpQuestions.map(named).filter((name) => name === 'cdn.example.net')).toHaveLength(1);
  });

  test('weir lets neither a zone nor a stranger lead a name to a private address of the other (DNS rebinding)', async () => {
    for (let i = 0; i < 2; i++) {
      expect((await udp.ask('trap.corp.example', 'A')).data).not.toContain('192.168.1.1');
      expect((await udp.ask('evil.example.net', 'A')).data).toEqual([]);
    }
    expect((await udp.ask('nas.corp.example', 'A')).data).toEqual(['10.0.0.7']);
  });

  test('weir ends a loop between a zone and the pools with SERVFAIL', async () => {
    const before = zone.udpQuestions.length + pool.udpQuestions.length;
    expect(await udp.ask('loop.corp.example', 'A', { edns: {} })).toMatchObject({
      rcode: Rcode.SERVFAIL,
      extendedErrors: [0],
    });
    expect(zone.udpQuestions.length + pool.udpQuestions.length - before).toBeLessThan(20);
  });
});
