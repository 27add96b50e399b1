import { describe, expect, test } from '@jest/globals';
import { hashName, nameFromText } from '../../../../shared/dns/name.ts';
import { ManualKind, RuleKind, RuleTable } from '../../../../shared/snapshot/rule-table.ts';
import { readSpecialRules } from '../../../../shared/snapshot/special-rules.ts';
import { compiledFrom } from '../../../../test/support/parts/test-rules.ts';
import { forEachPair } from '../../compile/table/attribute-table.ts';
import {
  NO_POLICY_ROWS,
  type PolicyManagedDomain,
  type PolicyRegexFilter,
  type PolicyRows,
} from '../../change/rows.ts';
import {
  type ManualRules,
  buildManualRules,
  findRefusedFilters,
  isSameForManualRules,
} from './manual-rules.ts';

const SEEDS = { low: 11, high: -22 };

function managed(id: number, domain: string, change: Partial<PolicyManagedDomain> = {}): PolicyManagedDomain {
  return { id, name: `rule ${id}`, domain, suffix: false, action: 'deny', groupId: null, ...change };
}

function filter(id: number, pattern: string, change: Partial<PolicyRegexFilter> = {}): PolicyRegexFilter {
  return { id, name: `filter ${id}`, pattern, action: 'deny', groupId: null, ...change };
}

/** Kinds of the rules for a name in the table, each with its group; null = all groups. */
function kindsOf(built: ManualRules, name: string): [number | null, number][] {
  const table = new RuleTable(built.names);
  const hash = { low: 0, high: 0 };
  hashName(nameFromText(name)!, 0, table.seedLow, table.seedHigh, hash);
  const attribute = table.find(hash.low, hash.high);
  const found: [number | null, number][] = [];
  if (attribute >= 0)
    forEachPair(built.attributes, attribute, (owner, kinds) => found.push([built.owners[owner]!, kinds]));
  return found;
}

/** Expressions whose automata cannot be merged, so that each needs a separate part of the budget. */
function heavy(count: number): PolicyRegexFilter[] {
  return Array.from({ length: count }, (_, index) => {
    const [one, other] = [index % 26, Math.floor(index / 26)].map((at) => String.fromCharCode(97 + at));
    return filter(index + 1, `[${one!}-z][a-z0-9.-]{6}${other!}${one!}`);
  });
}

describe('buildManualRules()', () => {
  test('keeps the rules of each group separate, with action and subdomains of each row', () => {
    const rows: PolicyRows = {
      ...NO_POLICY_ROWS,
      managedDomains: [
        managed(1, 'a.example'),
        managed(2, 'a.example', { suffix: true, groupId: 7 }),
        managed(3, 'a.example', { action: 'allow', groupId: 7 }),
        managed(4, 'b.example', { action: 'allow', suffix: true }),
      ],
      blockedServices: [
        { serviceId: 's', serviceName: 'S', groupId: 7, domains: ['s.example'], exact: ['x.example'] },
      ],
    };
    const built = buildManualRules(rows, 0, SEEDS);
    const { DENY_EXACT, DENY_SUFFIX, ALLOW_EXACT, ALLOW_SUFFIX, SERVICE_SUFFIX, SERVICE_EXACT } = ManualKind;
    expect(kindsOf(built, 'a.example')).toEqual([
      [null, DENY_EXACT],
      [7, DENY_SUFFIX | ALLOW_EXACT],
    ]);
    expect(kindsOf(built, 'b.example')).toEqual([[null, ALLOW_SUFFIX]]);
    expect(kindsOf(built, 's.example')).toEqual([[7, SERVICE_SUFFIX]]);
    expect(kindsOf(built, 'x.example')).toEqual([[7, SERVICE_EXACT]]);
    expect(kindsOf(built, 'c.example')).toEqual([]);
  });

  test('leaves out a service outside the times at which it is blocked', () => {
    const times = {
      timezone: 'UTC',
      slots: [{ days: 127, start: 1260, end: 390, action: 'block_all' as const }],
    };
    const service = {
      serviceId: 's',
      serviceName: 'S',
      groupId: 7,
      domains: ['s.example'],
      exact: [],
      times,
    };
    const rows: PolicyRows = { ...NO_POLICY_ROWS, blockedServices: [service] };
    const at = (iso: string): unknown => kindsOf(buildManualRules(rows, Date.parse(iso), SEEDS), 's.example');
    expect(at('2026-05-04T20:59:59Z')).toEqual([]);
    expect(at('2026-05-04T21:00:00Z')).toEqual([[7, ManualKind.SERVICE_SUFFIX]]);
    expect(at('2026-05-05T06:29:59Z')).toEqual([[7, ManualKind.SERVICE_SUFFIX]]);
    expect(at('2026-05-05T06:30:00Z')).toEqual([]);
  });

  test('gives each build a different ID, and hashes names with the given seeds', () => {
    const tables = [1, 2].map(() => new RuleTable(buildManualRules(NO_POLICY_ROWS, 0, SEEDS).names));
    expect(tables.map(({ seedLow, seedHigh }) => [seedLow, seedHigh])).toEqual([
      [11, -22],
      [11, -22],
    ]);
    expect(tables[0]!.build).not.toBe(tables[1]!.build);
    expect(tables[0]!.build).not.toBe(0);
  });

  test('gives a regex filter its index among the accepted filters, after a refused filter', () => {
    const regexFilters = [
      filter(1, '^ads[0-9]'),
      filter(2, '(', { groupId: 7 }),
      filter(3, '^ok', { action: 'allow' }),
    ];
    const { special, owners, refused } = buildManualRules({ ...NO_POLICY_ROWS, regexFilters }, 0, SEEDS);
    expect(owners).toEqual([null, 7]);
    expect(refused).toMatchObject([{ id: 2, pattern: '(' }]);
    expect(
      readSpecialRules(special).map(({ source, line, kind, text }) => [source, line, kind, text]),
    ).toMatchObject([
      [0, 1, RuleKind.BLOCK_SUFFIX, '^ads[0-9]'],
      [1, 2, RuleKind.BLOCK_SUFFIX, '('],
      [0, 3, RuleKind.ALLOW_SUFFIX, '^ok'],
    ]);
  });
});

