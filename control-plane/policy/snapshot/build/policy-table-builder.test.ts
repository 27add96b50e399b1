import { describe, expect, test } from '@jest/globals';
import { ManualKind, RuleKind } from '../../../../shared/snapshot/rule-table.ts';
import { BlockingMode, GroupOverride, PolicyTable } from '../../../../shared/snapshot/policy-table.ts';
import { type BlockingSettings } from '../../change/blocking-settings.ts';
import { type CompiledRules } from '../../compile/table/compiled-rules.ts';
import { type LivePolicy, NOTHING_LIVE } from '../../change/runtime-state.ts';
import { NO_POLICY_ROWS, type PolicyGroup, type PolicyRows, type PolicySource } from '../../change/rows.ts';
import { emptySnapshot } from '../publish/starting-state.ts';
import { filterStats } from '../publish/filter-stats.ts';
import { buildSnapshot } from './snapshot-builder.ts';
import { compiledFrom } from '../../../../test/support/parts/test-rules.ts';

const { BLOCK_EXACT, BLOCK_SUFFIX, ALLOW_SUFFIX } = RuleKind;
const BLOCKING: BlockingSettings = {
  enabled: true,
  mode: 'null_ip',
  ttlSecs: 10,
  customIpv4: '',
  customIpv6: '',
};
const DEFAULT: PolicyGroup = { id: 1, enabled: true };

function source(id: number, change: Partial<PolicySource> = {}): PolicySource {
  return { id, name: `list ${id}`, kind: 'block', enabled: true, groupIds: [], ...change };
}

function rowsOf(groups: PolicyGroup[], sources: PolicySource[]): PolicyRows {
  return { ...NO_POLICY_ROWS, groups, sources };
}

function tableOf(compiled: CompiledRules, rows: PolicyRows): PolicyTable {
  return new PolicyTable(buildSnapshot(5, compiled, rows, BLOCKING, NOTHING_LIVE).policy);
}

/** Kinds that apply to each group, for each attribute. */
function kindsOf(
  compiled: CompiledRules,
  groups: PolicyGroup[],
  sources: PolicySource[],
): Record<string, number[]> {
  const policy = tableOf(compiled, rowsOf(groups, sources));
  return Object.fromEntries(
    Array.from({ length: policy.groupCount }, (_, index) => [
      policy.groupId(index),
      Array.from({ length: policy.attributeCount }, (_, attribute) =>
        policy.kindsOf(policy.groupClass(index), attribute),
      ),
    ]),
  );
}

