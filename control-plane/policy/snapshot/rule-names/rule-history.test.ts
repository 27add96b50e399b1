import { beforeEach, describe, expect, test } from '@jest/globals';
import { hashName, nameFromText } from '../../../../shared/dns/name.ts';
import { LocalNames } from '../../../../shared/snapshot/local-name-table.ts';
import { RuleOrigin } from '../../../../shared/snapshot/rule-origin.ts';
import { ManualKind, RuleKind } from '../../../../shared/snapshot/rule-table.ts';
import {
  SMALL_BLOCKING,
  SMALL_ROWS as ROWS,
  SMALL_RULES as RULES,
  listedRule as listed,
} from '../../../../test/support/parts/small-policy.ts';
import { type CompiledRules, seedsOf } from '../../compile/table/compiled-rules.ts';
import { buildSpecialRules } from '../../compile/table/special-rules-builder.ts';
import { NOTHING_LIVE } from '../../change/runtime-state.ts';
import type { PolicyRows } from '../../change/rows.ts';
import { buildSnapshot } from '../build/snapshot-builder.ts';
import { type DecidingRule, RuleHistory } from './rule-history.ts';
import { ruleText } from './rule-text.ts';

const { BLOCK_EXACT, BLOCK_SUFFIX, ALLOW_EXACT, ALLOW_SUFFIX, IMPORTANT_BLOCK_SUFFIX } = RuleKind;
const { ALLOW_BELOW, BLOCK_BELOW, IMPORTANT_ALLOW_SUFFIX } = RuleKind;

let history: RuleHistory;
let version: number;

beforeEach(() => {
  history = new RuleHistory();
  version = 0;
});

/** Adds the next version; the first one is 1. */
function remember(compiled: CompiledRules, rows: PolicyRows, publishedAtMs?: number): void {
  const snapshot = buildSnapshot(++version, compiled, rows, SMALL_BLOCKING, NOTHING_LIVE);
  history.add({ snapshot, compiled, rows, ...(publishedAtMs !== undefined && { publishedAtMs }) });
}

/** A manual or special rule. */
function ruleAt(origin: number, kinds: number, name: string, groupId: number): DecidingRule {
  return { origin, index: 0, kinds, name: nameFromText(name)!, groupId };
}

