import { describe, expect, test } from '@jest/globals';
import { type ByteProgram, compileProgram } from '../policy/regex.ts';
import type { Automaton } from './automaton.ts';
import { determinize } from './determinize.ts';

const ENOUGH = 1_000_000;

function programOf(pattern: string): ByteProgram {
  const compiled = compileProgram(pattern);
  if (!compiled.ok) throw new Error(compiled.reason);
  return compiled.program;
}

function automatonOf(pattern: string): Automaton {
  const made = determinize(programOf(pattern), ENOUGH);
  if (!('automaton' in made)) throw new Error(made.reason);
  return made.automaton;
}

/** States that a text passes through, including the first. */
function statesOf({ start, next, classOf, classCount }: Automaton, text: string): number[] {
  const states = [start];
  for (const octet of Buffer.from(text, 'latin1'))
    states.push(next[states.at(-1)! * classCount + classOf[octet]!]!);
  return states;
}

function finds(automaton: Automaton, text: string): boolean {
  const states = statesOf(automaton, text);
  return states.some((state) => automaton.found[state] === 1) || automaton.foundAtEnd[states.at(-1)!] === 1;
}

describe('determinize(), which converts a regular expression to an automaton,', () => {
  test.each([
    ['ads', ['ads', 'xadsx', 'aads'], ['', 'ad', 'a.ds']],
    ['^ads$', ['ads'], ['xads', 'adsx', 'ads\n']],
    ['\\bads\\b', ['ads', 'x.ads.x', '-ads-'], ['xads', 'ads0', '_ads', 'adsZ']],
    ['\\Bads', ['xads', '0ads'], ['ads', '.ads']],
    ['(?m:^ads$)', ['x\nads\ny', 'ads'], ['xads', 'ads.\n']],
    ['a{2,3}b', ['aab', 'xaaaab'], ['ab', 'aa']],
    ['a|^$', ['', 'a'], ['b']],
  ])('finds %s in the right names only', (pattern, hits, misses) => {
    const automaton = automatonOf(pattern);
    expect(hits.filter((text) => !finds(automaton, text))).toEqual([]);
    expect(misses.filter((text) => finds(automaton, text))).toEqual([]);
  });

  test('reports a match at the last byte of the match, or one byte later if the expression looks ahead', () => {
    const [plain, boundary] = [automatonOf('ab'), automatonOf('ab\\b')];
    expect(statesOf(plain, 'xab.').map((state) => plain.found[state])).toEqual([0, 0, 0, 1, 0]);
    expect(statesOf(boundary, 'xab.').map((state) => boundary.found[state])).toEqual([0, 0, 0, 0, 1]);
  });

  test('puts bytes that the expression does not distinguish into one class', () => {
    const { classOf, classCount } = automatonOf('^ab$');
    expect(classCount).toBe(3);
    expect(classOf[0x41]).toBe(classOf[0x61]);
    expect(classOf[0x63]).toBe(classOf[0xff]);
  });

  test('stays in state 0 once no match is possible', () => {
    expect(statesOf(automatonOf('^ab'), 'xab').slice(1)).toEqual([0, 0, 0]);
    expect(statesOf(automatonOf('ab'), 'xxx')).not.toContain(0);
  });

  test('fails if the work exceeds the work limit', () => {
    const made = determinize(programOf('[a-z]{20}x'), 100);
    expect(made).toMatchObject({ reason: 'the pattern takes too long to compile' });
    expect(made.work).toBeGreaterThan(100);
    expect(made.work).toBeLessThan(10_000);
  });

  test('fails if the automaton has more states than fit into a table', () => {
    expect(determinize(programOf('[0-9][a-z0-9]{40}x'), ENOUGH)).toMatchObject({
      reason: expect.stringMatching(/an automaton of more than \d+ states/),
    });
  });
});
