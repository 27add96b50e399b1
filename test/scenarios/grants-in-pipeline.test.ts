/**
 * Grants in the whole pipeline: which blocks they lift, what they block, for which clients, and TTLs of the answers.
 */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { LivePolicy } from '../../control-plane/policy/change/runtime-state.ts';
import type { PolicyGrant } from '../../control-plane/policy/change/rows.ts';
import { grantRules } from '../../control-plane/policy/snapshot/build/grant-rules.ts';
import { decodeMessage } from '../../shared/dns/codec.ts';
import { nameFromText } from '../../shared/dns/name.ts';
import { NO_NAME_RULES, type NameRules } from '../../shared/snapshot/name-rules.ts';
import { QuestionFlag } from '../../shared/snapshot/policy-table.ts';
import { RuleOrigin } from '../../shared/snapshot/rule-origin.ts';
import { SafeSearchMode } from '../../shared/snapshot/safe-search-modes.ts';
import { a, cname } from '../support/dns/built-messages.ts';
import { Forwarding, replyOf } from '../support/parts/forwarding.ts';
import { PolicyPipeline, sent } from '../support/parts/policy-pipeline.ts';
import type { OtherRows } from '../support/parts/test-lists.ts';

const BLOCK = { kind: 'block', subdomains: false } as const;
const LISTS = [{ text: '||ads.example^\n||tracker.example^\n', reading: BLOCK }];
const CLIENT = '192.0.2.1';
const OTHER = '192.0.2.2';
const NULL_IP = { rcode: 'NOERROR', answers: [['A', '0.0.0.0']] };
const FAR_MS = 4_000_000_000_000;

let nextId = 1;
/** A grant, by default for the client. */
function grant(change: Partial<PolicyGrant> = {}): PolicyGrant {
  const id = nextId++;
  const isOfGroup = typeof change.groupId === 'number';
  return {
    id,
    domain: null,
    subdomains: true,
    action: 'allow',
    groupId: null,
    clientId: isOfGroup ? null : 9,
    mac: null,
    address: isOfGroup ? null : CLIENT,
    untilMs: FAR_MS,
    createdMs: 0,
    ...change,
  };
}

function granting(grants: readonly PolicyGrant[], names: Partial<NameRules> = {}): Partial<LivePolicy> {
  return { names: { ...NO_NAME_RULES, ...names, grants: grantRules(grants, () => []) } };
}

