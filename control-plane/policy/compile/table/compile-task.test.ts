import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { hashName, nameFromText } from '../../../../shared/dns/name.ts';
import { RuleKind, RuleTable } from '../../../../shared/snapshot/rule-table.ts';
import { readSpecialRules } from '../../../../shared/snapshot/special-rules.ts';
import { forEachPairLeft } from './attribute-table.ts';
import type { ListFile } from './compile-job.ts';
import { compile, findLine, inspect } from './compile-task.ts';
import { namesPaths } from './names-file.ts';

const SEEDS = { low: 11, high: -22 };
const { BLOCK_EXACT, BLOCK_SUFFIX, ALLOW_SUFFIX } = RuleKind;

let folder: string;
let progress: Int32Array;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-task-'));
  progress = new Int32Array(new SharedArrayBuffer(4));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function list(name: string, content: string, kind: 'block' | 'allow' = 'block'): ListFile {
  const path = join(folder, name);
  writeFileSync(path, content);
  return { path, reading: { kind, subdomains: false } };
}

describe('compile()', () => {
  test('reports at the end that no list is being compiled, and keeps the priority of its thread', async () => {
    const priority = getPriority(0);
    const lists = [list('a', 'a.example\n'), list('b', 'b.example\n')];
    const { table } = await compile({ lists, seeds: SEEDS, expectedNames: 0, build: 7, progress });
    expect(Atomics.load(progress, 0)).toBe(3);
    expect(getPriority(0)).toBe(priority);
    expect(new RuleTable(table.rules).build).toBe(7);
  });

  test('stores the addresses and prefixes of all lists in the table', async () => {
    const lists = [list('a', '192.0.2.7\n2001:db8::/32\n'), list('b', '198.51.100.0/24\n')];
    const { table } = await compile({ lists, seeds: SEEDS, expectedNames: 0, build: 1, progress });
    const rules = new RuleTable(table.rules);
    expect(rules.addressCount).toBe(3);
    expect(table.nameCount).toBe(3);
  });

  test('applies $badfilter rules only to lists in Adblock format', async () => {
    const lists = [
      list('adblock', '||a.example^\n||b.example^\n'),
      list('hosts', '0.0.0.0 a.example\n'),
      list('fixes', '||a.example^$badfilter\n||c*d.example^\n'),
    ];
    const { table, special } = await compile({ lists, seeds: SEEDS, expectedNames: 0, build: 1, progress });
    const rules = new RuleTable(table.rules);
    const hash = { low: 0, high: 0 };
    hashName(nameFromText('a.example')!, 0, rules.seedLow, rules.seedHigh, hash);
    const left: string[] = [];
    forEachPairLeft(
      table.attributes,
      rules.find(hash.low, hash.high),
      () => true,
      (source, kinds) => left.push(`${source}:${kinds}`),
    );
    expect(left).toEqual([`1:${BLOCK_EXACT}`]);
    expect(readSpecialRules(special)).toMatchObject([{ source: 2, line: 2, text: '||c*d.example^' }]);
  });

  test('writes the files of names to the given path', async () => {
    const namesPath = join(folder, 'names');
    const lists = [list('a', 'a.example\n'), list('b', 'b.example\n', 'allow')];
    await compile({ lists, seeds: SEEDS, expectedNames: 0, build: 1, progress, namesPath });
    const { block, allow } = namesPaths(namesPath);
    expect([block, allow].map((path) => firstLine(path))).toEqual(['a.example', 'b.example']);
  });
});

function firstLine(path: string): string {
  return readFileSync(path, 'latin1').split('\n')[0]!;
}

function wanted(file: ListFile): Omit<Parameters<typeof findLine>[0], 'name'> {
  return { list: file, kinds: BLOCK_EXACT | BLOCK_SUFFIX, progress };
}

describe('findLine()', () => {
  test('returns the first line with a rule of the given kinds for the name', async () => {
    const file = list('a', '# a list\n@@||a.example^\nx.a.example\nA.Example\n||a.example^\n');
    expect(await findLine({ ...wanted(file), name: 'a.example' })).toBe(4);
    expect(await findLine({ ...wanted(file), name: 'a.example', kinds: BLOCK_SUFFIX })).toBe(5);
    expect(await findLine({ ...wanted(file), name: 'a.example', kinds: ALLOW_SUFFIX })).toBe(2);
  });

  test('returns null if no line contains such a rule', async () => {
    const file = list('a', 'x.a.example\n||b.example^\n');
    expect(await findLine({ ...wanted(file), name: 'a.example' })).toBeNull();
    expect(await findLine({ ...wanted(file), name: 'example' })).toBeNull();
    expect(await findLine({ ...wanted(file), name: 'b.example', kinds: BLOCK_EXACT })).toBeNull();
  });
});

describe('inspect()', () => {
  test('returns those of the given names that a list blocks or allows', async () => {
    const file = list('a', '||a.example^\n@@||b.example^\n/^c[0-9]/\n');
    const watch = ['x.a.example', 'b.example', 'c7.example', 'd.example'];
    const { statistics, watched, allowed } = await inspect({ list: file, watch, progress });
    expect(watched).toEqual(['x.a.example', 'c7.example']);
    expect(allowed).toEqual(['b.example']);
    expect(statistics).toMatchObject({ rules: 3, fault: null });
    expect(Atomics.load(progress, 0)).toBe(1);
  });
});
