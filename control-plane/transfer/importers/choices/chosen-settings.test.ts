import { describe, expect, test } from '@jest/globals';
import { plainReason } from '../../../../shared/policy/reasons/import-reasons.ts';
import type { Values } from '../../../../config/layers.ts';
import type { FieldProblem } from '../../../../shared/api/problem-details.ts';
import { chooseSettings, toImportSetting } from './chosen-settings.ts';
import type { OfferedSetting } from './offered-settings.ts';

const row = (key: string, value: unknown, more: Partial<OfferedSetting> = {}): OfferedSetting => ({
  ...{ id: key, key, value, items: [0], doubt: null },
  ...more,
});
const pool = (at: number, ...servers: string[]): OfferedSetting =>
  row('dns.pools', { name: `pool ${at}`, servers }, { id: `dns.pools.${at}` });

const RIGHT = (): FieldProblem[] => [];
/** A rule between two keys: the mode custom_ip needs an address. */
const modeNeedsAddress = (values: Values): FieldProblem[] =>
  values['blocking.mode'] === 'custom_ip' && values['blocking.custom_ipv4'] === undefined
    ? [{ path: 'blocking.custom_ipv4', message: 'expected an address' }]
    : [];

const chosen = (...args: Parameters<typeof chooseSettings>): string[] =>
  chooseSettings(...args).flatMap(({ id, isSelected }) => (isSelected ? [id] : []));

describe('chooseSettings()', () => {
  const ECS = row('dns.ecs', 'forward');
  const DOUBTED = row('dns.dnssec_enabled', true, { doubt: plainReason('the servers must support it') });

  test('selects settings without open questions, unless the user selects settings', () => {
    const base = { faultsOf: RIGHT, tests: null };
    expect(chosen([ECS, DOUBTED], { ...base, selection: 'default' })).toEqual(['dns.ecs']);
    expect(chosen([ECS, DOUBTED], { ...base, selection: new Set() })).toEqual([]);
    expect(chosen([ECS, DOUBTED], { ...base, selection: new Set(['dns.dnssec_enabled']) })).toEqual([
      'dns.dnssec_enabled',
    ]);
  });

  test('selects a pool if one of its servers has answered, and names servers that have not', () => {
    const pools = [pool(0, '192.0.2.1', '192.0.2.2'), pool(1, '192.0.2.3')];
    const tests = new Map([
      ['192.0.2.1', null],
      ['192.0.2.2', 'timeout'],
      ['192.0.2.3', 'timeout'],
    ]);
    const rows = chooseSettings(pools, { selection: 'default', faultsOf: RIGHT, tests });
    expect(rows.map(({ isSelected, reason }) => [isSelected, reason])).toEqual([
      [true, 'a test query fails (192.0.2.2: timeout)'],
      [false, 'no server answers a test query (192.0.2.3: timeout)'],
    ]);
    const untested = { selection: 'default', faultsOf: RIGHT, tests: null } as const;
    expect(chosen(pools, untested)).toEqual([]);
    expect(chosen(pools, { ...untested, selection: new Set(['dns.pools.1']) })).toEqual(['dns.pools.1']);
  });

  test('leaves out settings that cannot be set, with the reason, and selects the remaining ones', () => {
    const mode = row('blocking.mode', 'custom_ip');
    const [first, second] = chooseSettings([mode, ECS], {
      selection: 'default',
      faultsOf: modeNeedsAddress,
      tests: null,
    });
    expect(first).toMatchObject({
      isSelected: false,
      canSelect: false,
      reason: 'cannot be set: blocking.custom_ipv4: expected an address',
    });
    expect(second).toMatchObject({ isSelected: true, canSelect: true, reason: null });
  });

  test('selects a key together with a later key that it needs, but not without that key', () => {
    const rows = [row('blocking.mode', 'custom_ip'), row('blocking.custom_ipv4', '192.0.2.9')];
    const base = { faultsOf: modeNeedsAddress, tests: null };
    expect(chosen(rows, { ...base, selection: 'default' })).toEqual([
      'blocking.mode',
      'blocking.custom_ipv4',
    ]);
    const [mode] = chooseSettings(rows, { ...base, selection: new Set(['blocking.mode']) });
    expect(mode).toMatchObject({
      isSelected: false,
      canSelect: true,
      reason: 'cannot be set like this: blocking.custom_ipv4: expected an address',
    });
  });
});

describe('toImportSetting()', () => {
  test('contains no secrets', () => {
    const [chosenRow] = chooseSettings([row('auth.admin.password_hash', 'secret')], {
      selection: new Set(),
      faultsOf: RIGHT,
      tests: null,
    });
    expect(JSON.stringify(toImportSetting(chosenRow!))).not.toContain('"secret"');
  });
});
