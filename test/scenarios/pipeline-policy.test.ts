/** The whole pipeline over compiled lists and manual rules: what is answered, and what the log is told. */
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { AnswerCache } from '../../dns-worker/cache/answer-cache.ts';
import { CacheMemory } from '../../shared/memory/cache-memory.ts';
import { CacheWriter } from '../../dns-worker/cache/cache-writer.ts';
import { ClientNetworks } from '../../dns-worker/policy/client-networks.ts';
import { ClientSightings } from '../../dns-worker/report/sighting-writer.ts';
import { Forwarder } from '../../dns-worker/forward/forwarder.ts';
import { Explainer } from '../../dns-worker/threads/question-explainer.ts';
import { Pipeline } from '../../dns-worker/pipeline.ts';
import { Query, StageResult } from '../../dns-worker/query/query.ts';
import { RateLimiter } from '../../dns-worker/policy/rate-limiter.ts';
import { ReplacedTables } from '../../dns-worker/threads/replaced-tables.ts';
import { Reporter } from '../../dns-worker/report/reporter.ts';
import { NodeFlights } from '../../dns-worker/resolve/node-flights.ts';
import type { Resolver } from '../../dns-worker/resolve/resolver.ts';
import { ZoneResolvers } from '../../dns-worker/resolve/zone-resolvers.ts';
import { readResponse } from '../../dns-worker/resolve/response/response-reader.ts';
import { type OpenSnapshot, openSnapshot } from '../../dns-worker/policy/open-snapshot.ts';
import { ThreadGuard } from '../../dns-worker/report/thread-guard.ts';
import { createAnswerCache } from '../../shared/memory/answer-cache-layout.ts';
import { createRateBuckets } from '../../shared/memory/rate-buckets.ts';
import { rateLimitOf } from '../support/parts/test-rate-limit.ts';
import { cookiesAt } from '../support/parts/cookies-of-tests.ts';
import { systemClock } from '../../shared/clock.ts';
import { CLIENT_SIGHTINGS_BYTES } from '../../shared/memory/sighting-layout.ts';
import { COUNTERS_BYTES, Counter } from '../../shared/memory/counters.ts';
import { decodeMessage } from '../../shared/dns/codec.ts';
import { nameFromText, nameToText } from '../../shared/dns/name.ts';
import type { Explanation } from '../../shared/threads/explanation.ts';
import { addressFromText } from '../../shared/net/ip.ts';
import { QUERY_STATUS_NAMES, logRingBytes } from '../../shared/query-log.ts';
import { RuleOrigin } from '../../shared/snapshot/rule-origin.ts';
import { RuleKind } from '../../shared/snapshot/rule-table.ts';
import {
  type TestRecord,
  a,
  cname,
  octets,
  question,
  response,
  u16,
  wireName,
} from '../support/dns/built-messages.ts';
import { MemoryLogger } from '../support/parts/memory-logger.ts';
import { type ListText, type OtherRows, snapshotOf, queryFor } from '../support/parts/test-lists.ts';
import { until } from '../support/parts/until.ts';

const BLOCK = { kind: 'block', subdomains: false } as const;
const NOW = 1_800_000_000;

let memory: CacheMemory;
let pipeline: Pipeline;
let reporter: Reporter;
let countersMemory: SharedArrayBuffer;
let version = 0;

function use(lists: readonly ListText[], rows: OtherRows = {}): OpenSnapshot {
  const snapshot = openSnapshot(snapshotOf(lists, rows, ++version));
  pipeline.replaceSnapshot(snapshot);
  return snapshot;
}

/** Puts what an upstream would answer into the cache. */
function cache(name: string, qtype: number, answers: TestRecord[]): void {
  const asked = question(name, qtype);
  const read = readResponse(response(asked, { answers }), asked);
  if (read.kind !== 'answer') throw new Error(`read answer: ${JSON.stringify(read)}`);
  const query = queryFor(name, pipeline.snapshot, qtype);
  const key = { qname: asked.qname, nameLow: query.hashLow[0]!, nameHigh: query.hashHigh[0]! };
  new CacheWriter(memory, 0).store(
    { ...key, qtype, qclass: 1, dnssecOk: false, checkingDisabled: false, partition: 0 },
    read.answer,
    { storedAtSecs: NOW, expiresAtSecs: NOW + 300, staleUntilSecs: NOW + 300, dnssec: 0, upstream: 1 },
  );
}