describe('findRefusedFilters()', () => {
  test('accepts typical regex filters', () => {
    expect(
      findRefusedFilters([filter(1, '^ads?[0-9]+\\.'), filter(2, '(^|\\.)tracker\\.', { groupId: 7 })]),
    ).toEqual([]);
  });

  test('refuses filters over the limit for one change, which is lower than the limit for active filters', () => {
    const filters = heavy(300);
    const refused = findRefusedFilters(filters);
    expect(refused.length).toBeGreaterThan(0);
    expect(refused.length).toBeLessThan(filters.length);
    expect(refused[0]!.reason).toMatch(/too many regular expressions/);
    const left = buildManualRules({ ...NO_POLICY_ROWS, regexFilters: filters }, 0, SEEDS).refused;
    expect(left.length).toBeLessThanOrEqual(refused.length);
  });
});

describe('isSameForManualRules()', () => {
  const SERVICE = { serviceId: 's', serviceName: 'S', groupId: 7, domains: ['s.example'], exact: [] };
  const rows = { ...NO_POLICY_ROWS, managedDomains: [managed(1, 'a.example')] };
  const compiled = compiledFrom([]);
  const live = { nowMs: 0 };

  test('is true for the same rows of manual rules, even if lists and groups have changed', () => {
    const other = { ...rows, groups: [{ id: 7, enabled: true }] };
    expect(
      isSameForManualRules({ compiled, rows, live }, { compiled: compiledFrom([]), rows: other, live }),
    ).toBe(true);
  });

  test.each<[string, Partial<PolicyRows>, number]>([
    ['the seeds', {}, 2],
    ['managed domains', { managedDomains: [] }, 1],
    ['regex filters', { regexFilters: [filter(1, '^a')] }, 1],
    ['blocked services', { blockedServices: [SERVICE] }, 1],
  ])('is false if %s differ', (_what, change, seed) => {
    const other = { compiled: compiledFrom([], seed), rows: { ...rows, ...change }, live };
    expect(isSameForManualRules({ compiled, rows, live }, other)).toBe(false);
  });

  test('is false if a service is blocked at the time of one snapshot but not of the other', () => {
    const times = {
      timezone: 'UTC',
      slots: [{ days: 127, start: 60, end: 120, action: 'block_all' as const }],
    };
    const service = {
      serviceId: 's',
      serviceName: 'S',
      groupId: 7,
      domains: ['s.example'],
      exact: [],
      times,
    };
    const timed = { ...rows, blockedServices: [service] };
    const at = (minute: number) => ({ compiled, rows: timed, live: { nowMs: minute * 60_000 } });
    expect(isSameForManualRules(at(60), at(119))).toBe(true);
    expect(isSameForManualRules(at(59), at(60))).toBe(false);
    expect(isSameForManualRules(at(121), at(1_000))).toBe(true);
  });
});
