/** The whole pipeline over compiled lists and manual rules: answers to clients, and log entries. */
import { beforeEach, describe, expect, test } from '@jest/globals';
import { StageResult } from '../../dns-worker/query/query.ts';
import { ReplacedTables } from '../../dns-worker/threads/replaced-tables.ts';
import { openSnapshot } from '../../dns-worker/policy/open-snapshot.ts';
import { nameToText } from '../../shared/dns/name.ts';
import { a, cname } from '../support/dns/built-messages.ts';
import { snapshotOf } from '../support/parts/test-lists.ts';
import { until } from '../support/parts/until.ts';
import { PolicyPipeline, sent } from '../support/parts/policy-pipeline.ts';

const BLOCK = { kind: 'block', subdomains: false } as const;

let weir: PolicyPipeline;

beforeEach(() => {
  weir = new PolicyPipeline();
});

describe('Pipeline, applying policy to a query,', () => {
  test('answers services with NXDOMAIN in every blocking mode, and only for their group', () => {
    const service = { serviceId: 's', serviceName: 'S', domains: ['tube.example'], exact: ['t.example'] };
    weir.use([], { blockedServices: [{ ...service, groupId: 1 }] });
    expect(weir.ask('www.tube.example')).toMatchObject({
      result: StageResult.ANSWERED,
      status: 'BLOCKED_SERVICE',
    });
    expect(sent(weir.ask('tube.example'))).toEqual({ rcode: 'NXDOMAIN', answers: [] });
    expect(weir.ask('t.example').status).toBe('BLOCKED_SERVICE');
    expect(weir.ask('a.t.example').result).toBe(StageResult.UNRESOLVED);
    weir.use([], { blockedServices: [{ ...service, groupId: 7 }] });
    expect(weir.ask('www.tube.example').result).toBe(StageResult.UNRESOLVED);
  });

  test('answers ANY queries itself if policy allows the name', () => {
    const ANY = 255;
    weir.use([{ text: '||listed.example^\n', reading: BLOCK }]);
    expect(weir.ask('listed.example', ANY).status).toBe('BLOCKED_LIST');
    const asked = weir.ask('other.example', ANY);
    expect([asked.result, asked.status]).toEqual([StageResult.ANSWERED, 'LOCAL']);
    // RFC 8482 section 4.2.
    expect(sent(asked)).toEqual({ rcode: 'NOERROR', answers: [['HINFO', { cpu: 'RFC8482', os: '' }]] });
    // A cached answer of an upstream is not used.
    weir.cache('other.example', 1, [a('other.example', '198.51.100.1')]);
    expect(weir.ask('other.example', ANY).status).toBe('LOCAL');
  });

  test('keeps no reference to a replaced policy snapshot after any kind of query', async () => {
    const freed: string[] = [];
    const registry = new FinalizationRegistry((name: string) => freed.push(name));
    // A separate function, so that no variable here references a snapshot.
    const askAndReplace = (): void => {
      registry.register(weir.use([{ text: 'listed.example\n', reading: BLOCK }]), 'judged');
      expect(weir.ask('listed.example').status).toBe('BLOCKED_LIST');
      expect(weir.ask('other.example').result).toBe(StageResult.UNRESOLVED);
      registry.register(weir.use([]), 'answers judged');
      weir.cache('alias.example', 1, [
        cname('alias.example', 'target.example'),
        a('target.example', '198.51.100.1'),
      ]);
      expect(weir.ask('alias.example').status).toBe('CACHED');
      weir.use([]);
    };
    askAndReplace();
    new ReplacedTables().freeSoon();
    await until(
      'both snapshots to be freed',
      () => freed,
      ({ length }) => length === 2,
    );
    expect(weir.pipeline.snapshot.version).toBe(weir.version);
  });

  test('keeps a domain blocked while any blocked service contains it', () => {
    const one = {
      serviceId: 'one',
      serviceName: 'One',
      domains: ['shared.example', 'one.example'],
      exact: [],
    };
    const two = { serviceId: 'two', serviceName: 'Two', domains: ['shared.example'], exact: [] };
    const both = [one, two].map((service) => ({ ...service, groupId: 1 }));
    weir.use([], { blockedServices: both });
    expect(weir.ask('www.shared.example').status).toBe('BLOCKED_SERVICE');
    weir.use([], { blockedServices: both.slice(1) });
    expect(weir.ask('www.shared.example').status).toBe('BLOCKED_SERVICE');
    expect(weir.ask('www.one.example').result).toBe(StageResult.UNRESOLVED);
    weir.use([], { blockedServices: [both[0]!, { ...two, groupId: 7 }] });
    expect(weir.ask('www.shared.example').status).toBe('BLOCKED_SERVICE');
    weir.use([], { blockedServices: [{ ...two, groupId: 7 }] });
    expect(weir.ask('www.shared.example').result).toBe(StageResult.UNRESOLVED);
  });

  test('ranks managed domains, regex filters and lists in the order of the contract', () => {
    const row = { name: 'm', suffix: false, groupId: null };
    weir.use([{ text: '||listed.example^\n||important.example^$important\n', reading: BLOCK }], {
      managedDomains: [
        { ...row, id: 1, domain: 'a.listed.example', action: 'allow' },
        { ...row, id: 2, domain: 'b.listed.example', action: 'deny' },
        { ...row, id: 3, domain: 'a.important.example', action: 'allow' },
        { ...row, id: 4, domain: 'deny.example', suffix: true, action: 'deny' },
      ],
      regexFilters: [
        { id: 1, name: 'r', pattern: '^c\\.', action: 'allow', groupId: null },
        { id: 2, name: 'r', pattern: '^d[0-9]+\\.', action: 'deny', groupId: null },
      ],
    });
    expect(weir.ask('a.listed.example').result).toBe(StageResult.UNRESOLVED);
    expect(weir.ask('b.listed.example').status).toBe('BLOCKED_MANAGED');
    expect(weir.ask('c.listed.example').result).toBe(StageResult.UNRESOLVED);
    expect(weir.ask('e.listed.example').status).toBe('BLOCKED_LIST');
    expect(weir.ask('a.important.example').result).toBe(StageResult.UNRESOLVED);
    expect(weir.ask('c.deny.example').status).toBe('BLOCKED_MANAGED');
    expect(weir.ask('d12.example').status).toBe('BLOCKED_REGEX');
  });

  test('returns the records of a $dnsrewrite rule', () => {
    const text =
      '||nx.example^$dnsrewrite=NXDOMAIN\n||refused.example^$dnsrewrite=REFUSED\n||to.example^$dnsrewrite=192.0.2.7\n';
    weir.use([{ text, reading: BLOCK }]);
    expect(sent(weir.ask('nx.example'))).toEqual({ rcode: 'NXDOMAIN', answers: [] });
    expect(sent(weir.ask('a.refused.example'))).toEqual({ rcode: 'REFUSED', answers: [] });
    expect(sent(weir.ask('to.example'))).toEqual({ rcode: 'NOERROR', answers: [['A', '192.0.2.7']] });
    expect(sent(weir.ask('to.example', 28))).toEqual({ rcode: 'NOERROR', answers: [] });
  });

  test('returns an alias for a $dnsrewrite rule with a host name, and resolves the target', () => {
    const text =
      '||ads.example^$dnsrewrite=Sink.example.net.\n||typed.example^$dnsrewrite=NOERROR;CNAME;sink.example.net\n' +
      '||sink.example.net^$dnsrewrite=sink.example.net\n||text.example^$dnsrewrite=NOERROR;TXT;hello\n';
    weir.use([{ text, reading: BLOCK }]);
    for (const name of ['www.ads.example', 'typed.example']) {
      const { query, result, status } = weir.ask(name);
      expect([result, status]).toEqual([StageResult.UNRESOLVED, 'LOCAL']);
      expect(nameToText(query.alias.slice(0, query.aliasLength))).toBe('sink.example.net');
    }
    expect(sent(weir.ask('ads.example', 5))).toEqual({
      rcode: 'NOERROR',
      answers: [['CNAME', 'sink.example.net']],
    });
    expect(weir.ask('sink.example.net')).toMatchObject({
      result: StageResult.UNRESOLVED,
      query: { aliasLength: 0 },
    });
    expect(sent(weir.ask('text.example', 16))).toEqual({
      rcode: 'NOERROR',
      answers: [['TXT', [Buffer.from('hello')]]],
    });
    expect(sent(weir.ask('text.example'))).toEqual({ rcode: 'NOERROR', answers: [] });
  });

  test('merges the records of all matching $dnsrewrite rules, regardless of their order', () => {
    const rules = [
      '||rw.example^$dnsrewrite=NOERROR;A;192.0.2.57',
      '||rw.example^$dnsrewrite=NOERROR;AAAA;2001:db8::57',
      '*w.example^$dnsrewrite=192.0.2.58',
      '||c.rw.example^$dnsrewrite=safe.example',
      '||n.rw.example^$dnsrewrite=NXDOMAIN',
    ];
    for (const text of [rules, rules.toReversed()].map((lines) => `${lines.join('\n')}\n`)) {
      weir.use([{ text, reading: BLOCK }]);
      const both = [
        ['A', '192.0.2.57'],
        ['A', '192.0.2.58'],
      ];
      const { answers } = sent(weir.ask('rw.example')) as { answers: unknown[] };
      expect(answers).toHaveLength(2);
      expect(answers).toEqual(expect.arrayContaining(both));
      expect(sent(weir.ask('a.rw.example', 28))).toEqual({
        rcode: 'NOERROR',
        answers: [['AAAA', '2001:db8::57']],
      });
      expect(weir.ask('c.rw.example').query.aliasLength).toBeGreaterThan(0);
      expect(sent(weir.ask('n.rw.example'))).toEqual({ rcode: 'NXDOMAIN', answers: [] });
    }
  });

  test.each([
    ['@@||z.example^'],
    ['@@||z.example^$important'],
    ['||z.example^$important'],
    ['0.0.0.0 z.example'],
  ])('ranks a $dnsrewrite rule above %s of any list', (line) => {
    for (const lists of [
      [`${line}\n||z.example^$dnsrewrite=192.0.2.4\n`],
      [`${line}\n`, '||z.example^$dnsrewrite=192.0.2.4\n'],
    ]) {
      weir.use(lists.map((text) => ({ text, reading: BLOCK })));
      const asked = weir.ask('z.example');
      expect([asked.status, sent(asked)]).toEqual([
        'LOCAL',
        { rcode: 'NOERROR', answers: [['A', '192.0.2.4']] },
      ]);
    }
  });

  test('ranks allowlists above $dnsrewrite rules and above $important rules of blocklists', () => {
    const text = '||a.example^$dnsrewrite=192.0.2.4\n||b.example^$important\n||c.example^$important\n';
    const allows = 'a.example\n||b.example^\n/^c[.]/\n';
    weir.use([
      { text, reading: BLOCK },
      { text: allows, reading: { kind: 'allow', subdomains: false } },
    ]);
    for (const name of ['a.example', 'x.b.example', 'c.example'])
      expect(weir.ask(name).result).toBe(StageResult.UNRESOLVED);
    expect([weir.ask('x.a.example').status, weir.ask('x.c.example').status]).toEqual([
      'LOCAL',
      'BLOCKED_LIST',
    ]);
  });

  test('applies $dnsrewrite rules with records or names, but not with RCODEs, while blocking is paused', () => {
    const text =
      '||a.example^$dnsrewrite=192.0.2.4\n||b.example^$dnsrewrite=safe.example\n||c.example^$dnsrewrite=NXDOMAIN\n||d.example^\n';
    weir.use([{ text, reading: BLOCK }], { blockingSwitch: { enabled: false, until: null } });
    expect(sent(weir.ask('a.example'))).toMatchObject({ answers: [['A', '192.0.2.4']] });
    expect(weir.ask('b.example').query.aliasLength).toBeGreaterThan(0);
    for (const name of ['c.example', 'd.example']) {
      const { result, query } = weir.ask(name);
      expect([result, query.aliasLength]).toEqual([StageResult.UNRESOLVED, 0]);
    }
  });

  test('ignores a $dnsrewrite rule for which an exception rule exists', () => {
    const text = [
      ...['||a.example^$dnsrewrite=192.0.2.4', '||a.example^$dnsrewrite=192.0.2.5'],
      ...['@@||a.example^$dnsrewrite=192.0.2.4', '@@||all.a.example^$dnsrewrite'],
      ...['||b.example^$dnsrewrite=REFUSED,important', '@@||b.example^$dnsrewrite', ''],
    ].join('\n');
    weir.use([{ text, reading: BLOCK }]);
    expect(sent(weir.ask('a.example'))).toMatchObject({ answers: [['A', '192.0.2.5']] });
    expect(weir.ask('all.a.example').result).toBe(StageResult.UNRESOLVED);
    expect([weir.ask('b.example').status, sent(weir.ask('b.example'))]).toEqual([
      'BLOCKED_LIST',
      { rcode: 'REFUSED', answers: [] },
    ]);
  });

  test('matches $dnstype with the record type, and $dnsrewrite with the queried name only, not with aliases', () => {
    const text =
      '||trk1.example^$dnstype=~CNAME\n||trk2.example^$dnstype=A\n||trk3.example^$dnstype=CNAME\n||trk4.example^$dnsrewrite=NXDOMAIN\n';
    weir.use([{ text, reading: BLOCK }]);
    const statuses = [1, 2, 3, 4].map((number) => {
      const target = `trk${String(number)}.example`;
      weir.cache(`x${String(number)}.test`, 1, [
        cname(`x${String(number)}.test`, target),
        a(target, '198.51.100.1'),
      ]);
      return weir.ask(`x${String(number)}.test`).status;
    });
    expect(statuses).toEqual(['CACHED', 'CACHED', 'BLOCKED_CNAME', 'CACHED']);
    expect([1, 2, 3, 4].map((number) => weir.ask(`trk${String(number)}.example`).status)).toEqual([
      'BLOCKED_LIST',
      'BLOCKED_LIST',
      'ALLOWED',
      'BLOCKED_LIST',
    ]);
  });

  test('evaluates rules with conditions separately for each query and client', () => {
    weir.use([
      { text: '||typed.example^$dnstype=AAAA\n||own.example^$client=192.0.2.0/24\n', reading: BLOCK },
    ]);
    expect(weir.ask('typed.example', 28).status).toBe('BLOCKED_LIST');
    expect(weir.ask('typed.example', 1).result).toBe(StageResult.UNRESOLVED);
    expect(weir.ask('typed.example', 28).status).toBe('BLOCKED_LIST');
    expect(weir.ask('own.example', 1, '192.0.2.9').status).toBe('BLOCKED_LIST');
    expect(weir.ask('own.example', 1, '198.51.100.9').result).toBe(StageResult.UNRESOLVED);
  });

  test('disables rules by $badfilter only for the groups of its list', () => {
    const rules = [
      '||name.example^',
      '||pat*.example^',
      '/^regex[0-9]\\.example$/',
      '||typed.example^$dnstype=A',
    ];
    const names = ['name.example', 'pattern.example', 'regex1.example', 'typed.example'];
    const badfilter = (rule: string): string => `${rule}${rule.includes('$dns') ? ',' : '$'}badfilter\n`;
    const rows = {
      groups: [1, 2].map((id) => ({ id, enabled: true })),
      clients: [{ address: '192.0.2.2', groupId: 2 }],
    };
    const lists = (groupIds: number[]) => [
      { text: rules.map(badfilter).join(''), reading: BLOCK, groupIds },
      { text: `${rules.join('\n')}\n`, reading: BLOCK },
    ];
    const statuses = (client: string) => names.map((name) => weir.ask(name, 1, client).status);
    weir.use(lists([2]), rows);
    expect(statuses('192.0.2.1')).toEqual(names.map(() => 'BLOCKED_LIST'));
    expect(statuses('192.0.2.2')).toEqual(names.map(() => 'ALLOWED'));
    weir.use(lists([]), rows);
    expect(statuses('192.0.2.1')).toEqual(names.map(() => 'ALLOWED'));
  });

  test('matches $client rules by client name and by MAC at the current address of the client', () => {
    const mac = '02:00:5e:10:00:01';
    const text = [
      `||kids.example^$client='Mary\\'s tablet'|02-00-5E-10-00-01`,
      '||all.example^$client=~Laptop|~192.0.2.9',
      `@@||free.example^$client="mary's tablet"`,
      '||free.example^',
      '||both.example^$client=192.0.2.8|laptop\n',
    ].join('\n');
    const at = (where: Record<string, string[]>): void => {
      const findClients = (names: readonly string[]) =>
        names.map((name) => ({ name, addresses: where[name] ?? [] }));
      weir.pipeline.replaceSnapshot(
        openSnapshot(snapshotOf([{ text, reading: BLOCK }], {}, ++weir.version, { findClients })),
      );
    };
    const isBlocked = (name: string, client: string) => weir.ask(name, 1, client).status === 'BLOCKED_LIST';
    at({ "mary's tablet": ['192.0.2.1', '2001:db8::1'], [mac]: ['192.0.2.2'], laptop: ['192.0.2.3'] });
    const clients = [
      '192.0.2.1',
      '2001:db8::1',
      '192.0.2.2',
      '192.0.2.3',
      '192.0.2.4',
      '192.0.2.8',
      '192.0.2.9',
    ];
    const blockedAt = (name: string) => clients.filter((client) => isBlocked(name, client));
    expect(blockedAt('kids.example')).toEqual(['192.0.2.1', '2001:db8::1', '192.0.2.2']);
    expect(blockedAt('all.example')).toEqual(clients.filter((client) => !/\.[39]$/.test(client)));
    expect(blockedAt('free.example')).toEqual(clients.slice(2));
    expect(blockedAt('both.example')).toEqual(['192.0.2.3', '192.0.2.8']);
    // The client moves to another address, and the other names no longer belong to any client.
    at({ [mac]: ['192.0.2.4'] });
    expect(blockedAt('kids.example')).toEqual(['192.0.2.4']);
    expect(blockedAt('all.example')).toEqual(clients.slice(0, -1));
  });
});
