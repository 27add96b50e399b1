/**
 * Reads short lists, such as custom rules, without the compile thread, and applies changes of them to a copy of a
 * finished table, which is faster than reading all lists again. A change is rejected if its result might differ from
 * that of a compilation: if the special rules of the text change, or if it affects names with `$badfilter` rules or
 * addresses.
 */
import { stat } from 'node:fs/promises';
import { randomInt } from 'node:crypto';
import { RememberedAutomata } from '../../../../shared/automata/automaton-maker.ts';
import type { SpecialRule } from '../../../../shared/snapshot/special-rules.ts';
import type { SpecialLine } from '../parse/adblock-rule.ts';
import { invalidLine } from '../parse/foreign-line.ts';
import { LIST_READING, type ListStatistics, type UnusedLine } from '../parse/list-statistics.ts';
import { readList } from '../parse/read-list.ts';
import type { SpecialSink } from '../parse/rule-output.ts';
import { packPair, unpackPair } from './attribute-table.ts';
import type { ListFile, ListInspection } from './compile-job.ts';
import { inspectList } from './compile-task.ts';
import type { CompiledRules } from './compiled-rules.ts';
import { type AddedLines, ALLOW_KINDS, BLOCK_KINDS } from './names-file.ts';
import { SHORT_TEXT_BUDGET } from './rule-budget.ts';
import { RuleTableEditor } from './rule-table-editor.ts';
import { SpecialRuleSet } from './special-rule-set.ts';
import { rulesOfSource, withRuleLines } from './special-rules-builder.ts';
import { WatchedNames } from './watched-names.ts';

/**
 * Maximum size and number of lines of a text that the control plane's event loop can read without a noticeable delay.
 */
export const SHORT_TEXT_BYTES = 65_536;
const SHORT_TEXT_LINES = 5000;

/** A change of one list of a table. */
export interface TextChange {
  /** Index of the source; the number of sources for a new list. */
  readonly index: number;
  /** Null = the list is new. */
  readonly before: ListFile | null;
  readonly after: ListFile;
}

/** The table after a change, without its identity and times. */
export interface ChangedTable extends Pick<CompiledRules, 'rules' | 'special' | 'attributes'> {
  readonly statistics: ListStatistics;
  /** Lines that are missing in the names files. */
  readonly lines: { readonly block: AddedLines; readonly allow: AddedLines };
  readonly hasLeftNames: boolean;
}

/** Automata of the expressions in previous texts, so that only changed expressions are compiled. */
const automata = new RememberedAutomata();

/** Like `CompilePool.inspect`, for a short text; undefined if reading it would take long. */
export async function inspectShortText(list: ListFile): Promise<ListInspection | undefined> {
  const rules = newRules();
  const inspection = await inspectList(list, new WatchedNames([], rules));
  return rules.isOverBudget ? undefined : inspection;
}

/** Changes one list in compiled rules; undefined if a compilation is required. */
export async function changeText(
  compiled: CompiledRules,
  change: TextChange,
): Promise<ChangedTable | undefined> {
  const disabledNames = disabledNamesOf(compiled);
  if (disabledNames === undefined) return undefined;
  const before = await readBefore(compiled, change);
  const after = before && (await readText(change.after, change.index));
  if (before === undefined || after === undefined) return undefined;
  const special = specialAfter(compiled.special, change.index, before.special, after.special);
  const names = special && changeNames(compiled, change.index, before.names, after.names, disabledNames);
  return names && { ...names, special, statistics: after.statistics };
}

/** Names of which `$badfilter` rules of any list disable rules; undefined if unknown. */
function disabledNamesOf({ sources }: CompiledRules): ReadonlySet<string> | undefined {
  const names = new Set<string>();
  for (const { statistics } of sources) {
    if (statistics.takenBackNames === undefined || statistics.reading !== LIST_READING) return undefined;
    for (const name of statistics.takenBackNames) names.add(name);
  }
  return names;
}

/** The rules that a text adds to a table. */
interface TextRules {
  readonly statistics: ListStatistics;
  /** Kinds of rules by name, in lower case. */
  readonly names: ReadonlyMap<string, number>;
  readonly special: readonly SpecialRule[];
}

const NO_RULES: Pick<TextRules, 'names' | 'special'> = { names: new Map(), special: [] };

async function readBefore(
  compiled: CompiledRules,
  { index, before }: TextChange,
): Promise<Pick<TextRules, 'names' | 'special'> | undefined> {
  if (before === null) return NO_RULES;
  const { lines } = compiled.sources[index]!.statistics;
  if (lines > SHORT_TEXT_LINES || (await stat(before.path)).size > SHORT_TEXT_BYTES) return undefined;
  return readText(before, index);
}

/**
 * The rules of a list on disk; undefined if some of them affect other lists, or if reading the list would take long.
 */