describe('a temporary allow rule (grant)', () => {
  let weir: PolicyPipeline;
  const statusOf = (name: string, client = CLIENT, qtype = 1): string => weir.ask(name, qtype, client).status;

  /** Rows that block nearly everything for the client. */
  const STRICT: OtherRows = {
    managedDomains: [
      { id: 1, name: 'm', domain: 'games.example', suffix: true, action: 'deny', groupId: null },
    ],
    regexFilters: [{ id: 1, name: 'r', pattern: '^x[0-9]', action: 'deny', groupId: null }],
    blockedServices: [{ serviceId: 's', serviceName: 'S', groupId: 1, domains: ['tube.example'], exact: [] }],
    localRecords: [{ id: 1, fqdn: 'nas.example', domain: '', type: 'A', value: '192.0.2.9', ttlSecs: 60 }],
  };
  const FLAGS =
    QuestionFlag.SPECIAL_NAMES |
    QuestionFlag.BLOCK_PRIVATE_PTR |
    QuestionFlag.BLOCK_NON_FQDN |
    QuestionFlag.DOH_CANARY;
  const SAFE = {
    engines: [
      {
        id: 'engine',
        names: [nameFromText('search.example')!],
        moderate: { cname: nameFromText('safe.example'), ipv4: null },
        strict: { cname: nameFromText('safe.example'), ipv4: null },
      },
    ],
    groups: [{ id: 1, mask: SafeSearchMode.strict }],
  };

  function use(grants: readonly PolicyGrant[], override: 'BlockAll' | null = null): void {
    weir.use(LISTS, STRICT, {
      ...granting(grants, { safeSearch: SAFE, rebinding: { isOn: true, exempt: [] } }),
      overrides: new Map([[1, { override, nextFlipAtSecs: 0 }]]),
      questionFlags: FLAGS,
    });
  }

  beforeEach(() => {
    weir = new PolicyPipeline();
    for (const name of ['www.ads.example', 'games.example', 'x1.example', 'tube.example', 'search.example'])
      weir.cache(name, 1, [a(name, '198.51.100.1')]);
    weir.cache('shop.example', 1, [
      cname('shop.example', 'x.tracker.example'),
      a('x.tracker.example', '198.51.100.2'),
    ]);
    weir.cache('inside.example', 1, [a('inside.example', '10.0.0.1')]);
  });

  const LIFTED: readonly [string, string][] = [
    ['www.ads.example', 'BLOCKED_LIST'],
    ['games.example', 'BLOCKED_MANAGED'],
    ['x1.example', 'BLOCKED_REGEX'],
    ['tube.example', 'BLOCKED_SERVICE'],
    ['search.example', 'SAFE_SEARCH'],
    ['shop.example', 'BLOCKED_CNAME'],
    ['inside.example', 'BLOCKED_REBIND'],
  ];

  test('unblocks only the names of its service, and no name if the service is unknown', () => {
    const service = { serviceName: 'S', domains: ['tube.example'], exact: ['games.example'] };
    use([grant({ serviceId: 's', service })]);
    const names = ['tube.example', 'www.tube.example', 'games.example', 'x1.example', 'www.ads.example'];
    weir.cache('www.tube.example', 1, [a('www.tube.example', '198.51.100.1')]);
    weir.cache('x.games.example', 1, [a('x.games.example', '198.51.100.1')]);
    expect([...names, 'x.games.example'].map((name) => statusOf(name))).toEqual([
      ...['CACHED', 'CACHED', 'CACHED', 'BLOCKED_REGEX', 'BLOCKED_LIST', 'BLOCKED_MANAGED'],
    ]);
    expect(statusOf('tube.example', OTHER)).toBe('BLOCKED_SERVICE');
    use([grant({ serviceId: 's' })]);
    expect(names.map((name) => statusOf(name))).not.toContain('CACHED');
  });

  test('unblocks every name for its client only, until the grant ends', () => {
    const all = (client: string): string[] => LIFTED.map(([name]) => statusOf(name, client));
    const blocked = LIFTED.map(([, status]) => status);
    use([]);
    expect(all(CLIENT)).toEqual(blocked);
    use([grant()]);
    expect(all(CLIENT)).toEqual(LIFTED.map(() => 'CACHED'));
    expect(all(OTHER)).toEqual(blocked);
    use([]);
    expect(all(CLIENT)).toEqual(blocked);
  });

  test('overrides a schedule that blocks everything, for its name and the subdomains', () => {
    use([grant({ domain: 'ads.example', groupId: 1 })], 'BlockAll');
    expect(statusOf('www.ads.example')).toBe('CACHED');
    expect(statusOf('games.example')).toBe('BLOCKED_SCHEDULE');
    expect(statusOf('xads.example')).toBe('BLOCKED_SCHEDULE');
    expect(statusOf('example')).toBe('BLOCKED_SCHEDULE');
  });

  test('leaves local answers unchanged, and unblocks single-label, private reverse and canary names', () => {
    use([grant()]);
    expect(statusOf('nas.example')).toBe('LOCAL');
    expect(statusOf('a.invalid')).toBe('LOCAL');
    // The query is a cache miss, so the name would be forwarded.
    for (const [name, qtype] of [
      ['printer', 1],
      ['1.0.0.10.in-addr.arpa', 12],
      ['use-application-dns.net', 1],
    ] as const)
      expect(weir.ask(name, qtype, CLIENT).query.replyLength).toBe(0);
  });

  test('applies to each address of its client', () => {
    const grants = grantRules([grant({ mac: '02:00:00:00:00:01', address: null })], () => [
      OTHER,
      '2001:db8::5',
    ]);
    weir.use(LISTS, {}, { names: { ...NO_NAME_RULES, grants } });
    expect(['192.0.2.2', '2001:db8::5', CLIENT].map((client) => statusOf('www.ads.example', client))).toEqual(
      ['CACHED', 'CACHED', 'BLOCKED_LIST'],
    );
  });

  test('has no effect if its domain name is invalid', () => {
    expect(grantRules([grant({ domain: 'a..b' })], () => [])).toEqual([]);
  });
});

