/** Checks that a change of a short text in a finished table gives the same rules as a compilation of all lists. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from '../../../../test/support/parts/fast-check.ts';
import { makeTempDir } from '../../../../test/support/parts/test-database.ts';
import { hashName, nameFromText } from '../../../../shared/dns/name.ts';
import { RuleTable } from '../../../../shared/snapshot/rule-table.ts';
import { readSpecialRules } from '../../../../shared/snapshot/special-rules.ts';
import { forEachPair, hasDisabledRules } from './attribute-table.ts';
import type { ListFile } from './compile-job.ts';
import { CompilePool } from './compile-pool.ts';
import { type CompiledRules, seedsOf } from './compiled-rules.ts';
import { changeText, type ChangedTable, inspectShortText } from './short-text.ts';

const SEEDS = { low: 5, high: 7 };
/** Names that make a table so large that it may keep a few names without rules. */
const MANY = Array.from({ length: 200 }, (_, index) => `many${index}.example\n`).join('');

let folder: string;
let pool: CompilePool;
let files = 0;

beforeAll(() => {
  folder = makeTempDir();
  pool = new CompilePool();
});
afterAll(async () => {
  await pool.close();
  rmSync(folder, { recursive: true });
});

function list(text: string, isCustom = true): ListFile {
  const path = join(folder, `${files++}`);
  writeFileSync(path, text);
  return { path, reading: { kind: 'block', subdomains: false, isCustom } };
}

async function compile(lists: readonly ListFile[]): Promise<CompiledRules> {
  const { table, special, statistics } = await pool.compile({ lists, seeds: SEEDS, expectedNames: 0 });
  const sources = statistics.map((own, id) => ({ id, inputKey: `${id}-x-block`, statistics: own }));
  return {
    rules: table.rules,
    special,
    attributes: table.attributes,
    sources,
    compiledAtMs: 0,
    compileMs: 0,
  };
}

type Table = Pick<ChangedTable, 'rules' | 'attributes'>;

/** Sources and kinds of the rules for a name. */
function rulesAt({ rules, attributes }: Table, name: string): string[] {
  const table = new RuleTable(rules);
  const hash = { low: 0, high: 0 };
  const { low, high } = seedsOf(rules);
  hashName(nameFromText(name)!, 0, low, high, hash);
  const attribute = table.find(hash.low, hash.high);
  const found: string[] = [];
  if (attribute >= 0) forEachPair(attributes, attribute, (source, kinds) => found.push(`${source}:${kinds}`));
  if (attribute >= 0 && hasDisabledRules(attributes, attribute)) found.push('disabled');
  return found;
}

async function change(compiled: CompiledRules, index: number, before: ListFile | null, text: string) {
  return changeText(compiled, { index, before, after: list(text) });
}

describe('changeText()', () => {
  test('returns the same rules and counts as a compilation, for generated changes', async () => {
    const names = Array.from({ length: 12 }, (_, index) => `n${index}.example`);
    const line = fc
      .tuple(
        fc.constantFrom(...names),
        fc.constantFrom('||N^', 'N', '@@||N^', '||N^$important', '0.0.0.0 N', '# N'),
      )
      .map(([name, form]) => form.replace('N', name));
    const lines = fc.array(line, { maxLength: 10 });
    const others = [
      list('||n0.example^\n@@||n1.example^\nn2.example\n' + MANY, false),
      list('n2.example\nn11.example\n', false),
    ];
    await fc.assert(
      fc.asyncProperty(lines, lines, fc.nat(2), async (before, after, index) => {
        const old = list(before.join('\n'));
        const compiled = await compile([...others.slice(0, index), old, ...others.slice(index)]);
        const changed = (await change(compiled, index, old, after.join('\n')))!;
        const whole = await compile([
          ...others.slice(0, index),
          list(after.join('\n')),
          ...others.slice(index),
        ]);
        for (const name of names) expect(rulesAt(changed, name)).toEqual(rulesAt(whole, name));
        expect(changed.statistics).toEqual(whole.sources[index]!.statistics);
      }),
      { numRuns: 25 },
    );
  });

  test('keeps special rules whose line numbers change, and the special rules of other lists', async () => {
    const special = [
      '||pat*tern.example^',
      '/^ad[0-9]+\\.example$/',
      '||b.example^$dnstype=A',
      '||*^$dnstype=TXT',
    ];
    const other = list(`${MANY}||other*x.example^\n/[0-9]{3}z/\n||c.example^$dnstype=A\n`, false);
    const old = list(['a.example', ...special].join('\n'));
    const compiled = await compile([other, old]);
    const text = ['# first', 'b.example', '', special[0], 'c.example', ...special.slice(1)].join('\n');
    const changed = (await change(compiled, 1, old, text))!;
    const whole = await compile([other, list(text)]);
    expect(readSpecialRules(changed.special)).toEqual(readSpecialRules(whole.special));
    expect(Buffer.from(changed.special)).toEqual(Buffer.from(whole.special));
  });

  test('adds the rules of a new text', async () => {
    const compiled = await compile([list('a.example\n', false)]);
    const changed = (await change(compiled, 1, null, 'a.example\n||b.example^\n'))!;
    expect([rulesAt(changed, 'a.example'), rulesAt(changed, 'b.example')]).toEqual([['0:1', '1:1'], ['1:2']]);
    expect(changed.lines).toMatchObject({ block: { fresh: ['b.example'], perhaps: [] } });
  });

  test.each([
    ['a new special rule', 'a.example', 'a.example\n||x*.example^'],
    ['a deleted special rule', '||x*.example^', ''],
    ['a rule for an address', 'a.example', 'a.example\n||192.0.2.1^'],
    ['a $badfilter rule', 'a.example', '||o.example^$badfilter'],
    ['a name for which another list has a $badfilter rule', 'a.example', '||off.example^'],
    ['too many lines', 'a.example', '\n'.repeat(5001)],
  ])('requires a compilation for %s', async (_what, before, after) => {
    const old = list(before);
    const compiled = await compile([list('||o.example^\n||off.example^$badfilter\n', false), old]);
    expect(await change(compiled, 1, old, after)).toBeUndefined();
  });

  test('requires a compilation for lists that an older version of the parser read', async () => {
    const old = list('a.example\n');
    const { sources, ...compiled } = await compile([old]);
    const { statistics } = sources[0]!;
    const other = [{ ...sources[0]!, statistics: { ...statistics, reading: statistics.reading - 1 } }];
    expect(await change({ ...compiled, sources: other }, 0, old, 'b.example\n')).toBeUndefined();
  });
});

describe('inspectShortText()', () => {
  test('returns the same counts as the compile thread, or undefined for a text that needs the thread', async () => {
    const text = list('a.example\n||x*.example^\n/y[0-9]z/\n||*^$dnstype=AAAA\n^\nno rule\n');
    expect(await inspectShortText(text)).toEqual(await pool.inspect(text, []));
    const hard = Array.from({ length: 200 }, (_, index) => `/x${index}[a-z]+y[0-9]{2}[abc]z/`).join('\n');
    expect(await inspectShortText(list(hard))).toBeUndefined();
  });
});
