/** Encodes automata in the form that DNS threads read, see `AutomatonLayout`. */
import { type PackedAutomaton, entriesOf } from '../../../../shared/automata/automaton-packer.ts';
import { type Automaton, MASK_COLUMNS } from '../../../../shared/automata/automaton.ts';
import { AutomatonLayout as A } from '../../../../shared/snapshot/layout.ts';

/** An automaton for rules of one source. */
interface SourceAutomaton extends Pick<PackedAutomaton, 'automaton' | 'rules'> {
  readonly source: number;
}

/** The words of an encoded automaton. Rules for which `indexOf` returns -1 are left out, so they never match. */
export function encodeAutomaton(
  { automaton, rules, source }: SourceAutomaton,
  indexOf: (rule: number) => number,
): Int32Array {
  const { ruleCount, start, classOf, classCount } = automaton;
  const kept = rules.reduce((mask, rule, bit) => (indexOf(rule) < 0 ? mask : mask | (1 << bit)), 0);
  const masks = new MaskTable();
  const { order, rowOf, quietRow } = placeRows(automaton, kept);
  const table = fillRows(automaton, kept, { order, rowOf, masks });
  const masksAt = A.RULES + ruleCount;
  const classesAt = masksAt + masks.all.length;
  const tableAt = classesAt + A.CLASS_MAP_WORDS;
  const words = new Int32Array(tableAt + ((table.length + 1) >>> 1));
  words[A.SOURCE] = source;
  words[A.RULE_COUNT] = ruleCount;
  words[A.ALL_RULES] = kept;
  words[A.CLASS_COUNT] = classCount;
  words[A.START_ROW] = rowOf[start]!;
  words[A.QUIET_ROW] = quietRow;
  words[A.MASKS] = masksAt;
  words[A.CLASSES] = classesAt;
  words[A.TABLE] = tableAt;
  words.set(rules.map(indexOf), A.RULES);
  words.set(masks.all, masksAt);
  new Uint8Array(words.buffer, classesAt * 4, classOf.length).set(classOf);
  new Uint16Array(words.buffer, tableAt * 4, table.length).set(table);
  return words;
}

/**
 * The row index of each state: first the dead state, then states with matches, and from `quietRow` on all other states.
 */
function placeRows(
  { stateCount, classCount, found }: Automaton,
  kept: number,
): { readonly order: readonly number[]; readonly rowOf: Uint16Array; readonly quietRow: number } {
  const columns = classCount + MASK_COLUMNS;
  const states = Array.from({ length: stateCount - 1 }, (_, at) => at + 1);
  const finding = states.filter((state) => (found[state]! & kept) !== 0);
  const order = [0, ...finding, ...states.filter((state) => (found[state]! & kept) === 0)];
  const rowOf = new Uint16Array(stateCount);
  for (const [place, state] of order.entries()) rowOf[state] = place * columns;
  return { order, rowOf, quietRow: (1 + finding.length) * columns };
}

/**
 * Writes the rows: the next state for each character class, then the masks of rules that match in this state and of
 * rules that match only at the end of the name.
 */
function fillRows(
  automaton: Automaton,
  kept: number,
  { order, rowOf, masks }: { order: readonly number[]; rowOf: Uint16Array; masks: MaskTable },
): Uint16Array {
  const { classCount, next, found, foundAtEnd } = automaton;
  const table = new Uint16Array(entriesOf(automaton));
  for (const state of order) {
    const row = rowOf[state]!;
    for (let column = 0; column < classCount; column++)
      table[row + column] = rowOf[next[state * classCount + column]!]!;
    table[row + classCount] = masks.indexOf(found[state]! & kept);
    table[row + classCount + 1] = masks.indexOf(foundAtEnd[state]! & kept);
  }
  return table;
}

/** Table of distinct masks. */
class MaskTable {
  readonly all: number[] = [0];
  private readonly known = new Map([[0, 0]]);

  indexOf(mask: number): number {
    let index = this.known.get(mask);
    if (index === undefined) {
      index = this.all.push(mask) - 1;
      this.known.set(mask, index);
    }
    return index;
  }
}
