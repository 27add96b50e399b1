/** Checks that edited tables give the same results as newly built ones, after any changes. */
import { describe, expect, test } from '@jest/globals';
import { hashName, nameFromText } from '../../../../shared/dns/name.ts';
import { checksumWords, RuleTableLayout as L } from '../../../../shared/snapshot/layout.ts';
import { RuleTable } from '../../../../shared/snapshot/rule-table.ts';
import { forEachPair } from '../../compile/table/attribute-table.ts';
import { NO_POLICY_ROWS, type PolicyManagedDomain } from '../../change/rows.ts';
import { buildManualNames, editManualNames, type ManualNames, type NamedRows } from './manual-names.ts';

const SEEDS = { low: 11, high: -22 };
const SERVICE = {
  serviceId: 's',
  serviceName: 'S',
  groupId: 7,
  domains: ['n3.example'],
  exact: ['n4.example'],
};

const rowsOf = (managedDomains: readonly PolicyManagedDomain[]): NamedRows => ({
  ...NO_POLICY_ROWS,
  managedDomains,
  blockedServices: [SERVICE],
});

/** Kinds of the rules for a name, each with its group. */
function rulesAt({ names, attributes, owners }: ManualNames, name: string): string {
  const table = new RuleTable(names);
  const hash = { low: 0, high: 0 };
  hashName(nameFromText(name)!, 0, table.seedLow, table.seedHigh, hash);
  const found: string[] = [];
  const attribute = table.find(hash.low, hash.high);
  if (attribute >= 0)
    forEachPair(attributes, attribute, (owner, kinds) => found.push(`${owners[owner] ?? 'all'}: ${kinds}`));
  return found.sort().join();
}

/** Pseudorandom numbers from a fixed seed, so that a failure can be reproduced. */
function random(): (below: number) => number {
  let state = 1;
  return (below) => {
    state = (Math.imul(state, 48_271) >>> 0) % 0x7fff_ffff;
    return state % below;
  };
}

const ONE = {
  id: 1,
  name: 'a',
  domain: 'a.example',
  suffix: false,
  action: 'deny',
  groupId: null,
} as const;

describe('editManualNames()', () => {
  test('returns a table with the same rules as a newly built one after each of many changes', () => {
    const pick = random();
    const make = (id: number): PolicyManagedDomain => ({
      ...{ id, name: `rule ${id}`, domain: `n${pick(400)}.example`, suffix: pick(2) === 0 },
      ...{ action: pick(2) === 0 ? 'allow' : 'deny', groupId: [null, 7, 8, 9][pick(4)]! },
    });
    let nextId = 1;
    let rows = rowsOf(Array.from({ length: 300 }, () => make(nextId++)));
    let table = buildManualNames(rows, SEEDS);
    let edits = 0;
    for (let round = 0; round < 200; round++) {
      const { managedDomains } = rows;
      const gone = new Set([pick(managedDomains.length), pick(managedDomains.length)]);
      const changed = pick(managedDomains.length);
      const kept = managedDomains.flatMap((row, at) => {
        if (at === changed) return { ...make(row.id) };
        return gone.has(at) ? [] : row;
      });
      const next = rowsOf([...kept, make(nextId++), make(nextId++)]);
      const edited = editManualNames(table, rows, next);
      if (edited !== undefined) edits++;
      table = edited ?? buildManualNames(next, SEEDS);
      rows = next;
      const built = buildManualNames(rows, SEEDS);
      for (let name = 0; name < 400; name++)
        expect(rulesAt(table, `n${name}.example`)).toBe(rulesAt(built, `n${name}.example`));
      const words = new Uint32Array(table.names, 0, table.names.byteLength >>> 2);
      expect(words[L.CHECKSUM_WORD]).toBe(checksumWords(words, L.HEADER_WORDS));
    }
    // The other changes were not edits, because the table was full.
    expect(edits).toBeGreaterThan(150);
  });

  test('leaves the previous table unchanged, and gives the new table a different build ID', () => {
    const many = Array.from({ length: 20 }, (_, at) => ({ ...ONE, id: at + 2, domain: `x${at}.example` }));
    const [before, after] = [rowsOf([ONE, ...many]), rowsOf(many)];
    const table = buildManualNames(before, SEEDS);
    const edited = editManualNames(table, before, after)!;
    expect([rulesAt(table, 'a.example'), rulesAt(edited, 'a.example')]).toEqual(['all: 16', '']);
    expect(new RuleTable(edited.names).build).not.toBe(new RuleTable(table.names).build);
  });

  test('requires a full build if many rows have changed', () => {
    expect(editManualNames(buildManualNames(rowsOf([]), SEEDS), rowsOf([]), rowsOf([ONE]))).toBeUndefined();
  });
});