describe('buildPolicyTable()', () => {
  // Attribute 0: list 10 blocks; 1: lists 10 and 20 block; 2: list 20 allows.
  const compiled = compiledFrom([
    {
      id: 10,
      names: [
        ['a.example', BLOCK_EXACT],
        ['b.example', BLOCK_EXACT],
      ],
    },
    {
      id: 20,
      names: [
        ['b.example', BLOCK_SUFFIX],
        ['c.example', ALLOW_SUFFIX],
      ],
    },
  ]);

  test('applies a source without groups to every group', () => {
    const groups = [DEFAULT, { id: 7, enabled: true }];
    expect(kindsOf(compiled, groups, [source(10), source(20)])).toEqual({ 1: [1, 3, 8], 7: [1, 3, 8] });
  });

  test('applies a source with groups only to these groups', () => {
    const groups = [DEFAULT, { id: 7, enabled: true }];
    const sources = [source(10, { groupIds: [1] }), source(20, { groupIds: [7] })];
    expect(kindsOf(compiled, groups, sources)).toEqual({ 1: [1, 1, 0], 7: [0, 2, 8] });
  });

  test('treats a disabled group as Default', () => {
    const groups = [DEFAULT, { id: 7, enabled: false }];
    const sources = [source(10, { groupIds: [1] }), source(20, { groupIds: [7] })];
    expect(kindsOf(compiled, groups, sources)).toEqual({ 1: [1, 1, 0], 7: [1, 1, 0] });
  });

  test('ignores disabled, deleted and unreadable sources', () => {
    const damaged = compiledFrom([
      { id: 10, names: [['a.example', BLOCK_EXACT]], fault: 'unexpected end of file' },
      { id: 20, names: [['b.example', BLOCK_EXACT]] },
      { id: 30, names: [['c.example', BLOCK_EXACT]] },
    ]);
    expect(kindsOf(damaged, [DEFAULT], [source(10), source(20, { enabled: false })])).toEqual({
      1: [0, 0, 0],
    });
    expect(kindsOf(damaged, [DEFAULT], [source(10), source(20)])).toEqual({ 1: [0, 1, 0] });
  });

  test('gives groups with the same sources the same class, and Default the first row', () => {
    const groups = [{ id: 9, enabled: true }, { id: 7, enabled: true }, DEFAULT];
    const rows = rowsOf(groups, [source(10, { groupIds: [7] }), source(20)]);
    const policy = tableOf(compiled, rows);
    expect([0, 1, 2].map((index) => [policy.groupId(index), policy.groupClass(index)])).toEqual([
      [1, 0],
      [7, 1],
      [9, 0],
    ]);
  });

  test('gives groups with their own manual rules a separate class', () => {
    const manual = { id: 1, name: 'one', domain: 'x.example', suffix: true, action: 'deny' as const };
    const rows = {
      ...rowsOf([DEFAULT, { id: 7, enabled: true }, { id: 9, enabled: false }], [source(10), source(20)]),
      managedDomains: [
        { ...manual, groupId: null },
        { ...manual, id: 2, groupId: 7 },
      ],
    };
    const policy = tableOf(compiled, rows);
    expect([0, 1, 2].map((index) => policy.groupClass(index))).toEqual([0, 1, 0]);
    expect([...policy.ownersOf(0)]).toEqual([1, 0]);
    expect([...policy.ownersOf(1)]).toEqual([1, 1]);
    expect(policy.manualKindsOf(1, 0)).toBe(ManualKind.DENY_SUFFIX);
    expect([...policy.sourcesOf(0)]).toEqual([1, 1]);
  });

  test('adds Default if the rows do not contain it', () => {
    const policy = tableOf(compiled, rowsOf([], []));
    expect([policy.groupCount, policy.groupId(0)]).toEqual([1, 1]);
  });

  test('contains the version and the blocking settings', () => {
    const blocking: BlockingSettings = {
      enabled: false,
      mode: 'custom_ip',
      ttlSecs: 77,
      customIpv4: '192.0.2.9',
      customIpv6: '2001:db8::9',
    };
    const policy = new PolicyTable(
      buildSnapshot(42, compiled, rowsOf([DEFAULT], []), blocking, NOTHING_LIVE).policy,
    );
    expect(policy).toMatchObject({
      snapshotVersion: 42,
      blockingEnabled: false,
      blockingMode: BlockingMode.custom_ip,
      blockingTtlSecs: 77,
    });
    expect(Array.from(policy.customIpv4)).toEqual([192, 0, 2, 9]);
    expect(Buffer.from(policy.customIpv6).toString('hex')).toBe('20010db8000000000000000000000009');
  });

  test.each<[string, Partial<BlockingSettings>, boolean, boolean]>([
    ['both addresses', { customIpv4: '192.0.2.9', customIpv6: '2001:db8::9' }, true, true],
    ['an IPv4 address alone', { customIpv4: '192.0.2.9' }, true, false],
    ['an IPv6 address alone', { customIpv6: '2001:db8::9' }, false, true],
    [
      'an IPv6 address for IPv4 and an IPv4 address for IPv6',
      { customIpv4: '2001:db8::9', customIpv6: '192.0.2.9' },
      false,
      false,
    ],
    ['no address', {}, false, false],
    ['another mode', { mode: 'null_ip', customIpv4: '192.0.2.9' }, true, true],
  ])('contains which query types get a custom address: %s', (_, change, givesIpv4, givesIpv6) => {
    const blocking = { ...BLOCKING, mode: 'custom_ip' as const, customIpv4: '', customIpv6: '', ...change };
    const rows = rowsOf([DEFAULT], []);
    const policy = new PolicyTable(buildSnapshot(1, compiled, rows, blocking, NOTHING_LIVE).policy);
    expect(policy).toMatchObject({ givesIpv4, givesIpv6 });
    if (blocking.mode === 'null_ip') expect([...policy.customIpv4]).toEqual([0, 0, 0, 0]);
  });

  test('contains the override of each group, and the override of Default for a disabled group', () => {
    const live: LivePolicy = {
      ...NOTHING_LIVE,
      overrides: new Map([
        [1, { override: 'AllowAll', nextFlipAtSecs: 3600 }],
        [7, { override: 'BlockAll', nextFlipAtSecs: 0 }],
        [8, { override: 'BlockAll', nextFlipAtSecs: 60 }],
      ]),
    };
    const groups = [DEFAULT, { id: 7, enabled: true }, { id: 8, enabled: false }, { id: 9, enabled: true }];
    const { policy } = buildSnapshot(5, compiled, rowsOf(groups, []), BLOCKING, live);
    const table = new PolicyTable(policy);
    const reported = [0, 1, 2, 3].map((index) => [
      table.groupOverride(index),
      table.groupNextFlipAtSecs(index),
    ]);
    const { None, BlockAll, AllowAll } = GroupOverride;
    expect(reported).toEqual([
      [AllowAll, 3600],
      [BlockAll, 0],
      [AllowAll, 3600],
      [None, 0],
    ]);
  });

  test.each([
    ['no switch', true, null, true],
    ['no switch', false, null, false],
    ['off until changed', true, { enabled: false, until: null }, false],
    ['on until changed', false, { enabled: true, until: null }, true],
    ['off until later', true, { enabled: false, until: '2026-01-01T00:00:01Z' }, false],
    ['off until now', true, { enabled: false, until: '2026-01-01T00:00:00Z' }, true],
    ['on until now', false, { enabled: true, until: '2026-01-01T00:00:00Z' }, false],
  ])(
    'for the switch "%s" and blocking.enabled = %s enables or disables blocking',
    (_, configured, blockingSwitch, isOn) => {
      const live = { ...NOTHING_LIVE, nowMs: Date.parse('2026-01-01T00:00:00Z') };
      const rows = { ...rowsOf([DEFAULT], []), blockingSwitch };
      const blocking = { ...BLOCKING, enabled: configured };
      const table = new PolicyTable(buildSnapshot(5, compiled, rows, blocking, live).policy);
      expect(table.blockingEnabled).toBe(isOn);
    },
  );
});

