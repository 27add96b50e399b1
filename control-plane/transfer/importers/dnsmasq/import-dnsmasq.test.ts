/** Configurations of dnsmasq: the plan, and whether the same queries get the same decisions. */
import { describe, expect, test } from '@jest/globals';
import { type ExpectedStatus, importSuite } from '../../../../test/support/parts/import-suite.ts';
import { ONLY_TEXT } from '../files/open-upload.ts';
import { isDnsmasq } from './dnsmasq-options.ts';
import { mapDnsmasq } from './map-dnsmasq.ts';

const { imported, answered } = importSuite();

const filesOf = (contents: Readonly<Record<string, string>>) =>
  new Map(Object.entries(contents).map(([path, text]) => [path, Buffer.from(text)]));
const planOf = (text: string) => mapDnsmasq(filesOf({ [ONLY_TEXT]: `no-resolv\nlog-queries\n${text}` }));
/** Names and reasons of the rows with a result. */
const rowsOf = (text: string, result: string) =>
  Object.fromEntries(
    planOf(text).items.flatMap((item) => (item.result === result ? [[item.name, item.reason ?? '']] : [])),
  );
const recordsOf = (text: string): string[] =>
  planOf(text).document.local_records.map(
    ({ hostname, domain, record_type: type, value, ttl }) => `${hostname}.${domain} ${ttl} ${type} ${value}`,
  );

async function expectAnswers(file: string, table: readonly ExpectedStatus[]): Promise<void> {
  await imported(file, '?format=dnsmasq');
  expect(await answered(table)).toEqual(table);
}

const CLIENT = '192.0.2.200';

