/** Local records from the rows to the reply: builder, table and stage together, queried with real messages. */
import { parseUpstream } from '../../config/upstream-url.ts';
import { describe, expect, test } from '@jest/globals';
import { localRecords } from '../../control-plane/policy/snapshot/build/snapshot-records.ts';
import { findAliasLoop, buildLocalTree } from '../../control-plane/policy/snapshot/build/local-tree.ts';
import { nameFromText } from '../../shared/dns/name.ts';
import { readLocalRecordLine } from '../../shared/policy/local-record.ts';
import { NO_NAME_RULES } from '../../shared/snapshot/name-rules.ts';
import { apiRecord, ask, pipelineWith } from '../support/parts/asked-pipeline.ts';
import fc from '../support/parts/fast-check.ts';

const NOT_LOCAL = { result: 'unresolved', target: '' };

function configured(...lines: string[]) {
  return lines.map((line) => {
    const record = readLocalRecordLine(line);
    if (typeof record === 'string') throw new Error(record);
    return record;
  });
}

describe('local records', () => {
  test.each([
    ['nas.example.org A 192.0.2.5', 'A', 'nas.example.org A 192.0.2.5'],
    ['nas.example.org AAAA 2001:db8::5', 'AAAA', 'nas.example.org AAAA 2001:db8::5'],
    ['nas.example.org TXT hello world', 'TXT', 'nas.example.org TXT hello world'],
    [
      'nas.example.org MX 10 mail.example.org',
      'MX',
      'nas.example.org MX {"preference":10,"exchange":"mail.example.org"}',
    ],
    [
      '_sip._udp.example.org SRV 0 5 5060 sip.example.org',
      'SRV',
      '_sip._udp.example.org SRV {"priority":0,"weight":5,"port":5060,"target":"sip.example.org"}',
    ],
    ['192.0.2.9 PTR nine.example.org', 'PTR', '9.2.0.192.in-addr.arpa PTR nine.example.org'],
    ['nas A 192.0.2.5', 'A', 'nas A 192.0.2.5'],
  ] as const)('give the authoritative answer %s', (line, type, answer) => {
    const name = answer.split(' ', 1)[0]!;
    const asked = ask(pipelineWith([line]), name.toUpperCase(), type);
    expect(asked).toMatchObject({ rcode: 'NOERROR', status: 'LOCAL', aa: true, tc: false });
    expect(asked.answers.map((one) => one.replace(/^\S+/, (owner) => owner.toLowerCase()))).toEqual([answer]);
  });

  test('rotate the first address among several', () => {
    const pipeline = pipelineWith([1, 2, 3].map((i) => `www.example.org A 192.0.2.${i}`));
    const firsts = Array.from({ length: 6 }, () => ask(pipeline, 'www.example.org').answers);
    expect(firsts.map(([first]) => first?.at(-1))).toEqual(['1', '2', '3', '1', '2', '3']);
    for (const answers of firsts) expect(new Set(answers).size).toBe(3);
  });

  test('give NODATA with a SOA if the name exists with another type only', () => {
    for (const type of ['AAAA', 'HTTPS', 'TXT'] as const) {
      const asked = ask(pipelineWith(['nas.example.org A 192.0.2.5']), 'nas.example.org', type);
      expect(asked).toMatchObject({ rcode: 'NOERROR', status: 'LOCAL', aa: true, answers: [] });
      expect(asked.authorities).toEqual(['nas.example.org SOA']);
    }
  });

  test('give NODATA for names between a record and its zone apex, but not for names above the apex', () => {
    const pipeline = pipelineWith(['a.b.c.example.org A 192.0.2.5 @example.org']);
    for (const name of ['b.c.example.org', 'c.example.org'])
      expect(ask(pipeline, name)).toMatchObject({ rcode: 'NOERROR', answers: [], aa: true });
    for (const name of ['example.org', 'org', 'x.c.example.org', 'z.a.b.c.example.org'])
      expect(ask(pipeline, name)).toMatchObject(NOT_LOCAL);
  });

  test('with addresses also answer PTR queries, unless a PTR record overrides them', () => {
    const pipeline = pipelineWith([
      'nas.example.org A 192.0.2.5',
      'alias.example.org A 192.0.2.5',
      'six.example.org AAAA 2001:db8::5',
      'other.example.org A 192.0.2.6',
      '192.0.2.6 PTR chosen.example.org',
      '*.wild.example.org A 192.0.2.7',
    ]);
    expect(ask(pipeline, '5.2.0.192.in-addr.arpa', 'PTR').answers).toEqual([
      '5.2.0.192.in-addr.arpa PTR nas.example.org',
    ]);
    const reverse = `5.${'0.'.repeat(23)}8.b.d.0.1.0.0.2.ip6.arpa`;
    expect(ask(pipeline, reverse, 'PTR').answers).toEqual([`${reverse} PTR six.example.org`]);
    expect(ask(pipeline, '6.2.0.192.in-addr.arpa', 'PTR').answers).toEqual([
      '6.2.0.192.in-addr.arpa PTR chosen.example.org',
    ]);
    expect(ask(pipeline, '7.2.0.192.in-addr.arpa', 'PTR')).toMatchObject(NOT_LOCAL);
  });

  test('follow aliases as far as the target names are local', () => {
    const pipeline = pipelineWith([
      'www.example.org CNAME web.example.org',
      'web.example.org CNAME host.example.org',
      'host.example.org A 192.0.2.5',
      'out.example.org CNAME inner.example.org',
      'inner.example.org CNAME www.example.net',
    ]);
    const chain = ['www.example.org CNAME web.example.org', 'web.example.org CNAME host.example.org'];
    const found = ask(pipeline, 'www.example.org');
    expect(found.answers).toEqual([...chain, 'host.example.org A 192.0.2.5']);
    const nothing = ask(pipeline, 'www.example.org', 'AAAA');
    expect(nothing).toMatchObject({
      rcode: 'NOERROR',
      answers: chain,
      authorities: ['host.example.org SOA'],
    });
    expect(ask(pipeline, 'www.example.org', 'CNAME').answers).toEqual(chain.slice(0, 1));
    const left = ask(pipeline, 'out.example.org');
    expect(left).toMatchObject({ result: 'unresolved', status: 'LOCAL', target: 'www.example.net' });
  });

  test('override lists', () => {
    const pipeline = pipelineWith(['ads.example.org A 192.0.2.5'], {}, [
      'ads.example.org\nmore.example.org\n',
    ]);
    expect(ask(pipeline, 'ads.example.org').answers).toEqual(['ads.example.org A 192.0.2.5']);
    expect(ask(pipeline, 'more.example.org').status).toBe('BLOCKED_LIST');
  });

  test('from the configuration override records from the API, and both override DHCP leases', () => {
    const pipeline = pipelineWith(['a.example.org CNAME b.example.org', 'c.example.org A 192.0.2.3'], {
      configRecords: configured('a.example.org A 192.0.2.1'),
      leases: [
        { fqdn: 'c.example.org', address: '192.0.2.99' },
        { fqdn: 'Phone.example.org', address: '192.0.2.50' },
        { fqdn: 'phone.example.org', address: '2001:db8::50' },
      ],
    });
    expect(ask(pipeline, 'a.example.org').answers).toEqual(['a.example.org A 192.0.2.1']);
    expect(ask(pipeline, 'c.example.org').answers).toEqual(['c.example.org A 192.0.2.3']);
    expect(ask(pipeline, 'phone.example.org').answers).toEqual(['phone.example.org A 192.0.2.50']);
    expect(ask(pipeline, 'phone.example.org', 'AAAA').answers).toEqual([
      'phone.example.org AAAA 2001:db8::50',
    ]);
    expect(ask(pipeline, '50.2.0.192.in-addr.arpa', 'PTR').answers).toEqual([
      '50.2.0.192.in-addr.arpa PTR phone.example.org',
    ]);
  });

  test('that are too long for UDP are truncated over UDP and complete over TCP', () => {
    const text = 'x'.repeat(3000);
    const pipeline = pipelineWith([`long.example.org TXT ${text}`, 'mid.example.org TXT ' + 'y'.repeat(800)]);
    expect(ask(pipeline, 'long.example.org', 'TXT', { udpSize: 4096 })).toMatchObject({
      tc: true,
      answers: [],
    });
    expect(ask(pipeline, 'mid.example.org', 'TXT')).toMatchObject({ tc: true, answers: [] });
    expect(ask(pipeline, 'mid.example.org', 'TXT', { udpSize: 1232 }).tc).toBe(false);
    const whole = ask(pipeline, 'long.example.org', 'TXT', { tcp: true });
    expect(whole.answers).toEqual([`long.example.org TXT ${text}`]);
  });

  test('that form an alias loop across sources give SERVFAIL', () => {
    const pipeline = pipelineWith(['a.example.org CNAME b.example.org'], {
      configRecords: configured('b.example.org CNAME a.example.org'),
    });
    expect(ask(pipeline, 'a.example.org')).toMatchObject({ rcode: 'SERVFAIL', status: 'SERVFAIL' });
  });
});