describe('emptySnapshot()', () => {
  test('has version 0, contains Default and blocks nothing', () => {
    const { snapshot } = emptySnapshot(BLOCKING);
    const policy = new PolicyTable(snapshot.policy);
    expect(snapshot.version).toBe(0);
    expect([policy.groupCount, policy.groupId(0), policy.attributeCount]).toEqual([1, 1, 0]);
    expect(filterStats(emptySnapshot(BLOCKING))).toMatchObject({
      blocked_domains: 0,
      compiled_at: null,
      snapshot_id: 0,
    });
  });
});

describe('filterStats()', () => {
  const compiled = compiledFrom([
    {
      id: 10,
      names: [
        ['a.example', BLOCK_EXACT],
        ['b.example', BLOCK_EXACT],
      ],
    },
    {
      id: 20,
      names: [
        ['b.example', BLOCK_SUFFIX],
        ['c.example', ALLOW_SUFFIX],
      ],
    },
  ]);
  const state = (sources: PolicySource[]) => {
    const rows = rowsOf([DEFAULT], sources);
    return { snapshot: buildSnapshot(3, compiled, rows, BLOCKING, NOTHING_LIVE), compiled, rows };
  };

  test('counts a name once, however many lists contain it', () => {
    expect(filterStats(state([source(10), source(20, { groupIds: [4] })]))).toMatchObject({
      blocked_domains: 2,
      allowed_domains: 1,
      wildcard_rules: 2,
      snapshot_id: 3,
    });
  });

  test('counts the names of blocked services once, however many groups block them', () => {
    const service = {
      serviceId: 'v',
      serviceName: 'V',
      domains: ['v.example'],
      exact: ['v.example', 'w.example'],
    };
    const of = state([source(10)]);
    const blockedServices = [1, 2].map((groupId) => ({ ...service, groupId }));
    expect(filterStats({ ...of, rows: { ...of.rows, blockedServices } })).toMatchObject({
      blocked_domains: filterStats(of).blocked_domains + 2,
      wildcard_rules: filterStats(of).wildcard_rules + 1,
    });
  });

  test('adds up the memory of all filter tables', () => {
    const of = state([source(10)]);
    const { rules, special, manual, manualSpecial, policy, clients } = of.snapshot;
    const buffers = [rules, special, manual, manualSpecial, policy, clients];
    expect(filterStats(of).filter_bytes).toBe(
      Buffer.concat(buffers.map((one) => new Uint8Array(one))).length,
    );
  });

  test('leaves out names that only disabled sources contain', () => {
    expect(filterStats(state([source(10), source(20, { enabled: false })]))).toMatchObject({
      blocked_domains: 2,
      allowed_domains: 0,
      wildcard_rules: 0,
    });
  });
});