describe('imported domains of dnsmasq', () => {
  test('are handled by the longest matching domain, whatever its option', async () => {
    const file = `no-resolv
server=192.0.2.53
address=/parent.example/0.0.0.0
server=/ok.parent.example/#
address=/bad.ok.parent.example/#
server=/fwd.parent.example/192.0.2.1
server=/usual.fwd.parent.example/#
address=/rec.parent.example/192.0.2.9
host-record=host.parent.example,192.0.2.11
address=/big.example/192.0.2.10
address=/bad.big.example/#
server=/sub.big.example/#
local=/lan/
server=/iot.lan/192.0.2.1
server=/free.lan/#
address=/app.lan/192.0.2.12
host-record=nas.lan,192.0.2.5
server=/alone.example/#
`;
    await expectAnswers(file, [
      [CLIENT, 'parent.example', 1, 'BLOCKED_MANAGED'],
      [CLIENT, 'a.parent.example', 1, 'BLOCKED_MANAGED'],
      [CLIENT, 'x.ok.parent.example', 1, 'FORWARDED'],
      [CLIENT, 'x.bad.ok.parent.example', 1, 'LOCAL'],
      [CLIENT, 'x.fwd.parent.example', 1, 'FORWARDED'],
      [CLIENT, 'x.usual.fwd.parent.example', 1, 'FORWARDED'],
      [CLIENT, 'x.rec.parent.example', 1, 'LOCAL'],
      [CLIENT, 'host.parent.example', 1, 'LOCAL'],
      [CLIENT, 'x.host.parent.example', 1, 'BLOCKED_MANAGED'],
      [CLIENT, 'big.example', 1, 'LOCAL'],
      [CLIENT, 'x.bad.big.example', 1, 'LOCAL'],
      [CLIENT, 'x.sub.big.example', 1, 'FORWARDED'],
      [CLIENT, 'else.lan', 1, 'LOCAL'],
      [CLIENT, 'else.lan', 16, 'LOCAL'],
      [CLIENT, 'x.iot.lan', 1, 'FORWARDED'],
      [CLIENT, 'x.free.lan', 1, 'FORWARDED'],
      [CLIENT, 'x.app.lan', 1, 'LOCAL'],
      [CLIENT, 'nas.lan', 1, 'LOCAL'],
      [CLIENT, 'x.nas.lan', 1, 'LOCAL'],
    ]);
    const zones = planOf(file).document.forward_zones.map(({ zone, servers }) => `${zone} ${servers.join()}`);
    expect(zones).toEqual([
      'fwd.parent.example 192.0.2.1',
      'usual.fwd.parent.example 192.0.2.53',
      'sub.big.example 192.0.2.53',
      'lan ',
      'iot.lan 192.0.2.1',
      'free.lan 192.0.2.53',
    ]);
    expect(recordsOf(file)).toContain('*.bad.big.example 300 A 0.0.0.0');
    expect(Object.keys(rowsOf(file, 'skipped'))).toEqual([
      'server=/alone.example/#',
      'no-resolv (2 lines)',
      'log-queries',
    ]);
  });

  test('with an asterisk match neither the domain itself nor other names with the same ending', async () => {
    await expectAnswers(
      'address=/*.star.example/0.0.0.0\naddress=/*tail.example/#\naddress=/.dot.example/\n',
      [
        [CLIENT, 'star.example', 1, 'FORWARDED'],
        [CLIENT, 'x.star.example', 1, 'BLOCKED_LIST'],
        [CLIENT, 'x.star.example.org', 1, 'FORWARDED'],
        [CLIENT, 'xstar.example', 1, 'FORWARDED'],
        [CLIENT, 'tail.example', 1, 'BLOCKED_LIST'],
        [CLIENT, 'cattail.example', 1, 'BLOCKED_LIST'],
        [CLIENT, 'x.tail.example', 1, 'BLOCKED_LIST'],
        [CLIENT, 'dot.example', 1, 'BLOCKED_MANAGED'],
      ],
    );
    expect(recordsOf('address=/*.star.example/192.0.2.1')).toEqual(['*.star.example 300 A 192.0.2.1']);
    expect(rowsOf('address=/*tail.example/192.0.2.1', 'not_mapped')).toEqual({
      'address=/*tail.example/192.0.2.1': expect.any(String),
    });
    expect(rowsOf('server=/*.star.example/192.0.2.1', 'differs')).toMatchObject({
      'star.example': expect.stringContaining('does not include'),
    });
  });

  test('include all names that no other option contains for address=/#/', async () => {
    const exceptions = 'server=/ok.example/#\nserver=/fwd.example/192.0.2.1\nhost-record=nas.lan,192.0.2.5\n';
    await expectAnswers(`address=/#/\n${exceptions}`, [
      [CLIENT, 'else.example', 1, 'BLOCKED_LIST'],
      [CLIENT, 'ok.example', 1, 'FORWARDED'],
      [CLIENT, 'x.fwd.example', 1, 'FORWARDED'],
      [CLIENT, 'nas.lan', 1, 'LOCAL'],
    ]);
    expect(planOf('address=/#/192.0.2.99').document.list_sources[0]!.text).toContain(
      '||*^$dnstype=A,dnsrewrite=192.0.2.99\n',
    );
  });

  test('are reported if Weir answers some queries differently', () => {
    const file = `address=/deny.example/0.0.0.0
address=/nx.example/
address=/app.example/192.0.2.1
host-record=nas.lan,192.0.2.5
address=/wide.example/192.0.2.2
local=/in.wide.example/
server=/out.wide.example/#
cname=in.lan,nas.lan
cname=out.lan,also.lan,elsewhere.example,60
`;
    const of = (row: string) =>
      planOf(file).items.flatMap(({ name, domains }) => (name === row ? (domains ?? []) : []));
    expect(of('aliases of other names')).toEqual(['out.lan', 'also.lan']);
    expect(rowsOf(file, 'differs')).toMatchObject({
      'names with an address': expect.stringContaining('the other program forwards'),
      'denied names': expect.stringContaining('Weir denies all queries'),
      'names with records': expect.stringContaining('the other program forwards'),
    });
    expect(of('denied names')).toEqual(['deny.example']);
    expect(rowsOf('address=/gone.example/\naddress=/*.star.example/', 'differs')).toMatchObject({
      'denied names without an address': expect.stringContaining('dnsmasq answers NXDOMAIN'),
    });
    expect(rowsOf('bogus-nxdomain=192.0.2.1', 'differs')).toMatchObject({
      'other types of bogus names': expect.stringContaining('dnsmasq answers NXDOMAIN'),
    });
    expect(Object.keys(rowsOf(file, 'not_mapped'))).toEqual(['server=/out.wide.example/#']);
  });
});