describe('local wildcard records', () => {
  const pipeline = pipelineWith([
    '*.example.org A 192.0.2.1',
    'host.example.org TXT here',
    'deep.sub.example.org A 192.0.2.2',
    '*.alias.example.org CNAME host.example.net',
  ]);

  test('match names that have no other records, at any depth', () => {
    for (const name of ['x.example.org', 'y.x.example.org'])
      expect(ask(pipeline, name).answers).toEqual([`${name} A 192.0.2.1`]);
    expect(ask(pipeline, 'z.alias.example.org').target).toBe('host.example.net');
    expect(ask(pipeline, 'x.example.org', 'AAAA')).toMatchObject({ rcode: 'NOERROR', answers: [] });
  });

  test('match names between, next to and below other records (like dnsmasq, unlike RFC 4592)', () => {
    const home = pipelineWith([
      '*.w1.example A 192.0.2.1',
      'www.w1.example A 192.0.2.2',
      'nas.lan.w1.example A 192.0.2.3',
      '*.near.w1.example A 192.0.2.4',
    ]);
    for (const name of ['lan', 'foo.lan', 'a.www', 'a.nas.lan', 'near'].map((label) => `${label}.w1.example`))
      expect(ask(home, name).answers).toEqual([`${name} A 192.0.2.1`]);
    expect(ask(home, 'lan.w1.example', 'AAAA')).toMatchObject({ rcode: 'NOERROR', answers: [] });
    expect(ask(home, 'a.b.near.w1.example').answers).toEqual(['a.b.near.w1.example A 192.0.2.4']);
  });

  test('do not match names with other records, the parent of the wildcard, or service names (_service._proto)', () => {
    expect(ask(pipeline, 'host.example.org')).toMatchObject({ rcode: 'NOERROR', answers: [] });
    expect(ask(pipeline, 'example.org')).toMatchObject(NOT_LOCAL);
    expect(ask(pipeline, '_acme-challenge.x.example.org', 'TXT')).toMatchObject(NOT_LOCAL);
  });

  test('are overridden only by a forward zone with a longer name', () => {
    const zoned = (zone: string) => {
      const forwardZone = {
        zone,
        names: [nameFromText(zone)!],
        partition: 1,
        servers: [parseUpstream('192.0.2.53')!],
        upstreamNumbers: [],
      };
      return pipelineWith(['*.example.org A 192.0.2.1', 'nas.lan.example.org A 192.0.2.2'], {
        names: { ...NO_NAME_RULES, forwardZones: [forwardZone] },
      });
    };
    const longer = zoned('lan.example.org');
    expect(ask(longer, 'x.lan.example.org').status).not.toBe('LOCAL');
    expect(ask(longer, 'nas.lan.example.org').answers).toEqual(['nas.lan.example.org A 192.0.2.2']);
    expect(ask(longer, 'x.example.org').answers).toEqual(['x.example.org A 192.0.2.1']);
    expect(ask(zoned('example.org'), 'x.example.org').answers).toEqual(['x.example.org A 192.0.2.1']);
  });

  test('match the same names as a reference implementation that scans all records', () => {
    const label = fc.constantFrom('a', 'b', 'c');
    const name = fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join('.'));
    const owner = fc.tuple(fc.boolean(), name).map(([isWild, text]) => `${isWild ? '*.' : ''}${text}`);
    const property = fc.property(fc.array(owner, { maxLength: 8 }), name, (owners, asked) => {
      const distinct = [...new Set(owners)];
      const known = pipelineWith(distinct.map((text, index) => `${text} A 192.0.2.${index + 1}`));
      const winner = oracle(distinct, asked);
      const { result, answers } = ask(known, asked);
      if (winner === 'forward') expect(result).toBe('unresolved');
      else expect(answers).toEqual([`${asked} A 192.0.2.${distinct.indexOf(winner) + 1}`]);
    });
    fc.assert(property, { numRuns: 200 });
  });
});

