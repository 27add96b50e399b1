/**
 * Weir's main task: a list that is added through the API affects the answers to clients as soon as the response to the
 * request arrives.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { BlocklistSource } from '../../../shared/api/policy/sources-api.ts';
import { ExtendedError, RRType, Rcode } from '../../../shared/dns/iana.ts';
import type { ScriptedUpstream } from '../../support/dns/scripted-upstream.ts';
import type { ApiClient } from '../../support/weir/api-client.ts';
import { makeTempDir, prepareDataDir } from '../../support/weir/data-dir.ts';
import { askOverTcp, UdpClient } from '../../support/dns/dns-client.ts';
import { EVERY_ADDRESS, startEchoingUpstream } from '../../support/dns/echoing-upstream.ts';
import { startListServer } from '../../support/weir/list-server.ts';
import type { ListServer } from '../../support/weir/list-server.ts';
import { BACK_ENDS, Weir } from '../../support/weir/weir-process.ts';

let upstream: ScriptedUpstream;
let lists: ListServer;
beforeAll(async () => {
  upstream = await startEchoingUpstream();
  lists = await startListServer();
});
afterAll(async () => {
  await upstream.close();
  await lists.close();
});

/** Whether a name is blocked: the answer is that of the default blocking mode; any other answer must be an address. */
async function isBlocked(udp: UdpClient, name: string): Promise<boolean> {
  const { data } = await udp.ask(name, 'A');
  expect([['0.0.0.0'], [EVERY_ADDRESS]]).toContainEqual(data);
  return data[0] === '0.0.0.0';
}