describe('imported answers of dnsmasq', () => {
  test('are empty for filtered types, and bogus addresses are denied', async () => {
    await expectAnswers('filter-AAAA\nfilter-rr=HTTPS,ANY\nhost-record=six.lan,2001:db8::5\n', [
      [CLIENT, 'any.example', 28, 'BLOCKED_LIST'],
      [CLIENT, 'any.example', 65, 'BLOCKED_LIST'],
      [CLIENT, 'any.example', 1, 'FORWARDED'],
      [CLIENT, 'six.lan', 28, 'LOCAL'],
    ]);
    const [list] = planOf('bogus-nxdomain=203.0.113.1\nignore-address=203.0.113.2').document.list_sources;
    expect(list!.text).toContain('\nbogus-nxdomain=203.0.113.1\nbogus-nxdomain=203.0.113.2\n');
  });

  test('are reported as different if filtered types of allowed names are answered', async () => {
    const file = 'filter-AAAA\naddress=/parent.example/#\nserver=/ok.parent.example/#\n';
    await expectAnswers(file, [
      [CLIENT, 'ok.parent.example', 28, 'FORWARDED'],
      [CLIENT, 'other.example', 28, 'BLOCKED_LIST'],
    ]);
    expect(rowsOf(file, 'differs')).toMatchObject({ 'filtered types': expect.stringContaining('all types') });
  });

  test('contain records with the TTL of local-ttl, and records without an equivalent are reported', () => {
    expect(
      recordsOf(
        'local-ttl=77\ntxt-record=t.lan,"v=1, a",b\nmx-host=m.lan,nas.lan,5\nhost-record=h.lan,192.0.2.1,60\ncname=c.lan,h.lan\naddress=/a.lan/192.0.2.2\nptr-record=1.2.0.192.in-addr.arpa,"h.lan"',
      ),
    ).toEqual([
      't.lan 77 TXT "v=1, a" "b"',
      'm.lan 77 MX 5 nas.lan',
      'h.lan 60 A 192.0.2.1',
      'c.lan 77 CNAME h.lan',
      '1.2.0.192.in-addr.arpa 77 PTR h.lan',
      'a.lan 77 A 192.0.2.2',
      '*.a.lan 77 A 192.0.2.2',
    ]);
    expect(
      rowsOf(
        'mx-host=m.lan\ncaa-record=a,0,issue,b\ncaa-record=c,0,issue,d\nsynth-domain=d.lan,192.0.2.0/24',
        'not_mapped',
      ),
    ).toEqual({
      'mx-host=m.lan': expect.stringContaining('it has no target'),
      'caa-record=a,0,issue,b': expect.stringContaining('no local records of this type'),
      'caa-record=c,0,issue,d': expect.stringContaining('no local records of this type'),
      'synth-domain=d.lan,192.0.2.0/24': expect.any(String),
    });
  });

  test('contain the names of this machine as records, unless a file has many of them', () => {
    const hosts = '127.0.0.1 localhost loop.lan\n0.0.0.0 sink.lan\n::1 six.lan\n';
    const planWith = (text: string) =>
      mapDnsmasq(
        filesOf({ 'dnsmasq.conf': 'no-resolv\nlocal-ttl=9\naddn-hosts=/etc/more', 'etc/more': text }),
      ).document;
    expect(
      planWith(hosts).local_records.map(({ hostname, value, ttl }) => `${hostname} ${value} ${ttl}`),
    ).toEqual(['loop 127.0.0.1 9', 'six ::1 9']);
    expect(planWith(hosts).managed_domains.map(({ domain }) => domain)).toEqual(['sink.lan']);
    const many = Array.from({ length: 60 }, (_, n) => `127.0.0.1 ads${n}.example`).join('\n');
    expect(planWith(many).local_records).toEqual([]);
    expect(planWith(many).managed_domains).toHaveLength(60);
  });
});

