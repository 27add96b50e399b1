/** Policy that changes while a question waits for an upstream: the answer follows the newest policy. */
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { GroupOverride, LivePolicy } from '../../control-plane/policy/change/runtime-state.ts';
import { RuleOrigin } from '../../shared/snapshot/rule-origin.ts';
import { a, cname } from '../support/dns/built-messages.ts';
import type { ListText, OtherRows } from '../support/parts/test-lists.ts';
import { Forwarding, replyOf } from '../support/parts/forwarding.ts';

const BLOCK = { kind: 'block', subdomains: false } as const;
const NAME = 'www.example.org';
const ADDRESS = '198.51.100.1';
const GROUP_7 = { id: 7, enabled: true };
const BLOCKED: GroupOverride = { override: 'BlockAll', nextFlipAtSecs: 0 };

const MANAGED = { id: 1, name: 'm', suffix: false, groupId: null } as const;
const SERVICE = { serviceId: 's', serviceName: 'S', exact: [], groupId: 1 } as const;

let forwarding: Forwarding;
beforeEach(() => {
  forwarding = new Forwarding();
  forwarding.use([]);
});
afterEach(() => forwarding[Symbol.dispose]());

const answered = (): void => forwarding.answer({ answers: [a(NAME, ADDRESS)] });

interface Change {
  readonly what: string;
  readonly lists?: readonly ListText[];
  readonly rows?: OtherRows;
  readonly live?: Partial<LivePolicy>;
  readonly status: string;
  readonly reply: unknown;
  readonly origin?: number;
}

const NULL_IP = { rcode: 'NOERROR', answers: [['A', '0.0.0.0']] };
const CHANGES: readonly Change[] = [
  {
    what: 'a managed domain denies',
    rows: { managedDomains: [{ ...MANAGED, domain: NAME, action: 'deny' }] },
    status: 'BLOCKED_MANAGED',
    reply: NULL_IP,
    origin: RuleOrigin.MANAGED,
  },
  {
    what: 'a list blocks',
    lists: [{ text: `${NAME}\n`, reading: BLOCK }],
    status: 'BLOCKED_LIST',
    reply: NULL_IP,
    origin: RuleOrigin.LIST,
  },
  {
    what: 'a regex filter denies',
    rows: { regexFilters: [{ id: 1, name: 'r', pattern: '^www\\.', action: 'deny', groupId: null }] },
    status: 'BLOCKED_REGEX',
    reply: NULL_IP,
    origin: RuleOrigin.REGEX,
  },
  {
    what: 'a service of the group has',
    rows: { blockedServices: [{ ...SERVICE, domains: ['example.org'] }] },
    status: 'BLOCKED_SERVICE',
    reply: { rcode: 'NXDOMAIN', answers: [] },
    origin: RuleOrigin.SERVICE,
  },
  {
    what: "the group's schedule blocks",
    live: { overrides: new Map([[1, BLOCKED]]) },
    status: 'BLOCKED_SCHEDULE',
    reply: NULL_IP,
  },
  {
    what: 'a local record answers',
    rows: {
      localRecords: [{ id: 1, fqdn: NAME, domain: '', type: 'A', value: '192.0.2.9', ttlSecs: 60 }],
    },
    status: 'LOCAL',
    reply: { rcode: 'NOERROR', answers: [['A', '192.0.2.9']] },
  },
];