describe('RuleHistory', () => {
  test('logged() describes a list rule like describe() does, and once for all names', () => {
    remember(RULES, ROWS);
    const rule = listed(1, BLOCK_SUFFIX, 7);
    const found = { source: 'malware', before: '||', atName: true, after: '^', lists: [20] };
    expect(history.logged(1, rule, () => rule.name)).toEqual(found);
    const again = history.logged(1, rule, () => {
      throw new Error('the name is not asked for again');
    });
    expect(again).toEqual(found);
    expect(history.logged(1, listed(0, BLOCK_EXACT, 1), () => rule.name)).toBeUndefined();
    expect(history.logged(9, rule, () => rule.name)).toBeUndefined();
  });

  test('logged() distinguishes rules that differ only in origin, name or group', () => {
    const special = buildSpecialRules(
      [{ source: 1, line: 12, kind: BLOCK_SUFFIX, match: 'pattern', text: '||ab*c^', rule: '||ab*c^' }],
      seedsOf(RULES.rules),
    );
    remember({ ...RULES, special }, ROWS);
    const rules = [
      ruleAt(RuleOrigin.MANAGED, ManualKind.DENY_SUFFIX, 'games.example', 7),
      ruleAt(RuleOrigin.MANAGED, ManualKind.DENY_SUFFIX, 'games.example', 1),
      ruleAt(RuleOrigin.MANAGED, ManualKind.DENY_SUFFIX, 'other.example', 7),
      ruleAt(RuleOrigin.SERVICE, ManualKind.SERVICE_SUFFIX, 'tube.example', 7),
      ruleAt(RuleOrigin.SERVICE, ManualKind.SERVICE_SUFFIX, 'other.example', 7),
      ruleAt(RuleOrigin.REGEX, 0, '', 1),
      ruleAt(RuleOrigin.SPECIAL, 0, '', 1),
    ];
    const expected = rules.map((rule) => {
      const found = history.describe(1, rule);
      const lists = rule.origin === RuleOrigin.SPECIAL ? [20] : [];
      return found && { source: found.source, before: found.rule, after: '', atName: false, lists };
    });
    expect(expected.map((rule) => rule?.source)).toEqual([
      'no games',
      undefined,
      undefined,
      'Tube',
      undefined,
      'ad words',
      'malware',
    ]);
    for (let time = 0; time < 2; time++)
      expect(rules.map((rule) => history.logged(1, rule, () => rule.name))).toEqual(expected);
  });

  test('describe() names only lists with a rule of this kind that apply to the group', () => {
    remember(RULES, ROWS);
    expect(history.describe(1, listed(1, BLOCK_SUFFIX, 7))?.sources).toEqual(['malware']);
    expect(history.describe(1, listed(1, BLOCK_EXACT | BLOCK_SUFFIX, 1))?.sources).toEqual(['malware']);
    expect(history.describe(1, listed(0, BLOCK_EXACT, 1))).toBeUndefined();
  });

  test('describe() names the service that is blocked at the given time, if two services contain the domain', () => {
    const slots = [{ days: 127, start: 0, end: 60, action: 'block_all' as const }];
    const [tube] = ROWS.blockedServices;
    const night = { ...tube!, serviceId: 'night', serviceName: 'Night', times: { timezone: 'UTC', slots } };
    const rows = { ...ROWS, blockedServices: [night, tube!] };
    for (const hour of [0, 1]) remember(RULES, rows, Date.UTC(2026, 4, 4, hour));
    const service = ruleAt(RuleOrigin.SERVICE, ManualKind.SERVICE_SUFFIX, 'tube.example', 7);
    expect([1, 2].map((at) => history.describe(at, service)?.source)).toEqual(['Night', 'Tube']);
  });

  test('describe() names managed domains, services, regex filters and special rules', () => {
    const special = buildSpecialRules(
      [{ source: 1, line: 12, kind: BLOCK_SUFFIX, match: 'pattern', text: '||ab*c^', rule: '||ab*c^' }],
      seedsOf(RULES.rules),
    );
    remember({ ...RULES, special }, ROWS);
    const managed = ruleAt(RuleOrigin.MANAGED, ManualKind.DENY_SUFFIX, 'games.example', 7);
    expect(history.describe(1, managed)).toMatchObject({ source: 'no games', rule: '*.games.example' });
    expect(history.describe(1, { ...managed, groupId: 1 })).toBeUndefined();
    const service = ruleAt(RuleOrigin.SERVICE, ManualKind.SERVICE_SUFFIX, 'tube.example', 7);
    expect(history.describe(1, service)).toMatchObject({ source: 'Tube', sourceIds: ['tube'] });
    expect(history.describe(1, ruleAt(RuleOrigin.REGEX, 0, '', 1))).toMatchObject({
      source: 'ad words',
      rule: '^ads?[0-9]',
    });
    expect(history.describe(1, ruleAt(RuleOrigin.SPECIAL, BLOCK_SUFFIX, '', 1))).toMatchObject({
      source: 'malware',
      rule: '||ab*c^',
      line: 12,
    });
  });

  test('describe() names the managed domain that decided, by action, group and subdomains', () => {
    const row = (id: number, change: Partial<PolicyRows['managedDomains'][number]>) => ({
      ...{
        id,
        name: `rule ${id}`,
        domain: 'a.example',
        suffix: false,
        action: 'deny' as const,
        groupId: null,
      },
      ...change,
    });
    const managedDomains = [
      row(1, { suffix: true, groupId: 7 }),
      row(2, { action: 'allow' }),
      row(3, {}),
      row(4, { suffix: true }),
      row(5, { domain: 'b.example', suffix: true }),
    ];
    remember(RULES, { ...ROWS, managedDomains });
    const named = (kinds: number, groupId: number): string | undefined =>
      history.describe(1, ruleAt(RuleOrigin.MANAGED, kinds, 'a.example', groupId))?.source;
    expect(named(ManualKind.DENY_SUFFIX, 7)).toBe('rule 1');
    expect(named(ManualKind.DENY_SUFFIX, 1)).toBe('rule 4');
    expect(named(ManualKind.DENY_EXACT, 1)).toBe('rule 3');
    expect(named(ManualKind.ALLOW_EXACT, 1)).toBe('rule 2');
    expect(named(ManualKind.ALLOW_SUFFIX, 1)).toBeUndefined();
  });

  test('describe() distinguishes the managed domains of several versions, in any order', () => {
    const [row] = ROWS.managedDomains;
    for (const name of ['first', 'second', 'third'])
      remember(RULES, { ...ROWS, managedDomains: [{ ...row!, name }] });
    const managed = ruleAt(RuleOrigin.MANAGED, ManualKind.DENY_SUFFIX, 'games.example', 7);
    const asked = [1, 2, 3, 2, 1, 1, 3];
    expect(asked.map((number) => history.describe(number, managed)?.source)).toEqual(
      asked.map((number) => ['first', 'second', 'third'][number - 1]),
    );
  });

  test('describe() returns local records of the newest version only', () => {
    const localRecords = [
      { id: 9, fqdn: 'nas.example', domain: '', type: 'A' as const, value: '192.0.2.5', ttlSecs: 60 },
    ];
    remember(RULES, { ...ROWS, localRecords });
    remember(RULES, { ...ROWS, localRecords });
    const { local } = buildSnapshot(1, RULES, { ...ROWS, localRecords }, SMALL_BLOCKING, NOTHING_LIVE);
    const hash = { low: 0, high: 0 };
    const name = nameFromText('nas.example')!;
    const { low, high } = seedsOf(RULES.rules);
    hashName(name, 0, low, high, hash);
    const names = new LocalNames(local);
    const set = names.setOf(names.find(hash.low, hash.high, name, 0, name.length), 1);
    const rule: DecidingRule = { ...ruleAt(RuleOrigin.LOCAL, 0, 'nas.example', 1), index: set };
    expect(history.describe(2, rule)).toMatchObject({ source: 'api', rule: 'nas.example A 192.0.2.5' });
    expect(history.describe(1, rule)).toBeUndefined();
  });

  test('describeSchedule() and loggedSchedule() name the schedule profile that a group had in the given version', () => {
    const group = (id: number, enabled: boolean): PolicyRows['groups'][number] => ({ id, enabled });
    const schedule = (groupId: number, profile: string): PolicyRows['schedules'][number] => ({
      groupId,
      profile,
      timezone: 'UTC',
      slots: [],
    });
    const groups = [group(1, true), group(7, true), group(8, false), group(9, true)];
    const before = {
      ...ROWS,
      groups,
      schedules: [schedule(1, 'school'), schedule(7, 'night')],
    };
    remember(RULES, before);
    remember(RULES, { ...before, schedules: [schedule(7, 'renamed')] });
    // A disabled group is treated like Default; group 9 has no schedule.
    const named = [1, 7, 8, 9].map((id) => history.describeSchedule(1, id)?.source);
    expect(named).toEqual(['school', 'night', 'school', undefined]);
    expect([1, 7, 8, 9].map((id) => history.loggedSchedule(1, id)?.source)).toEqual(named);
    expect(history.loggedSchedule(2, 7)).toEqual({
      source: 'renamed',
      before: 'block_all',
      after: '',
      atName: false,
      lists: [],
    });
    expect(history.loggedSchedule(2, 7)).toBe(history.loggedSchedule(2, 7));
    expect([history.describeSchedule(3, 7), history.loggedSchedule(3, 7)]).toEqual([undefined, undefined]);
  });

  test('describe() returns nothing for rules and versions that do not exist or are too old', () => {
    remember(RULES, ROWS);
    expect(history.describe(1, listed(99, BLOCK_EXACT, 7))).toBeUndefined();
    expect(history.describe(77, listed(0, BLOCK_EXACT, 7))).toBeUndefined();
    for (let index = 0; index < 64; index++) remember(RULES, ROWS);
    expect(history.describe(1, listed(0, BLOCK_EXACT, 7))).toBeUndefined();
    expect(history.describe(2, listed(0, BLOCK_EXACT, 7))).toBeDefined();
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
    [IMPORTANT_ALLOW_SUFFIX | IMPORTANT_BLOCK_SUFFIX, '@@||a.example^$important'],
    [ALLOW_SUFFIX | ALLOW_EXACT, '@@||a.example^'],
    [ALLOW_BELOW | BLOCK_SUFFIX, '@@||*.a.example^'],
    [BLOCK_BELOW, '||*.a.example^'],
  ])('writes a rule of kinds %i as %s', (kinds, expected) => {
    expect(ruleText(kinds, 'a.example')).toBe(expected);
  });
});