describe('a temporary block rule (grant)', () => {
  let weir: PolicyPipeline;
  beforeEach(() => {
    weir = new PolicyPipeline();
    weir.cache('www.example.org', 1, [a('www.example.org', '198.51.100.1')]);
  });

  test('is answered as blocking.mode defines, even for local and allowed names, and is logged as the rule', () => {
    const first = grant({ action: 'block', domain: 'example.org' });
    const managedDomains = [
      { id: 1, name: 'm', domain: 'example.org', suffix: true, action: 'allow' as const, groupId: null },
    ];
    const localRecords = [
      { id: 1, fqdn: 'nas.example.org', domain: '', type: 'A' as const, value: '192.0.2.9', ttlSecs: 60 },
    ];
    weir.use([], { managedDomains, localRecords }, granting([first]));
    for (const name of ['www.example.org', 'nas.example.org', 'example.org']) {
      const asked = weir.ask(name);
      expect([asked.status, sent(asked)]).toEqual(['BLOCKED_MANAGED', NULL_IP]);
      expect([asked.query.ruleOrigin, asked.query.ruleAttribute]).toEqual([RuleOrigin.GRANT, first.id + 1]);
    }
    expect(weir.ask('www.example.org', 1, OTHER).status).toBe('CACHED');
  });

  test('overrides a schedule that allows everything, and is inactive while blocking is disabled', () => {
    const free = { overrides: new Map([[1, { override: 'AllowAll' as const, nextFlipAtSecs: 0 }]]) };
    const blocking = granting([grant({ action: 'block', groupId: 1 })]);
    weir.use([], {}, { ...blocking, ...free });
    expect(weir.ask('www.example.org').status).toBe('BLOCKED_MANAGED');
    weir.use([], { blockingSwitch: { enabled: false, until: null } }, blocking);
    expect(weir.ask('www.example.org').status).toBe('CACHED');
  });

  test('of a disabled group blocks no client, because its clients are treated as in the Default group', () => {
    const groups = [1, 7].map((id) => ({ id, enabled: id === 1 }));
    const clients = [{ address: CLIENT, groupId: 7 }];
    weir.use([], { groups, clients }, granting([grant({ action: 'block', groupId: 7 })]));
    expect(weir.ask('www.example.org').status).toBe('CACHED');
    weir.use([], { groups, clients }, granting([grant({ action: 'block', groupId: 1 })]));
    expect(weir.ask('www.example.org').status).toBe('BLOCKED_MANAGED');
  });
});

describe('a temporary allow rule and a temporary block rule that match the same query', () => {
  const block = (change: Partial<PolicyGrant> = {}): PolicyGrant => grant({ action: 'block', ...change });

  test.each<[string, () => PolicyGrant[], string]>([
    [
      "the client's grant over its group's",
      () => [block({ groupId: 1, domain: 'www.example.org' }), grant()],
      'CACHED',
    ],
    ["the client's block over its group's", () => [grant({ groupId: 1 }), block()], 'BLOCKED_MANAGED'],
    ['the longer name', () => [block(), grant({ domain: 'example.org' })], 'CACHED'],
    [
      'the longest name',
      () => [grant({ domain: 'example.org' }), block({ domain: 'www.example.org' })],
      'BLOCKED_MANAGED',
    ],
    [
      'the allowing one of two for the same target',
      () => [block({ domain: 'example.org' }), grant({ domain: 'example.org' })],
      'CACHED',
    ],
    [
      "the group's grant if none of the client's matches",
      () => [grant({ domain: 'org.example' }), block({ groupId: 1 })],
      'BLOCKED_MANAGED',
    ],
  ])('are resolved by precedence: %s decides', (_what, grants, status) => {
    const weir = new PolicyPipeline();
    weir.cache('www.example.org', 1, [a('www.example.org', '198.51.100.1')]);
    weir.use([], {}, granting(grants()));
    expect(weir.ask('www.example.org').status).toBe(status);
  });
});

