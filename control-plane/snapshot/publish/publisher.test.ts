import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GroupOverrideCode, PolicyTable } from '../../../shared/snapshot/policy-table.ts';
import { nameFromText } from '../../../shared/dns/name.ts';
import { RuleOrigin } from '../../../shared/snapshot/rule-origin.ts';
import { ManualKind, RuleKind } from '../../../shared/snapshot/rule-table.ts';
import { buildSpecialRules } from '../../compile/table/special-rules-builder.ts';
import type { SnapshotBuffers } from '../../../shared/snapshot/snapshot.ts';
import { compiledFrom } from '../../../test/support/parts/test-rules.ts';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { until } from '../../../test/support/parts/until.ts';
import { DatabaseUnavailable } from '../../db/database-errors.ts';
import { type BlockingSettings } from '../../policy/blocking-settings.ts';
import { type FindLivePolicy, NOTHING_LIVE } from '../../policy/live.ts';
import { NO_POLICY_ROWS, type PolicyRows } from '../../policy/rows.ts';
import { seedsOf } from '../../compile/table/compiled-rules.ts';
import type { DecidingRule } from '../../query-log/attribution/rule-history.ts';
import { emptySnapshot } from '../build/empty-snapshot.ts';
import { Generations } from './generations.ts';
import { PolicyInForce } from './policy-in-force.ts';
import { type Broadcast, SnapshotPublisher } from './publisher.ts';
import { ruleText } from '../../query-log/attribution/rule-history.ts';

const { BLOCK_EXACT, BLOCK_SUFFIX, ALLOW_EXACT, ALLOW_SUFFIX, IMPORTANT_BLOCK_SUFFIX } = RuleKind;
const BLOCKING: BlockingSettings = {
  enabled: true,
  mode: 'null_ip',
  ttlSecs: 10,
  customIpv4: '',
  customIpv6: '',
};
const RULES = compiledFrom([
  {
    id: 10,
    names: [
      ['a.example', BLOCK_EXACT],
      ['b.example', BLOCK_EXACT],
    ],
  },
  { id: 20, names: [['b.example', BLOCK_SUFFIX]] },
]);
const ROWS: PolicyRows = {
  ...NO_POLICY_ROWS,
  groups: [
    { id: 1, enabled: true },
    { id: 7, enabled: true },
  ],
  sources: [
    { id: 10, name: 'ads', kind: 'block', enabled: true, groupIds: [7] },
    { id: 20, name: 'malware', kind: 'block', enabled: true, groupIds: [] },
  ],
  managedDomains: [
    { id: 4, name: 'no games', domain: 'games.example', suffix: true, action: 'deny', groupId: 7 },
  ],
  regexFilters: [{ id: 5, name: 'ad words', pattern: '^ads?[0-9]', action: 'deny', groupId: null }],
  blockedServices: [
    { serviceId: 'tube', serviceName: 'Tube', groupId: 7, domains: ['tube.example'], exact: [] },
  ],
};

/** A rule of the lists' table as a record names it. */
function listed(index: number, kinds: number, groupId: number): DecidingRule {
  return { origin: RuleOrigin.LIST, index, kinds, name: nameFromText('b.example')!, groupId };
}

let dataDir: string;
let logger: MemoryLogger;
let generations: Generations;
let sent: SnapshotBuffers[];
let broadcast: Broadcast;
let live: FindLivePolicy;
let publisher: SnapshotPublisher;

/** What threads do that are well. */
const take: Broadcast = async (snapshot) => {
  sent.push(snapshot);
  return 0;
};

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'weir-publisher-'));
  logger = new MemoryLogger();
  generations = new Generations(dataDir, logger);
  await generations.load();
  sent = [];
  live = () => NOTHING_LIVE;
  broadcast = take;
  publisher = new SnapshotPublisher({
    initial: emptySnapshot(BLOCKING),
    broadcast: (snapshot) => broadcast(snapshot),
    live: (rows) => live(rows),
    generations,
    logger,
  });
});
afterEach(async () => {
  await publisher.settled();
  rmSync(dataDir, { recursive: true, force: true });
});