/** The owner in the list that matches a name; names here do not start with an underscore. */
function oracle(owners: readonly string[], asked: string): string {
  const labels = asked.split('.');
  const wildcards = labels.map((_, at) => ['*', ...labels.slice(at + 1)].join('.'));
  return [asked, ...wildcards.slice(0, -1)].find((owner) => owners.includes(owner)) ?? 'forward';
}

describe('findAliasLoop, which detects loops of local aliases,', () => {
  const loopOf = (...lines: string[]): string | undefined =>
    findAliasLoop(
      buildLocalTree(localRecords({ localRecords: lines.map(apiRecord) }, { configRecords: [], leases: [] })),
    );

  test('returns an alias that is part of a loop, also through wildcards', () => {
    expect(loopOf('a.example.org CNAME a.example.org')).toBe('a.example.org');
    expect(
      loopOf('a.example CNAME b.example', 'b.example CNAME c.example', 'c.example CNAME a.example'),
    ).toBe('a.example');
    expect(loopOf('*.example.org CNAME x.example.org')).toBe('*.example.org');
  });

  test('returns nothing if every alias chain ends', () => {
    expect(
      loopOf('a.example CNAME b.example', 'c.example CNAME b.example', 'b.example A 192.0.2.1'),
    ).toBeUndefined();
    expect(loopOf('*.example.org CNAME example.org', 'example.org A 192.0.2.1')).toBeUndefined();
  });
});