describe('a query in flight', () => {
  test.each(CHANGES)(
    'is evaluated with the policy that is active when its answer arrives: $what it',
    (change) => {
      const asked = forwarding.ask(NAME);
      forwarding.use(change.lists ?? [], change.rows, change.live);
      answered();
      expect(replyOf(asked)).toEqual(change.reply);
      expect(forwarding.lastLogged).toMatchObject({ status: change.status, upstream: 0 });
      expect(forwarding.lastLogged!.rule >= 0 === (change.origin !== undefined)).toBe(true);
      if (change.origin !== undefined) expect(forwarding.lastLogged!.ruleOrigin).toBe(change.origin);
      // The answer was still cached: the cache stores upstream answers before policy is applied.
      forwarding.use([]);
      expect(replyOf(forwarding.ask(NAME))).toEqual({ rcode: 'NOERROR', answers: [['A', ADDRESS]] });
      expect(forwarding.held).toHaveLength(0);
    },
  );

  test.each(CHANGES)(
    'is evaluated with the policy that is active when the upstreams fail: $what it',
    (change) => {
      const asked = forwarding.ask(NAME);
      forwarding.use(change.lists ?? [], change.rows, change.live);
      forwarding.settle({ kind: 'failed', reason: 'timeout', rcode: 2, upstream: 0 });
      expect(replyOf(asked)).toEqual(change.reply);
      expect(forwarding.lastLogged).toMatchObject({ status: change.status });
    },
  );

  test.each(CHANGES)('gets no stale answer once $what it', (change) => {
    forwarding.ask(NAME);
    answered();
    forwarding.clock.advance(400_000);
    const asked = forwarding.ask(NAME);
    expect(forwarding.held).toHaveLength(1);
    forwarding.use(change.lists ?? [], change.rows, change.live);
    forwarding.settle({ kind: 'failed', reason: 'timeout', rcode: 2, upstream: 0 });
    expect(replyOf(asked)).toEqual(change.reply);
    expect(forwarding.lastLogged).toMatchObject({ status: change.status });
  });

  test('is answered if a rule that would have blocked it was added and deleted while it was in flight', () => {
    const asked = forwarding.ask(NAME);
    forwarding.use([{ text: `${NAME}\n`, reading: BLOCK }]);
    forwarding.use([]);
    answered();
    expect(replyOf(asked)).toEqual({ rcode: 'NOERROR', answers: [['A', ADDRESS]] });
    expect(forwarding.lastLogged).toMatchObject({ status: 'ALLOWED', rule: -1, upstream: 1 });
  });

  test('is evaluated a second time only if policy has changed', () => {
    const decideAgain = jest.spyOn(forwarding.pipeline, 'decideAgain');
    forwarding.ask(NAME, { passedVersion: forwarding.pipeline.snapshot.version });
    answered();
    expect(decideAgain).toHaveBeenCalledTimes(0);
    forwarding.ask('other.example.org', { passedVersion: forwarding.pipeline.snapshot.version });
    forwarding.use([]);
    forwarding.answer({ answers: [a('other.example.org', ADDRESS)] });
    expect(decideAgain).toHaveBeenCalledTimes(1);
  });

  test('stays unfiltered without a second evaluation if the schedule of its group allows everything', () => {
    const lists = [{ text: 'target.example\n', reading: BLOCK }];
    const free: GroupOverride = { override: 'AllowAll', nextFlipAtSecs: 0 };
    forwarding.use(lists, {}, { overrides: new Map([[1, free]]) });
    const asked = forwarding.ask(NAME, { passedVersion: forwarding.pipeline.snapshot.version });
    forwarding.answer({ answers: [cname(NAME, 'target.example'), a('target.example', ADDRESS)] });
    expect(forwarding.lastLogged).toMatchObject({ status: 'ALLOWED' });
    expect(replyOf(asked)).toMatchObject({ rcode: 'NOERROR' });
  });

  test('is evaluated with the new group of its client', () => {
    const lists = [{ text: `${NAME}\n`, reading: BLOCK, groupIds: [7] }];
    const groups = [GROUP_7];
    forwarding.use(lists, { groups });
    const moved = forwarding.ask(NAME, { client: '192.0.2.7' });
    const other = forwarding.ask(NAME, { client: '192.0.2.8' });
    forwarding.use(lists, { groups, clients: [{ address: '192.0.2.7', groupId: 7 }] });
    for (const _ of [...forwarding.held]) answered();
    expect(replyOf(moved)).toEqual(NULL_IP);
    expect(replyOf(other)).toEqual({ rcode: 'NOERROR', answers: [['A', ADDRESS]] });
    expect(forwarding.reporter.logged).toMatchObject([
      { status: 'BLOCKED_LIST', groupId: 7 },
      { status: 'ALLOWED', groupId: 1 },
    ]);
  });

  test('follows an alias that a new local record adds for its name', () => {
    const asked = forwarding.ask(NAME);
    const record = {
      id: 1,
      fqdn: NAME,
      domain: '',
      type: 'CNAME',
      value: 'target.example',
      ttlSecs: 60,
    } as const;
    forwarding.use([], { localRecords: [record] });
    answered();
    expect(asked.reply).toBeNull();
    forwarding.answer({ answers: [a('target.example', '198.51.100.2')] });
    expect(replyOf(asked)).toEqual({
      rcode: 'NOERROR',
      answers: [
        ['CNAME', 'target.example'],
        ['A', '198.51.100.2'],
      ],
    });
    expect(forwarding.lastLogged).toMatchObject({ name: NAME, status: 'LOCAL' });
  });
});