describe('SnapshotPublisher', () => {
  test('hands out growing versions, one publication at a time, and writes the newest to disk', async () => {
    let atWork = 0;
    broadcast = async (snapshot) => {
      expect(++atWork).toBe(1);
      await new Promise((resolve) => setImmediate(resolve));
      atWork--;
      return take(snapshot);
    };
    await Promise.all([1, 2, 3].map(() => publisher.publish(RULES, ROWS, BLOCKING)));
    expect(sent.map(({ version }) => version)).toEqual([1, 2, 3]);
    expect(sent.map(({ policy }) => new PolicyTable(policy).snapshotVersion)).toEqual([1, 2, 3]);
    await publisher.settled();
    expect((await generations.load()).kept?.version).toBe(3);
  });

  test('counts the threads that do not take a snapshot in time, and writes it to disk all the same', async () => {
    broadcast = async () => 2;
    await publisher.publish(RULES, ROWS, BLOCKING);
    expect(publisher.threadsBehind()).toBe(2);
    await publisher.settled();
    expect((await generations.load()).kept?.version).toBe(1);
    broadcast = take;
    await publisher.publish(RULES, ROWS, BLOCKING);
    expect(publisher.threadsBehind()).toBe(0);
  });

  test('rejects when a snapshot cannot be handed to the threads, and goes on with the next', async () => {
    broadcast = () => Promise.reject(new Error('worker 1 did not answer'));
    await expect(publisher.publish(RULES, ROWS, BLOCKING)).rejects.toThrow('worker 1 did not answer');
    broadcast = take;
    await publisher.publish(RULES, ROWS, BLOCKING);
    expect(sent.map(({ version }) => version)).toEqual([2]);
  });

  test('answers go on when the disk takes no generation, and it says so', async () => {
    rmSync(join(dataDir, 'snapshots'), { recursive: true });
    writeFileSync(join(dataDir, 'snapshots'), 'in the way');
    await expect(publisher.publish(RULES, ROWS, BLOCKING)).resolves.toMatchObject({ version: 1 });
    await publisher.settled();
    expect(logger.text()).toMatch(/^error write generation: the one before stays on disk .*ENOTDIR/m);
  });

  test('describeRule() names the lists behind an attribute of that version, whatever came after', async () => {
    await publisher.publish(RULES, ROWS, BLOCKING);
    const renamed = { ...ROWS, sources: ROWS.sources.map((source) => ({ ...source, name: 'renamed' })) };
    await publisher.publish(RULES, renamed, BLOCKING);
    const both = BLOCK_EXACT | BLOCK_SUFFIX;
    expect(publisher.describeRule(1, listed(0, both, 7))).toMatchObject({ source: 'ads', sources: ['ads'] });
    expect(publisher.describeRule(1, listed(1, both, 7))).toEqual({
      source: 'ads',
      sources: ['ads', 'malware'],
      sourceIds: [10, 20],
      rule: '||b.example^',
      line: null,
    });
    expect(publisher.describeRule(2, listed(0, both, 7))?.source).toBe('renamed');
  });

  test('loggedRule() says of a rule of a list what describeRule() says, for every name it stands at', async () => {
    await publisher.publish(RULES, ROWS, BLOCKING);
    const rule = listed(1, BLOCK_SUFFIX, 7);
    const found = { source: 'malware', before: '||', atName: true, after: '^' };
    expect(publisher.loggedRule(1, rule, () => rule.name)).toEqual(found);
    const again = publisher.loggedRule(1, rule, () => {
      throw new Error('the name is not asked for again');
    });
    expect(again).toEqual(found);
    expect(publisher.loggedRule(1, listed(0, BLOCK_EXACT, 1), () => rule.name)).toBeUndefined();
    expect(publisher.loggedRule(9, rule, () => rule.name)).toBeUndefined();
  });

  test('describeRule() names only lists of that kind that serve the group', async () => {
    await publisher.publish(RULES, ROWS, BLOCKING);
    expect(publisher.describeRule(1, listed(1, BLOCK_SUFFIX, 7))?.sources).toEqual(['malware']);
    expect(publisher.describeRule(1, listed(1, BLOCK_EXACT | BLOCK_SUFFIX, 1))?.sources).toEqual(['malware']);
    expect(publisher.describeRule(1, listed(0, BLOCK_EXACT, 1))).toBeUndefined();
  });

  test('describeRule() names managed domains, services, regex filters and special rules', async () => {
    const special = buildSpecialRules(
      [{ source: 1, line: 12, kind: BLOCK_SUFFIX, match: 'pattern', text: '||ab*c^', rule: '||ab*c^' }],
      seedsOf(RULES.rules),
    );
    await publisher.publish({ ...RULES, special }, ROWS, BLOCKING);
    const rule = (origin: number, kinds: number, name: string, groupId: number): DecidingRule => ({
      origin,
      index: 0,
      kinds,
      name: nameFromText(name)!,
      groupId,
    });
    const managed = rule(RuleOrigin.MANAGED, ManualKind.DENY_SUFFIX, 'games.example', 7);
    expect(publisher.describeRule(1, managed)).toMatchObject({ source: 'no games', rule: '*.games.example' });
    expect(publisher.describeRule(1, { ...managed, groupId: 1 })).toBeUndefined();
    const service = rule(RuleOrigin.SERVICE, ManualKind.SERVICE_SUFFIX, 'tube.example', 7);
    expect(publisher.describeRule(1, service)).toMatchObject({ source: 'Tube', sourceIds: ['tube'] });
    expect(publisher.describeRule(1, rule(RuleOrigin.REGEX, 0, '', 1))).toMatchObject({
      source: 'ad words',
      rule: '^ads?[0-9]',
    });
    expect(publisher.describeRule(1, rule(RuleOrigin.SPECIAL, BLOCK_SUFFIX, '', 1))).toMatchObject({
      source: 'malware',
      rule: '||ab*c^',
      line: 12,
    });
  });

  test('describeSchedule() and loggedSchedule() name the profile that a group had in that version', async () => {
    const group = (id: number, enabled: boolean): PolicyRows['groups'][number] => ({ id, enabled });
    const schedule = (groupId: number, profile?: string): PolicyRows['schedules'][number] => ({
      groupId,
      ...(profile !== undefined && { profile }),
      timezone: 'UTC',
      slots: [],
    });
    const groups = [group(1, true), group(7, true), group(8, false), group(9, true), group(10, true)];
    const before = {
      ...ROWS,
      groups,
      schedules: [schedule(1, 'school'), schedule(7, 'night'), schedule(10)],
    };
    await publisher.publish(RULES, before, BLOCKING);
    await publisher.publish(RULES, { ...before, schedules: [schedule(7, 'renamed')] }, BLOCKING);
    // A disabled group is treated as Default; 9 has no schedule, and that of 10 was kept without its name.
    const named = [1, 7, 8, 9, 10].map((id) => publisher.describeSchedule(1, id)?.source);
    expect(named).toEqual(['school', 'night', 'school', undefined, undefined]);
    expect([1, 7, 8, 9, 10].map((id) => publisher.loggedSchedule(1, id)?.source)).toEqual(named);
    expect(publisher.loggedSchedule(2, 7)).toEqual({
      source: 'renamed',
      before: 'block_all',
      after: '',
      atName: false,
    });
    expect(publisher.loggedSchedule(2, 7)).toBe(publisher.loggedSchedule(2, 7));
    expect([publisher.describeSchedule(3, 7), publisher.loggedSchedule(3, 7)]).toEqual([
      undefined,
      undefined,
    ]);
  });

  test('describeRule() knows nothing of attributes and versions that are not there or long gone', async () => {
    await publisher.publish(RULES, ROWS, BLOCKING);
    expect(publisher.describeRule(1, listed(99, BLOCK_EXACT, 7))).toBeUndefined();
    expect(publisher.describeRule(77, listed(0, BLOCK_EXACT, 7))).toBeUndefined();
    for (let index = 0; index < 64; index++) await publisher.publish(RULES, ROWS, BLOCKING);
    expect(publisher.describeRule(1, listed(0, BLOCK_EXACT, 7))).toBeUndefined();
    expect(publisher.describeRule(2, listed(0, BLOCK_EXACT, 7))).toBeDefined();
  });
});