describe('a query in flight', () => {
  let forwarding: Forwarding;
  beforeEach(() => {
    forwarding = new Forwarding();
  });
  afterEach(() => forwarding[Symbol.dispose]());

  const rebinding = { rebinding: { isOn: true, exempt: [] } };
  const inMs = (ms: number): number => forwarding.clock.nowMs() + ms;
  const ttlOf = (reply: Uint8Array | null): number[] =>
    (decodeMessage(reply!) as unknown as { answers: { ttl: number }[] }).answers.map(({ ttl }) => ttl);

  test('is evaluated with the grants that are active when its answer arrives', () => {
    forwarding.use([]);
    const first = forwarding.ask('www.example.org');
    forwarding.use([], {}, granting([grant({ action: 'block' })]));
    forwarding.answer({ answers: [a('www.example.org', '198.51.100.1')] });
    expect(replyOf(first)).toEqual(NULL_IP);
    expect(forwarding.lastLogged).toMatchObject({ status: 'BLOCKED_MANAGED', ruleOrigin: RuleOrigin.GRANT });
    forwarding.use(LISTS, {}, granting([grant({ domain: 'ads.example' })]));
    const second = forwarding.ask('ads.example');
    forwarding.use(LISTS);
    forwarding.answer({ answers: [a('ads.example', '198.51.100.1')] });
    expect(replyOf(second)).toEqual(NULL_IP);
    expect(forwarding.lastLogged).toMatchObject({ status: 'BLOCKED_LIST' });
  });

  test('keeps the TTL of its answer if a permanent grant for all clients matches its name only', () => {
    const everyone = { clientId: null, address: null, untilMs: null };
    forwarding.use(LISTS, {}, granting([grant({ ...everyone, domain: 'ads.example', subdomains: false })]));
    const asked = forwarding.ask('ads.example');
    forwarding.answer({ answers: [a('ads.example', '198.51.100.1', 300)] });
    expect(ttlOf(asked.reply)).toEqual([300]);
    expect(replyOf(forwarding.ask('www.ads.example'))).toEqual(NULL_IP);
  });

  test('gets TTLs that end with the grant, also from the cache and when answered by the answer thread', () => {
    forwarding.use(LISTS, {}, granting([grant({ domain: 'ads.example', untilMs: inMs(60_000) })]));
    const { version } = forwarding.pipeline.snapshot;
    const first = forwarding.ask('ads.example', { passedVersion: version });
    forwarding.answer({ answers: [a('ads.example', '198.51.100.1', 300)] });
    expect(ttlOf(first.reply)).toEqual([59]);
    forwarding.clock.advance(20_000);
    expect(ttlOf(forwarding.ask('ads.example').reply)).toEqual([39]);
    const other = forwarding.ask('free.example');
    forwarding.answer({ answers: [a('free.example', '198.51.100.1', 300)] });
    expect(ttlOf(other.reply)).toEqual([300]);
  });

  test('returns a blocked or private alias target if a grant allows the name, even if fetched separately', () => {
    forwarding.use(LISTS, {}, granting([grant({ domain: 'shop.example' })], rebinding));
    const asked = forwarding.ask('shop.example');
    forwarding.answer({ answers: [cname('shop.example', 'x.tracker.example')] });
    forwarding.answer({ answers: [a('x.tracker.example', '10.0.0.1')] });
    expect(replyOf(asked)).toEqual({
      rcode: 'NOERROR',
      answers: [
        ['CNAME', 'x.tracker.example'],
        ['A', '10.0.0.1'],
      ],
    });
    expect(forwarding.lastLogged).toMatchObject({ status: 'ALLOWED' });
    forwarding.use([], {}, granting([grant({ domain: 'other.example' })], rebinding));
    expect(replyOf(forwarding.ask('shop.example'))?.answers).toEqual([]);
    expect(forwarding.lastLogged).toMatchObject({ status: 'BLOCKED_REBIND' });
  });
});