function ask(
  name: string,
  qtype = 1,
  client = '192.0.2.1',
): { query: Query; result: number; status: string } {
  const wire = nameFromText(name)!;
  const bytes = new Uint8Array(2048);
  bytes.set([0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
  bytes.set(wire, 12);
  bytes.set([0, qtype, 0, 1], 12 + wire.length);
  const query = new Query();
  query.clientBytes = addressFromText(client)!;
  query.begin(bytes, 0, 16 + wire.length, bytes.length);
  query.arrivedMonotonicSecs = NOW;
  const result = pipeline.run(query);
  return { query, result, status: QUERY_STATUS_NAMES[query.status]! };
}

/** Response code and answers of what would be sent. */
function sent({ query }: { query: Query }): unknown {
  const { rcode, answers } = decodeMessage(query.bytes.slice(0, query.replyLength)) as {
    rcode?: string;
    answers?: { type: string; data: unknown }[];
  };
  return { rcode, answers: (answers ?? []).map(({ type, data }) => [type, data]) };
}

beforeEach(() => {
  memory = new CacheMemory(createAnswerCache(262_144));
  countersMemory = new SharedArrayBuffer(COUNTERS_BYTES);
  reporter = new Reporter(countersMemory, new SharedArrayBuffer(logRingBytes(16)));
  pipeline = new Pipeline(openSnapshot(snapshotOf([])), {
    cache: new AnswerCache(memory),
    reporter,
    sightings: new ClientSightings(new SharedArrayBuffer(CLIENT_SIGHTINGS_BYTES)),
    limiter: new RateLimiter(createRateBuckets(false, 0), rateLimitOf({ enabled: false })),
    cookies: cookiesAt(NOW),
    forwardsEcs: false,
  });
});

describe('Pipeline', () => {
  test('answers services with NXDOMAIN, whatever the mode, and for their group only', () => {
    const service = { serviceId: 's', serviceName: 'S', domains: ['tube.example'], exact: ['t.example'] };
    use([], { blockedServices: [{ ...service, groupId: 1 }] });
    expect(ask('www.tube.example')).toMatchObject({
      result: StageResult.ANSWERED,
      status: 'BLOCKED_SERVICE',
    });
    expect(sent(ask('tube.example'))).toEqual({ rcode: 'NXDOMAIN', answers: [] });
    expect(ask('t.example').status).toBe('BLOCKED_SERVICE');
    expect(ask('a.t.example').result).toBe(StageResult.UNRESOLVED);
    use([], { blockedServices: [{ ...service, groupId: 7 }] });
    expect(ask('www.tube.example').result).toBe(StageResult.UNRESOLVED);
  });

  test('holds no snapshot that was replaced, whatever was asked of it', async () => {
    const freed: string[] = [];
    const registry = new FinalizationRegistry((name: string) => freed.push(name));
    // In a function of its own, so that no variable of this one holds a snapshot.
    const askAndReplace = (): void => {
      registry.register(use([{ text: 'listed.example\n', reading: BLOCK }]), 'judged');
      expect(ask('listed.example').status).toBe('BLOCKED_LIST');
      expect(ask('other.example').result).toBe(StageResult.UNRESOLVED);
      registry.register(use([]), 'answers judged');
      cache('alias.example', 1, [
        cname('alias.example', 'target.example'),
        a('target.example', '198.51.100.1'),
      ]);
      expect(ask('alias.example').status).toBe('CACHED');
      use([]);
    };
    askAndReplace();
    new ReplacedTables().freeSoon();
    await until(() => freed.length === 2);
    expect(pipeline.snapshot.version).toBe(version);
  });

  test('keeps a domain blocked while one of the blocked services that share it is left', () => {
    const one = {
      serviceId: 'one',
      serviceName: 'One',
      domains: ['shared.example', 'one.example'],
      exact: [],
    };
    const two = { serviceId: 'two', serviceName: 'Two', domains: ['shared.example'], exact: [] };
    const both = [one, two].map((service) => ({ ...service, groupId: 1 }));
    use([], { blockedServices: both });
    expect(ask('www.shared.example').status).toBe('BLOCKED_SERVICE');
    use([], { blockedServices: both.slice(1) });
    expect(ask('www.shared.example').status).toBe('BLOCKED_SERVICE');
    expect(ask('www.one.example').result).toBe(StageResult.UNRESOLVED);
    use([], { blockedServices: [both[0]!, { ...two, groupId: 7 }] });
    expect(ask('www.shared.example').status).toBe('BLOCKED_SERVICE');
    use([], { blockedServices: [{ ...two, groupId: 7 }] });
    expect(ask('www.shared.example').result).toBe(StageResult.UNRESOLVED);
  });

  test('weighs managed domains, regex filters and lists in the order of the contract', () => {
    const row = { name: 'm', suffix: false, groupId: null };
    use([{ text: '||listed.example^\n||important.example^$important\n', reading: BLOCK }], {
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
    expect(ask('a.listed.example').result).toBe(StageResult.UNRESOLVED);
    expect(ask('b.listed.example').status).toBe('BLOCKED_MANAGED');
    expect(ask('c.listed.example').result).toBe(StageResult.UNRESOLVED);
    expect(ask('e.listed.example').status).toBe('BLOCKED_LIST');
    expect(ask('a.important.example').result).toBe(StageResult.UNRESOLVED);
    expect(ask('c.deny.example').status).toBe('BLOCKED_MANAGED');
    expect(ask('d12.example').status).toBe('BLOCKED_REGEX');
  });

  test('gives the answer that $dnsrewrite names', () => {
    const text =
      '||nx.example^$dnsrewrite=NXDOMAIN\n||refused.example^$dnsrewrite=REFUSED\n||to.example^$dnsrewrite=192.0.2.7\n';
    use([{ text, reading: BLOCK }]);
    expect(sent(ask('nx.example'))).toEqual({ rcode: 'NXDOMAIN', answers: [] });
    expect(sent(ask('a.refused.example'))).toEqual({ rcode: 'REFUSED', answers: [] });
    expect(sent(ask('to.example'))).toEqual({ rcode: 'NOERROR', answers: [['A', '192.0.2.7']] });
    expect(sent(ask('to.example', 28))).toEqual({ rcode: 'NOERROR', answers: [] });
  });

  test('makes an alias of a name where $dnsrewrite names a host, and leaves its target to be asked for', () => {
    const text =
      '||ads.example^$dnsrewrite=Sink.example.net.\n||typed.example^$dnsrewrite=NOERROR;CNAME;sink.example.net\n' +
      '||sink.example.net^$dnsrewrite=sink.example.net\n||text.example^$dnsrewrite=NOERROR;TXT;hello\n';
    use([{ text, reading: BLOCK }]);
    for (const name of ['www.ads.example', 'typed.example']) {
      const { query, result, status } = ask(name);
      expect([result, status]).toEqual([StageResult.UNRESOLVED, 'BLOCKED_LIST']);
      expect(nameToText(query.alias.slice(0, query.aliasLength))).toBe('sink.example.net');
    }
    expect(sent(ask('ads.example', 5))).toEqual({
      rcode: 'NOERROR',
      answers: [['CNAME', 'sink.example.net']],
    });
    expect(ask('sink.example.net')).toMatchObject({
      result: StageResult.UNRESOLVED,
      query: { aliasLength: 0 },
    });
    expect(sent(ask('text.example', 16))).toEqual({
      rcode: 'NOERROR',
      answers: [['TXT', [Buffer.from('hello')]]],
    });
    expect(sent(ask('text.example'))).toEqual({ rcode: 'NOERROR', answers: [] });
  });

  test('judges conditional rules for each question and client again', () => {
    use([{ text: '||typed.example^$dnstype=AAAA\n||own.example^$client=192.0.2.0/24\n', reading: BLOCK }]);
    expect(ask('typed.example', 28).status).toBe('BLOCKED_LIST');
    expect(ask('typed.example', 1).result).toBe(StageResult.UNRESOLVED);
    expect(ask('typed.example', 28).status).toBe('BLOCKED_LIST');
    expect(ask('own.example', 1, '192.0.2.9').status).toBe('BLOCKED_LIST');
    expect(ask('own.example', 1, '198.51.100.9').result).toBe(StageResult.UNRESOLVED);
  });

  test('blocks a cached answer whose CNAME leads to a blocked name, and names the rule', () => {
    use([{ text: '||tracker.example^\n', reading: BLOCK }]);
    cache('shop.example', 1, [
      cname('shop.example', 'shop.tracker.example'),
      a('shop.tracker.example', '192.0.2.1'),
    ]);
    const answer = ask('shop.example');
    expect(answer.status).toBe('BLOCKED_CNAME');
    expect(sent(answer)).toEqual({ rcode: 'NOERROR', answers: [['A', '0.0.0.0']] });
    expect(nameToText(answer.query.ruleName.slice(0, answer.query.ruleNameLength))).toBe('tracker.example');
  });

  test('judges a cached answer again with each snapshot, and passes the answers of allowed names', () => {
    use([]);
    cache('shop.example', 1, [
      cname('shop.example', 'x.tracker.example'),
      a('x.tracker.example', '192.0.2.1'),
    ]);
    expect(ask('shop.example').status).toBe('CACHED');
    expect(ask('shop.example').status).toBe('CACHED');
    use([{ text: '||tracker.example^\n', reading: BLOCK }]);
    expect(ask('shop.example').status).toBe('BLOCKED_CNAME');
    use([{ text: '||tracker.example^\n@@||shop.example^\n', reading: BLOCK }]);
    expect(ask('shop.example').status).toBe('CACHED');
  });

  test('an allow rule of a list frees no name in the answer that people or a service deny; one of theirs does', () => {
    const lists = [{ text: '@@||shop.example^\n||tracker.example^\n', reading: BLOCK }];
    const chain = (target: string): void =>
      cache('shop.example', 1, [cname('shop.example', target), a(target, '192.0.2.1')]);
    const managed = (action: 'allow' | 'deny', domain: string) => {
      return { id: 1, name: `${action} it`, domain, suffix: true, action, groupId: null };
    };
    use(lists);
    chain('x.tracker.example');
    expect(ask('shop.example').status).toBe('CACHED');
    use(lists, { managedDomains: [managed('deny', 'tracker.example')] });
    const denied = ask('shop.example');
    expect(denied.status).toBe('BLOCKED_CNAME');
    expect(denied.query.ruleOrigin).toBe(RuleOrigin.MANAGED);
    const regex = { id: 1, name: 'r', pattern: '^x\\.tracker\\.', action: 'deny' as const, groupId: null };
    use(lists, { regexFilters: [regex] });
    expect(ask('shop.example').query.ruleOrigin).toBe(RuleOrigin.REGEX);
    const service = { serviceId: 's', serviceName: 'S', groupId: 1, domains: ['tracker.example'], exact: [] };
    use(lists, { blockedServices: [service] });
    expect(sent(ask('shop.example'))).toEqual({ rcode: 'NXDOMAIN', answers: [] });
    use(lists, {
      managedDomains: [managed('allow', 'shop.example'), managed('deny', 'tracker.example')],
    });
    expect(ask('shop.example').status).toBe('CACHED');
  });

  test('what passed for a client whose list allows the name is judged for one whose list does not', () => {
    const groups = [1, 2].map((id) => ({ id, enabled: true }));
    const lists = [
      { text: '@@||shop.example^$client=192.0.2.1\n', reading: BLOCK },
      { text: '||tracker.example^\n', reading: BLOCK },
    ];
    use(lists, { groups });
    cache('shop.example', 1, [
      cname('shop.example', 'x.tracker.example'),
      a('x.tracker.example', '192.0.2.1'),
    ]);
    expect(ask('shop.example', 1, '192.0.2.1').status).toBe('CACHED');
    expect(ask('shop.example', 1, '192.0.2.2').status).toBe('BLOCKED_CNAME');
    expect(ask('shop.example', 1, '192.0.2.1').status).toBe('CACHED');
  });

  test('$badfilter takes rules back for the groups of its own list only', () => {
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
    const statuses = (client: string) => names.map((name) => ask(name, 1, client).status);
    use(lists([2]), rows);
    expect(statuses('192.0.2.1')).toEqual(names.map(() => 'BLOCKED_LIST'));
    expect(statuses('192.0.2.2')).toEqual(names.map(() => 'ALLOWED'));
    use(lists([]), rows);
    expect(statuses('192.0.2.1')).toEqual(names.map(() => 'ALLOWED'));
  });

  test('judges the addresses of an answer by the prefixes they lie in, for the groups of the list', () => {
    const ruleName = ({ query }: { query: Query }): string =>
      nameToText(query.ruleName.slice(0, query.ruleNameLength));
    cache('host.example', 1, [a('host.example', '198.51.100.1'), a('host.example', '192.0.2.77')]);
    const six = { owner: 'six.example', type: 28, ttl: 300, rdata: addressFromText('2001:db8:1::7')! };
    cache('six.example', 28, [six]);
    const rows = {
      groups: [1, 2].map((id) => ({ id, enabled: true })),
      clients: [{ address: '192.0.2.2', groupId: 2 }],
    };
    const list = '9.0.0.128.192.rpz-ip CNAME .\n25.0.2.0.192.rpz-ip CNAME .\n24.0.2.0.192.rpz-ip CNAME .\n';
    const snapshot = use(
      [{ text: `${list}bogus-nxdomain=2001:db8::/32\n`, reading: BLOCK, groupIds: [2] }],
      rows,
    );
    expect(ask('host.example').status).toBe('CACHED');
    const blocked = ask('host.example', 1, '192.0.2.2');
    expect([blocked.status, ruleName(blocked)]).toEqual(['BLOCKED_LIST', '192.0.2.0/25']);
    expect(sent(blocked)).toEqual({ rcode: 'NOERROR', answers: [['A', '0.0.0.0']] });
    expect(blocked.query.ruleKind).toBe(RuleKind.BLOCK_EXACT);
    const blockedSix = ask('six.example', 28, '192.0.2.2');
    expect([blockedSix.status, ruleName(blockedSix)]).toEqual(['BLOCKED_LIST', '2001:db8::/32']);
    expect([...snapshot.rules.ipv4Prefixes, ...snapshot.rules.ipv6Prefixes]).toEqual([25, 24, 9, 32]);
    // An exception for the address, a prefix of it, or the name outranks them.
    for (const exception of [
      '32.77.2.0.192.rpz-ip CNAME rpz-passthru.',
      '16.0.0.0.192.rpz-ip CNAME rpz-passthru.',
      '@@||host.example^',
    ]) {
      use([{ text: `${list}${exception}\n`, reading: BLOCK }]);
      expect(ask('host.example').status).toBe('CACHED');
    }
  });

  test('judges no address, and looks for no prefix, where no rule is on one', () => {
    cache('host.example', 1, [a('host.example', '192.0.2.77')]);
    const none = use([{ text: '||other.example^\n', reading: BLOCK }]);
    const find = jest.spyOn(none.rules, 'find');
    expect(ask('host.example').status).toBe('CACHED');
    expect(find).toHaveBeenCalledTimes(2);
    const single = use([{ text: '198.51.100.9\n', reading: BLOCK }]);
    const findAddress = jest.spyOn(single.rules, 'find');
    expect(ask('host.example').status).toBe('CACHED');
    expect(findAddress).toHaveBeenCalledTimes(2 + 4);
    expect(ask('host.example').status).toBe('CACHED');
    expect(findAddress).toHaveBeenCalledTimes(2 + 4);
  });

  test('$client by name and by MAC is for the clients that are known by them, wherever they are now', () => {
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
      pipeline.replaceSnapshot(
        openSnapshot(snapshotOf([{ text, reading: BLOCK }], {}, ++version, { findClients })),
      );
    };
    const isBlocked = (name: string, client: string) => ask(name, 1, client).status === 'BLOCKED_LIST';
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
    // It moves, and no one is called the other names any more.
    at({ [mac]: ['192.0.2.4'] });
    expect(blockedAt('kids.example')).toEqual(['192.0.2.4']);
    expect(blockedAt('all.example')).toEqual(clients.slice(0, -1));
  });

  test('judges the target of an HTTPS record', () => {
    use([{ text: 'cdn.tracker.example\n', reading: BLOCK }]);
    const rdata = octets(u16(1), wireName('cdn.tracker.example'));
    cache('shop.example', 65, [{ owner: 'shop.example', type: 65, ttl: 300, rdata }]);
    expect(ask('shop.example', 65).status).toBe('BLOCKED_CNAME');
  });

  test('judges the addresses of an answer where a rule is on one, and names the rule', () => {
    use([{ text: 'ads.example\n', reading: BLOCK }]);
    cache('host.example', 1, [a('host.example', '198.51.100.1'), a('host.example', '192.0.2.7')]);
    cache('six.example', 28, [
      { owner: 'six.example', type: 28, ttl: 300, rdata: addressFromText('2001:db8::7')! },
    ]);
    expect(ask('host.example').status).toBe('CACHED');
    use([{ text: '192.0.2.7\n2001:db8:0::7\n', reading: BLOCK }]);
    const answer = ask('host.example');
    expect(answer.status).toBe('BLOCKED_LIST');
    expect(sent(answer)).toEqual({ rcode: 'NOERROR', answers: [['A', '0.0.0.0']] });
    expect(nameToText(answer.query.ruleName.slice(0, answer.query.ruleNameLength))).toBe('192.0.2.7');
    expect(ask('six.example', 28).status).toBe('BLOCKED_LIST');
    use([{ text: '||192.0.2.7^\n@@||host.example^\n', reading: BLOCK }]);
    expect(ask('host.example').status).toBe('CACHED');
    use([{ text: '||192.0.2.7^$client=198.51.100.9\n', reading: BLOCK }]);
    expect(ask('host.example', 1, '198.51.100.9').status).toBe('BLOCKED_LIST');
    expect(ask('host.example').status).toBe('CACHED');
    use([{ text: '192.0.2.7\n@@||192.0.2.7^\n', reading: BLOCK }]);
    expect(ask('host.example').status).toBe('CACHED');
  });

  test('judges addresses by expressions and patterns that are for addresses, and by no others', () => {
    cache('lan.example', 1, [a('lan.example', '10.1.2.3')]);
    cache('seven.example', 1, [a('seven.example', '198.51.100.7')]);
    cache('local.example', 28, [
      { owner: 'local.example', type: 28, ttl: 300, rdata: addressFromText('fe80::1')! },
    ]);
    const forAddresses = '/^10\\.(?:\\d{1,3})\\.(?:\\d{1,3})\\.(?:\\d{1,3})$/\n/^fe80:/\n||198.51.100.*\n';
    use([{ text: forAddresses, reading: BLOCK }]);
    expect(ask('lan.example').status).toBe('BLOCKED_LIST');
    expect(ask('local.example', 28).status).toBe('BLOCKED_LIST');
    expect(ask('seven.example').status).toBe('BLOCKED_LIST');
    const forNames = '/^[a-z0-9.]{4,}$/$denyallow=example\n/^.*[0-9]+.*$/$denyallow=example\n198.51.100.8\n';
    use([{ text: forNames, reading: BLOCK }]);
    expect(ask('lan.example').status).toBe('CACHED');
    expect(ask('seven.example').status).toBe('CACHED');
  });

  test('judges the address hints of an HTTPS record', () => {
    use([{ text: '192.0.2.8\n', reading: BLOCK }]);
    const hints = octets(u16(4), u16(8), [192, 0, 2, 1, 192, 0, 2, 8]);
    const rdata = octets(u16(1), [0], u16(1), u16(3), [2, 0x68, 0x32], hints);
    cache('shop.example', 65, [{ owner: 'shop.example', type: 65, ttl: 300, rdata }]);
    expect(ask('shop.example', 65).status).toBe('BLOCKED_LIST');
  });
});

describe('Explainer', () => {
  function explain(name: string): Promise<Explanation> {
    const resolver = {
      resolve(asked: { qname: Uint8Array }, done: (resolution: unknown) => void) {
        const owner = nameToText(asked.qname);
        const put = question(owner, 1);
        const answers = [cname(owner, 'x.tracker.example'), a('x.tracker.example', '192.0.2.1')];
        const read = readResponse(response(put, { answers }), put);
        if (read.kind === 'answer') done({ kind: 'answer', answer: read.answer, upstream: 0 });
      },
    } as unknown as Resolver;
    const settings = {
      enabled: true,
      minTtlSecs: 0,
      maxTtlSecs: 300,
      negativeMaxTtlSecs: 300,
      serveStaleSecs: 0,
      optimisticRefresh: false,
    };
    const healthCheck = {
      enabled: false,
      intervalSecs: 1,
      timeoutMs: 1,
      failureThreshold: 1,
      successThreshold: 1,
    };
    const forwarder = new Forwarder({
      resolver,
      flights: new NodeFlights(null, 1, new MemoryLogger()),
      zones: new ZoneResolvers(
        { queryTimeoutMs: 1, bootstrap: [], healthCheck },
        systemClock,
        new MemoryLogger(),
      ),
      pipeline,
      cache: new AnswerCache(memory),
      writer: new CacheWriter(memory, 0),
      reporter,
      guard: new ThreadGuard(reporter, systemClock, new MemoryLogger()),
      clock: systemClock,
      networks: new ClientNetworks(createRateBuckets(false, 0), rateLimitOf({ enabled: false })),
      settings,
    });
    const explainer = new Explainer(pipeline, forwarder, systemClock);
    const asked = { qname: nameFromText(name)!, qtype: 1, client: addressFromText('192.0.2.1')! };
    return new Promise((resolve) => explainer.explain(asked, resolve));
  }

  test('names every stage and every rule that meets the name, and the one that decides', async () => {
    const manual = { id: 1, name: 'm', domain: 'ads.example', suffix: true, groupId: null };
    use([{ text: '||ads.example^\n||a*s.example^\n', reading: BLOCK }], {
      managedDomains: [{ ...manual, action: 'deny' }],
    });
    const { stages, status, decidedBy, answer } = await explain('x.ads.example');
    expect(stages.map(({ stage, result }) => `${stage} ${result}`)).toEqual([
      'client_group continue',
      'question_checks continue',
      'schedule_override continue',
      'local_names continue',
      'special_names continue',
      'policy answered',
    ]);
    expect(stages[5]!.rules.map(({ origin }) => origin)).toEqual([
      RuleOrigin.MANAGED,
      RuleOrigin.LIST,
      RuleOrigin.SPECIAL,
    ]);
    expect(QUERY_STATUS_NAMES[status]).toBe('BLOCKED_MANAGED');
    expect(nameToText(decidedBy!.name)).toBe('ads.example');
    expect(answer.length).toBeGreaterThan(12);
  });

  test('goes on to the upstreams and judges the names of their answer', async () => {
    use([{ text: '||tracker.example^\n', reading: BLOCK }]);
    const { stages, status, decidedBy } = await explain('shop.example');
    expect(stages.map(({ stage, result }) => `${stage} ${result}`)).toEqual([
      'client_group continue',
      'question_checks continue',
      'schedule_override continue',
      'local_names continue',
      'special_names continue',
      'policy continue',
      'safe_search continue',
      'cache unresolved',
      'forward continue',
      'answer_names answered',
    ]);
    expect(QUERY_STATUS_NAMES[status]).toBe('BLOCKED_CNAME');
    expect(nameToText(decidedBy!.name)).toBe('tracker.example');
  });

  test('counts neither hits nor misses of the cache', async () => {
    const counters = new Float64Array(countersMemory);
    use([]);
    await explain('shop.example');
    await explain('shop.example');
    expect([counters[Counter.CACHE_HITS], counters[Counter.CACHE_MISSES]]).toEqual([0, 0]);
    cache('kept.example', 1, [a('kept.example', '192.0.2.1')]);
    expect(ask('kept.example').status).toBe('CACHED');
    expect(counters[Counter.CACHE_HITS]).toBe(1);
  });
});