describe('imported settings of dnsmasq', () => {
  test('are keys of Weir if they have an equivalent', () => {
    const file = `cache-size=0
neg-ttl=60
max-ttl=900
use-stale-cache=3600
strip-subnet
rebind-domain-ok=/a.example/b.example/
rebind-domain-ok=c.example
`;
    expect(Object.fromEntries(planOf(file).keys.map(({ key, value }) => [key, value]))).toEqual({
      'cache.enabled': false,
      'cache.negative_max_ttl_secs': 60,
      'cache.max_ttl_secs': 900,
      'cache.serve_stale_secs': 3600,
      'dns.ecs': 'strip',
      'dns.rebinding_allowlist': ['a.example', 'b.example', 'c.example'],
    });
  });

  test('are reported with the correct reason if they have no equivalent', () => {
    const file = `expand-hosts
local-ttl=60
resolv-file=/etc/resolv.dnsmasq
conf-dir=/etc/gone.d
port=53
dhcp-range=192.0.2.2,192.0.2.9
dhcp-range=192.0.2.12,192.0.2.19
cache-size=500
`;
    expect(rowsOf(file, 'skipped')).toMatchObject({
      'expand-hosts': 'Weir also adds the domain to names of hosts files',
      'local-ttl=60': 'the local records of the import have this TTL',
      'cache-size=500': expect.stringContaining('cache.max_bytes'),
      port: 'it only affects how the other program runs',
    });
    expect(rowsOf(file, 'not_mapped')).toEqual({
      'resolv-file=/etc/resolv.dnsmasq': expect.stringContaining('dnsmasq uses the servers in this file'),
      'conf-dir=/etc/gone.d': expect.stringContaining('it is not in the upload'),
      'dhcp-range (2 lines)': 'Weir is not a DHCP server',
    });
  });

  test('include the servers in resolv.conf and the files in conf-dir', () => {
    const plan = mapDnsmasq(
      filesOf({
        'etc/dnsmasq.conf': 'server=192.0.2.1\nconf-dir=/etc/more.d/,*.conf\nconf-dir=/etc/other.d,.bak\n',
        'etc/more.d/a.conf': 'address=/a.example/#\n',
        'etc/more.d/b.txt': 'address=/b.example/#\n',
        'etc/other.d/c': 'address=/c.example/#\n',
        'etc/other.d/d.bak': 'address=/d.example/#\n',
        'etc/dnsmasq.d/e.conf': 'address=/e.example/#\n',
        'etc/resolv.conf': '# made by hand\nnameserver 192.0.2.2\nsearch lan\n',
      }),
    );
    expect(plan.keys).toMatchObject([{ value: [{ servers: ['192.0.2.1', '192.0.2.2'] }] }]);
    expect(plan.document.managed_domains.map(({ domain }) => domain)).toEqual(['*.a.example', '*.c.example']);
    const rows = mapDnsmasq(filesOf({ 'dnsmasq.conf': 'bogus-priv\n' })).items;
    expect(rows.map(({ name, result }) => `${name}: ${String(result)}`)).toEqual([
      '/etc/resolv.conf: not_mapped',
      'bogus-priv: null',
      'query log: differs',
      'reserved names: differs',
    ]);
  });

  test.each([
    ['port=53\nno-dhcp-interface=eth1\nlog-queries\nno-negcache\nlocal-ttl=300\n', true],
    ['# a comment\n\nuser=dnsmasq\nno-hosts\nfilter-AAAA\n', true],
    ['address=/ads.example/\naddress=/b.example/#\n', true],
    ['user=me\nport=53\ninterface=eth0\nserver=192.0.2.1\n', false],
    ['[Interface]\nAddress = 192.0.2.1\nPrivateKey = abc\n', false],
    ['192.0.2.1 nas.lan\n', false],
  ])('come from a file that is recognized by its lines (%#)', (text, isKnown) => {
    expect(isDnsmasq(filesOf({ [ONLY_TEXT]: text }))).toBe(isKnown);
  });
});