describe.each(BACK_ENDS)('weir with lists, back end %s', (backEnd) => {
  let weir: Weir;
  let udp: UdpClient;
  let api: ApiClient;
  const tempDir = makeTempDir();
  beforeAll(async () => {
    await prepareDataDir(tempDir.dataDir);
    mkdirSync(join(tempDir.dataDir, 'lists'));
    weir = await Weir.start({ tempDir, backEnd, upstreams: [`127.0.0.1:${String(upstream.port)}`] });
    udp = await UdpClient.open(weir.dnsPort);
    api = await weir.api();
  });
  afterAll(async () => {
    udp.close();
    const ended = await weir.stop();
    tempDir.remove();
    expect(ended).toMatchObject({ code: 0 });
  });

  const sourcePath = ({ id }: BlocklistSource): string => `/blocklist-sources/${String(id)}`;

  test('loads a list from a file and from the web, counts its rules, and blocks its names', async () => {
    const file = join(tempDir.dataDir, 'lists', 'hosts.txt');
    writeFileSync(file, '# hosts\n0.0.0.0 file.example.com\n127.0.0.1 localhost\nno such line here!\n');
    lists.serve('/web.txt', '||web.example.com^\n');
    const fromFile = await api.addSource({ name: 'file list', url: pathToFileURL(file).href });
    const fromWeb = await api.addSource({ name: 'web list', url: lists.url('/web.txt') });
    expect(fromFile).toMatchObject({ status: 'ok', rules: 1, invalid_lines: 1, last_error: null });
    expect(fromWeb).toMatchObject({ status: 'ok', rules: 1, invalid_lines: 0, last_error: null });
    expect(await isBlocked(udp, 'file.example.com')).toBe(true);
    expect(await isBlocked(udp, 'FILE.Example.COM')).toBe(true);
    expect(await isBlocked(udp, 'web.example.com')).toBe(true);
    expect((await askOverTcp(weir.dnsPort, 'web.example.com', 'A')).data).toEqual(['0.0.0.0']);
    expect(await isBlocked(udp, 'neither.example.com')).toBe(false);
  });

  test('answers blocked AAAA queries with ::, and blocked queries of types other than A and AAAA with NODATA', async () => {
    expect(await udp.ask('web.example.com', 'AAAA')).toMatchObject({ rcode: Rcode.NOERROR, data: ['::'] });
    for (const type of [RRType.HTTPS, RRType.MX, RRType.TXT]) {
      const reply = await udp.ask('web.example.com', type, { edns: {} });
      expect(reply).toMatchObject({
        rcode: Rcode.NOERROR,
        answers: [],
        extendedErrors: [ExtendedError.BLOCKED],
      });
      expect(reply.authorities.map((record) => record.type)).toEqual(['SOA']);
    }
  });

  test('blocks subdomains as list syntax and source define, but no name that only shares the suffix', async () => {
    lists.serve('/plain.txt', 'plain.example.net\n');
    lists.serve('/syntax.txt', '||adblock.example.net^\n*.star.example.net\n0.0.0.0 hosts.example.net\n');
    const plain = await api.addSource({ name: 'plain', url: lists.url('/plain.txt') });
    await api.addSource({ name: 'syntax', url: lists.url('/syntax.txt') });
    const areBlocked = async (...names: string[]): Promise<boolean[]> => {
      const found: boolean[] = [];
      for (const name of names) found.push(await isBlocked(udp, name));
      return found;
    };
    expect(
      await areBlocked('adblock.example.net', 'a.b.adblock.example.net', 'xadblock.example.net'),
    ).toEqual([true, true, false]);
    expect(await areBlocked('star.example.net', 'a.star.example.net')).toEqual([true, true]);
    expect(await areBlocked('hosts.example.net', 'a.hosts.example.net')).toEqual([true, false]);
    expect(await areBlocked('plain.example.net', 'a.plain.example.net')).toEqual([true, false]);
    await api.expect(200, 'PUT', sourcePath(plain), { subdomains: true });
    expect(await areBlocked('plain.example.net', 'a.plain.example.net', 'xplain.example.net')).toEqual([
      true,
      true,
      false,
    ]);
  });

  test('an enabled, disabled, assigned or deleted source takes effect before the response to its request', async () => {
    lists.serve('/switched.txt', 'switched.example.org\n');
    const source = await api.addSource({ name: 'switched', url: lists.url('/switched.txt') });
    const group = await api.createGroup('children');
    const active = async (change: object): Promise<boolean> => {
      await api.expect(200, 'PUT', sourcePath(source), change);
      return isBlocked(udp, 'switched.example.org');
    };
    for (let round = 0; round < 2; round++) {
      expect(await active({ enabled: false })).toBe(false);
      expect(await active({ enabled: true })).toBe(true);
      // All clients of this test are in the group Default.
      expect(await active({ group_ids: [group.id] })).toBe(false);
      expect(await active({ group_ids: [1] })).toBe(true);
      expect(await active({ group_ids: [] })).toBe(true);
    }
    await api.expect(204, 'DELETE', sourcePath(source));
    expect(await isBlocked(udp, 'switched.example.org')).toBe(false);
  });

  test('loads a changed list at a refresh', async () => {
    lists.serve('/changing.txt', 'before.example.org\n');
    const source = await api.addSource({ name: 'changing', url: lists.url('/changing.txt') });
    expect(await isBlocked(udp, 'before.example.org')).toBe(true);
    lists.serve('/changing.txt', 'after.example.org\n');
    await api.expect(202, 'POST', `${sourcePath(source)}/refresh`);
    await api.settledSource(source.id);
    expect([await isBlocked(udp, 'before.example.org'), await isBlocked(udp, 'after.example.org')]).toEqual([
      false,
      true,
    ]);
  });

  test('logs which source and which rule blocked a query', async () => {
    await udp.ask('web.example.com', 'A');
    await udp.ask('deep.below.web.example.com', 'AAAA');
    await udp.ask('file.example.com', 'A');
    await api.untilQueryCount(1, 'domain=deep.below');
    const newest = async (domain: string) => (await api.queries(`domain=${domain}`))[0];
    const blocked = { status: 'BLOCKED_LIST', cached: false, upstream: null, rcode: 'NOERROR', group_id: 1 };
    expect(await newest('deep.below')).toMatchObject({
      ...blocked,
      block_source: 'web list',
      block_rule: '||web.example.com^',
      type: 'AAAA',
      answers: [expect.objectContaining({ type: 'AAAA', data: '::' })],
    });
    expect(await newest('file.example.com')).toMatchObject({
      ...blocked,
      block_source: 'file list',
      block_rule: 'file.example.com',
    });
  });

  if (backEnd === 'batch')
    describe('in each blocking mode', () => {
      beforeAll(async () => {
        lists.serve('/modes.txt', 'blocked.example.com\n');
        expect(await api.addSource({ name: 'modes', url: lists.url('/modes.txt') })).toMatchObject({
          status: 'ok',
        });
      });

      const SETTINGS = { ttl_secs: 17, custom_ipv4: '192.0.2.99', custom_ipv6: '2001:db8::99' };

      interface Expected {
        readonly a: readonly [number, readonly string[]];
        readonly aaaa: readonly [number, readonly string[]];
        readonly soa: boolean;
      }

      async function expectBlocks(expected: Expected): Promise<void> {
        using udp = await UdpClient.open(weir.dnsPort);
        const a = await udp.ask('blocked.example.com', 'A', { edns: {} });
        const aaaa = await udp.ask('blocked.example.com', 'AAAA', { edns: {} });
        expect([a.rcode, a.data]).toEqual(expected.a);
        expect([aaaa.rcode, aaaa.data]).toEqual(expected.aaaa);
        expect(a.extendedErrors).toEqual([ExtendedError.BLOCKED]);
        expect(a.authorities.map(({ type }) => type)).toEqual(expected.soa ? ['SOA'] : []);
        for (const { ttl } of [...a.answers, ...a.authorities]) expect(ttl).toBe(17);
        // RFC 6891 section 7: no OPT in the reply if the query has none.
        expect((await udp.ask('blocked.example.com', 'A')).opt).toBeNull();
      }

      test.each<[string, Expected]>([
        ['null_ip', { a: [Rcode.NOERROR, ['0.0.0.0']], aaaa: [Rcode.NOERROR, ['::']], soa: false }],
        ['nodata', { a: [Rcode.NOERROR, []], aaaa: [Rcode.NOERROR, []], soa: true }],
        ['refused', { a: [Rcode.REFUSED, []], aaaa: [Rcode.REFUSED, []], soa: false }],
        [
          'custom_ip',
          { a: [Rcode.NOERROR, ['192.0.2.99']], aaaa: [Rcode.NOERROR, ['2001:db8::99']], soa: false },
        ],
      ])('blocks in mode %s as soon as the response to the change arrives', async (mode, expected) => {
        await api.expect(200, 'PATCH', '/config', { blocking: { ...SETTINGS, mode } });
        await expectBlocks(expected);
      });

      test('blocks nothing with blocking disabled', async () => {
        await api.expect(200, 'PATCH', '/config', { blocking: { enabled: false } });
        using udp = await UdpClient.open(weir.dnsPort);
        expect(await isBlocked(udp, 'blocked.example.com')).toBe(false);
        await api.expect(200, 'PATCH', '/config', { blocking: { enabled: true } });
        expect((await udp.ask('blocked.example.com', 'A')).data).toEqual(['192.0.2.99']);
      });

      test('blocks from disk immediately after a restart, in the mode of its configuration file', async () => {
        expect(await weir.stop()).toMatchObject({ code: 0 });
        const values = Object.entries({ ...SETTINGS, mode: 'nxdomain' });
        const lines = values.map(([key, value]) => `${key} = ${JSON.stringify(value)}\n`);
        weir = await Weir.start({ tempDir, toml: `[blocking]\n${lines.join('')}`, database: 'none' });
        await expectBlocks({ a: [Rcode.NXDOMAIN, []], aaaa: [Rcode.NXDOMAIN, []], soa: true });
        expect(await weir.stop()).toMatchObject({ code: 0 });
      });
    });
});
