import { describe, expect, test } from '@jest/globals';
import { GeneratedLists } from '../plan/generated-lists.ts';
import { OwnNames } from '../plan/own-names.ts';
import { PlanBuilder } from '../plan/plan-builder.ts';
import { isDnsmasq, optionsOf, readDnsmasq } from './dnsmasq-options.ts';
import { mapOptions } from './map-options.ts';

function planOf(...lines: string[]) {
  const builder = new PlanBuilder();
  const lists = new GeneratedLists(builder, 'rules', 'rules');
  const names = new OwnNames(builder, lists);
  const upstreams = mapOptions({ builder, lists, names, linesOf: () => undefined }, optionsOf(lines));
  names.finish();
  lists.finish();
  return { ...builder.finish('dnsmasq'), upstreams };
}

describe('mapOptions()', () => {
  test.each([
    ['address=/a.example/', ['*.a.example'], []],
    ['address=/*.a.example/0.0.0.0', [], []],
    ['address=/*.a.example/192.0.2.1', [], ['*.a.example A 192.0.2.1']],
    ['address=/.a.example/b.example/#', ['*.a.example', '*.b.example'], []],
    ['address=/a.example/127.0.0.1', [], ['a.example A 127.0.0.1', '*.a.example A 127.0.0.1']],
    ['address=/a.example/2001:db8::1', [], ['a.example AAAA 2001:db8::1', '*.a.example AAAA 2001:db8::1']],
    ['address=/a.example/nonsense', [], []],
    ['address=//192.0.2.1', [], []],
    ['address=192.0.2.1', [], []],
  ])('maps %s', (line, denied, records) => {
    const plan = planOf(line);
    const { managed_domains: domains, local_records: found } = plan.document;
    expect(domains.map(({ domain }) => domain)).toEqual(denied);
    expect(
      found.map(({ hostname, domain, record_type: type, value }) => `${hostname}.${domain} ${type} ${value}`),
    ).toEqual(records);
    expect(plan.items.length).toBeGreaterThan(0);
  });

  test.each([
    ['server=/a.example/192.0.2.1#5353', [{ zone: 'a.example', servers: ['192.0.2.1:5353'] }]],
    ['server=/a.example/192.0.2.1@eth0', [{ zone: 'a.example', servers: ['192.0.2.1'] }]],
    ['rev-server=192.0.2.0/24,192.0.2.1', [{ zone: '2.0.192.in-addr.arpa', servers: ['192.0.2.1'] }]],
    ['rev-server=192.0.2.7,192.0.2.1', [{ zone: '7.2.0.192.in-addr.arpa', servers: ['192.0.2.1'] }]],
    ['rev-server=192.0.2.0/24', []],
    ['server=//192.0.2.1', []],
    ['server=/a.example/#', []],
    ['server=/a.example/name.example', []],
  ])('creates a zone from %s', (line, zones) => {
    const plan = planOf(line);
    expect(plan.document.forward_zones).toMatchObject(zones);
    expect(plan.items.filter(({ result }) => result !== 'differs')).toHaveLength(1);
  });

  test('returns the servers for all names, and the strategy of their pool', () => {
    const { upstreams } = planOf('server=192.0.2.1#53', 'server=2001:db8::1@eth0', 'server=', 'all-servers');
    expect(upstreams).toEqual({ servers: ['192.0.2.1#53', '2001:db8::1'], strategy: 'Parallel' });
    expect(planOf('strict-order').upstreams.strategy).toBe('Failover');
  });

  test('keeps the first of two values of a setting', () => {
    const plan = planOf('domain=lan', 'domain=home.example', 'domain=a,192.0.2.0/24', 'domain-needed');
    expect(plan.document.configuration).toEqual({
      'dns.local_domain': 'lan',
      'dns.never_forward_non_fqdn': true,
    });
    expect(plan.items.map(({ result }) => result)).toEqual([null, 'not_mapped', 'not_mapped', null]);
  });

  test('reports an option once, however many lines contain it', () => {
    const lines = Array.from({ length: 50 }, (_, n) => `dhcp-option=${n},192.0.2.1`);
    const names = planOf(...lines, 'no-such-thing=1', '??').items.map(({ name }) => name);
    expect(names).toEqual(['2 lines', 'dhcp-option (50 lines)']);
  });
});

describe('readDnsmasq()', () => {
  const files = (contents: Record<string, string>) =>
    new Map(Object.entries(contents).map(([path, text]) => [path, Buffer.from(text)]));

  test('reads a file that includes itself once', () => {
    const options = readDnsmasq(
      files({
        'etc/dnsmasq.conf': 'conf-file=/etc/dnsmasq.conf\nconf-dir=/etc/dnsmasq.d\nconf-file=/etc/gone',
        'etc/dnsmasq.d/a': 'servers-file=/etc/dnsmasq.d/b # the other\n"',
        'etc/dnsmasq.d/b': 'conf-file=/etc/dnsmasq.d/a\nserver="192.0.2.1"',
      }),
    );
    expect(options).toEqual([
      { name: 'server', value: '192.0.2.1' },
      { name: '', value: '"' },
      { name: 'conf-file', value: '/etc/gone' },
    ]);
  });

  test('recognizes dnsmasq by file names, or by most lines of a text', () => {
    expect(isDnsmasq(files({ upload: 'address=/a/1.2.3.4\n# more\n' }))).toBe(true);
    expect(isDnsmasq(files({ upload: 'address: 1.2.3.4\nserver: x\n' }))).toBe(false);
    expect(isDnsmasq(files({ upload: '' }))).toBe(false);
  });
});

describe('mapOptions() with local-service', () => {
  test.each([
    ['local-service', ['127.0.0.0/8', '::1/128', 'connected']],
    ['local-service=net', ['127.0.0.0/8', '::1/128', 'connected']],
    ['local-service=host', ['127.0.0.0/8', '::1/128']],
  ])('maps %s to the allowed clients', (line, value) => {
    expect(planOf(line).keys).toMatchObject([{ key: 'dns.allowed_clients', value }]);
  });
});