describe('a local alias whose target is in flight', () => {
  const record = {
    id: 1,
    fqdn: NAME,
    domain: '',
    type: 'CNAME',
    value: 'target.example',
    ttlSecs: 60,
  } as const;
  const targetAnswered = (): void => forwarding.answer({ answers: [a('target.example', '198.51.100.2')] });

  beforeEach(() => forwarding.use([], { localRecords: [record] }));

  test('is evaluated with the schedule that is active when its target is resolved', () => {
    const asked = forwarding.ask(NAME);
    forwarding.use([], { localRecords: [record] }, { overrides: new Map([[1, BLOCKED]]) });
    targetAnswered();
    expect(replyOf(asked)).toEqual(NULL_IP);
    expect(forwarding.lastLogged).toMatchObject({ name: NAME, status: 'BLOCKED_SCHEDULE' });
  });

  test('is answered although a list blocks its target and the next alias', () => {
    const list = { text: 'target.example\nfurther.example\n', reading: BLOCK };
    forwarding.use([list], { localRecords: [record] });
    const asked = forwarding.ask(NAME);
    const answers = [cname('target.example', 'further.example'), a('further.example', '198.51.100.2')];
    forwarding.answer({ answers });
    expect(replyOf(asked)?.answers.at(-1)).toEqual(['A', '198.51.100.2']);
    expect(forwarding.lastLogged).toMatchObject({ name: NAME, status: 'LOCAL' });
    expect(replyOf(forwarding.ask('target.example'))).toEqual(NULL_IP);
  });

  test('is resolved under its own name if the alias record was deleted', () => {
    const asked = forwarding.ask(NAME);
    forwarding.use([]);
    targetAnswered();
    expect(asked.reply).toBeNull();
    answered();
    expect(replyOf(asked)).toEqual({ rcode: 'NOERROR', answers: [['A', ADDRESS]] });
    expect(forwarding.lastLogged).toMatchObject({ name: NAME, status: 'ALLOWED' });
  });

  test('gets a new target: the query is resolved with the new target', () => {
    const asked = forwarding.ask(NAME);
    forwarding.use([], { localRecords: [{ ...record, value: 'other.example' }] });
    targetAnswered();
    expect(asked.reply).toBeNull();
    forwarding.answer({ answers: [a('other.example', '198.51.100.3')] });
    expect(replyOf(asked)).toEqual({
      rcode: 'NOERROR',
      answers: [
        ['CNAME', 'other.example'],
        ['A', '198.51.100.3'],
      ],
    });
    expect(asked.replies).toBe(1);
  });

  test('is logged with the $dnsrewrite rule that created the alias, even after a policy change', () => {
    const rewrite = (before: string): ListText => ({
      text: `${before}||${NAME}^$dnsrewrite=target.example\n`,
      reading: BLOCK,
    });
    forwarding.use([rewrite('')]);
    forwarding.ask(NAME);
    forwarding.use([rewrite('||a.example^$dnsrewrite=b.example\n')]);
    targetAnswered();
    expect(forwarding.lastLogged).toMatchObject({ name: NAME, rule: 1, ruleOrigin: RuleOrigin.SPECIAL });
  });
});