describe('ruleText()', () => {
  test.each([
    [BLOCK_EXACT, 'a.example'],
    [BLOCK_SUFFIX, '||a.example^'],
    [BLOCK_EXACT | BLOCK_SUFFIX, '||a.example^'],
    [ALLOW_SUFFIX, '@@||a.example^'],
    [ALLOW_EXACT, '@@|a.example^'],
    [IMPORTANT_BLOCK_SUFFIX | ALLOW_SUFFIX, '||a.example^$important'],
  ])('of kinds %i is %s', (kinds, expected) => {
    expect(ruleText(kinds, 'a.example')).toBe(expected);
  });
});

describe('PolicyInForce', () => {
  let rows: () => Promise<PolicyRows>;
  let blocking = BLOCKING;
  let policy: PolicyInForce;

  beforeEach(() => {
    rows = async () => ROWS;
    blocking = BLOCKING;
    policy = new PolicyInForce({ publisher, readRows: () => rows(), blocking: () => blocking, logger });
  });

  afterEach(() => policy.close());

  test('apply() publishes the rows of now over the rules in force', async () => {
    await policy.useRules(RULES);
    rows = async () => ({ ...ROWS, groups: [{ id: 1, enabled: true }] });
    await policy.apply();
    expect(sent.map((snapshot) => new PolicyTable(snapshot.policy).groupCount)).toEqual([2, 1]);
    expect(sent[1]!.rules).toBe(RULES.rules);
  });

  test('apply() makes one publication of a burst', async () => {
    await Promise.all(Array.from({ length: 50 }, () => policy.apply()));
    expect(sent).toHaveLength(2);
  });

  test('apply() rejects with what is in the way, and puts the rows into force when that is gone', async () => {
    rows = () => Promise.reject(new DatabaseUnavailable('down'));
    const refused: unknown = await policy.apply().catch((error: unknown) => error);
    expect(refused).toMatchObject({ message: 'down' });
    expect(sent).toEqual([]);
    rows = async () => ({ ...ROWS, groups: [{ id: 1, enabled: true }] });
    await until(() => sent.length > 0);
    expect(new PolicyTable(sent[0]!.policy).groupCount).toBe(1);
  });

  test('useRules() and applySettings() do not wait for the database', async () => {
    await policy.apply();
    rows = () => Promise.reject(new DatabaseUnavailable('down'));
    await policy.useRules(RULES);
    blocking = { ...BLOCKING, mode: 'nxdomain' };
    await policy.applySettings();
    const last = new PolicyTable(sent.at(-1)!.policy);
    expect(sent.at(-1)!.rules).toBe(RULES.rules);
    expect([last.blockingMode, last.groupCount]).toEqual([1, 2]);
  });

  test('applyLive() publishes what is live over the rows known, without the database', async () => {
    await policy.apply();
    rows = () => Promise.reject(new DatabaseUnavailable('down'));
    live = ({ groups }) => ({
      ...NOTHING_LIVE,
      overrides: new Map([[groups[1]!.id, { override: 'BlockAll', nextFlipAtSecs: 60 }]]),
    });
    await policy.applyLive();
    const table = new PolicyTable(sent.at(-1)!.policy);
    expect([0, 1].map((index) => table.groupOverride(index))).toEqual([0, GroupOverrideCode.BlockAll]);
    expect([0, 1].map((index) => table.groupNextFlipAtSecs(index))).toEqual([0, 60]);
  });

  test('apply() keeps the client table until something that gives clients their groups changes', async () => {
    const table = async (next: Partial<PolicyRows>): Promise<SharedArrayBuffer> => {
      rows = async () => structuredClone({ ...ROWS, ...next });
      await policy.apply();
      return sent.at(-1)!.clients;
    };
    const subnets = [{ cidr: '192.0.2.0/24', groupId: 7 }];
    const first = await table({ subnets });
    expect(await table({ subnets, blockedServices: [] })).toBe(first);
    const groups = [
      { id: 1, enabled: true },
      { id: 7, enabled: false },
    ];
    const others: Partial<PolicyRows>[] = [
      { subnets, groups },
      { subnets: [{ cidr: '192.0.2.0/24', groupId: 1 }] },
      { subnets: [] },
      { clients: [{ address: '192.0.2.1', groupId: 7 }] },
    ];
    const tables = [first];
    for (const other of others) tables.push(await table(other));
    live = () => ({ ...NOTHING_LIVE, clientAddresses: [{ address: '192.0.2.1', groupId: 7 }] });
    await policy.applyLive();
    expect(new Set([...tables, sent.at(-1)!.clients]).size).toBe(6);
  });

  test('never puts older rows into force after newer ones', async () => {
    let count = 1;
    rows = async () => {
      const groups = Array.from({ length: count++ }, (_, index) => ({ id: index + 1, enabled: true }));
      await new Promise((resolve) => setTimeout(resolve, count % 3));
      return { ...ROWS, groups };
    };
    await Promise.all([
      policy.apply(),
      policy.useRules(RULES),
      policy.apply(),
      policy.applyLive(),
      policy.applySettings(),
    ]);
    const counts = sent.map((snapshot) => new PolicyTable(snapshot.policy).groupCount);
    expect(counts).toEqual(counts.toSorted((a, b) => a - b));
    expect(sent.at(-1)!.rules).toBe(RULES.rules);
  });
});