async function readText({ path, reading }: ListFile, source: number): Promise<TextRules | undefined> {
  const names = new Map<string, number>();
  const sink = new TextSink(source);
  const statistics = await readList(
    path,
    reading,
    (bytes, start, end, kind) => {
      const name = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start)
        .toString('latin1')
        .toLowerCase();
      names.set(name, (names.get(name) ?? 0) | kind);
    },
    sink,
  );
  const { fault, lines, addressRules } = statistics;
  if (fault !== null || lines > SHORT_TEXT_LINES || addressRules > 0 || !sink.isAlone) return undefined;
  return { statistics, names, special: sink.accepted };
}

function newRules(): SpecialRuleSet {
  automata.beginRound();
  return new SpecialRuleSet(SHORT_TEXT_BUDGET, SHORT_TEXT_BUDGET, automata);
}

/** Collects the special rules of a text. */
class TextSink implements SpecialSink {
  readonly accepted: SpecialRule[] = [];
  private readonly rules = newRules();
  private readonly source: number;
  private hasBadFilters = false;

  constructor(source: number) {
    this.source = source;
  }

  /** Whether the rules of the text do not affect rules of other lists, and all rules were read. */
  get isAlone(): boolean {
    return !this.hasBadFilters && !this.rules.isOverBudget;
  }

  special(line: SpecialLine, number: number): UnusedLine | null {
    const rule: SpecialRule = { ...line, source: this.source, line: number };
    const refused = this.rules.add(rule);
    if (refused !== null) return invalidLine(refused);
    this.accepted.push(rule);
    return null;
  }

  badFilter(): boolean {
    this.hasBadFilters = true;
    return true;
  }
}

/**
 * The special rules of the table after the change. Undefined if the special rules of the text have changed, apart from
 * their lines.
 */
function specialAfter(
  special: SharedArrayBuffer,
  source: number,
  before: readonly SpecialRule[],
  after: readonly SpecialRule[],
): SharedArrayBuffer | undefined {
  const isSame = before.length === after.length && before.every((rule, at) => isSameRule(rule, after[at]!));
  if (!isSame) return undefined;
  if (before.length === 0) return special;
  const indexes = rulesOfSource(special, source);
  // A compilation may have rejected some of these rules, because the budget was exceeded.
  if (indexes.length !== before.length) return undefined;
  const moved = indexes.flatMap((index, at): [number, number][] =>
    before[at]!.line === after[at]!.line ? [] : [[index, after[at]!.line]],
  );
  return moved.length === 0 ? special : withRuleLines(special, new Map(moved));
}

function isSameRule(one: SpecialRule, other: SpecialRule): boolean {
  return JSON.stringify({ ...one, line: 0 }) === JSON.stringify({ ...other, line: 0 });
}

/** Lines to add to a names file, which are collected one by one. */
interface GrowingLines extends AddedLines {
  readonly fresh: string[];
  readonly perhaps: string[];
}

function changeNames(
  { rules, attributes }: Pick<CompiledRules, 'rules' | 'attributes'>,
  index: number,
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
  disabledNames: ReadonlySet<string>,
): Omit<ChangedTable, 'special' | 'statistics'> | undefined {
  const block: GrowingLines = { fresh: [], perhaps: [] };
  const allow: GrowingLines = { fresh: [], perhaps: [] };
  let hasLeftNames = false;
  const editor = new RuleTableEditor(rules, attributes);
  for (const name of new Set([...before.keys(), ...after.keys()])) {
    const kinds = after.get(name) ?? 0;
    if (kinds === (before.get(name) ?? 0)) continue;
    const known = editor.pairsAt(name);
    const pairs = (known ?? []).map(unpackPair).filter((pair) => pair !== null);
    if (disabledNames.has(name) || pairs.length !== (known ?? []).length) return undefined;
    const others = pairs.filter(({ source }) => source !== index);
    const next = kinds === 0 ? others : [...others, { source: index, kinds }];
    next.sort((one, other) => one.source - other.source);
    if (
      !editor.set(
        name,
        next.map(({ source, kinds: bits }) => packPair(source, bits)),
      )
    )
      return undefined;
    const [had, has] = [kindsOf(pairs), kindsOf(next)];
    for (const [lines, mask] of [
      [block, BLOCK_KINDS],
      [allow, ALLOW_KINDS],
    ] as const) {
      if ((had & mask) !== 0 && (has & mask) === 0) hasLeftNames = true;
      if ((had & mask) !== 0 || (has & mask) === 0) continue;
      // A known name may still have a line from an earlier rule that was removed.
      (known === undefined ? lines.fresh : lines.perhaps).push(name);
    }
  }
  const table = editor.finish(randomInt(1, 2 ** 32));
  return table && { rules: table.rules, attributes: table.attributes, lines: { block, allow }, hasLeftNames };
}

function kindsOf(pairs: readonly { readonly kinds: number }[]): number {
  return pairs.reduce((union, { kinds }) => union | kinds, 0);
}
