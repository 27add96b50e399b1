/** Regular expressions and patterns of lists: Weir's automaton finds the same matches in a name as RE2's own engine. */
import { RE2JS } from 're2js';
import { compileExpression } from '../../../shared/automata/expression.ts';
import { canFindName, finds, findsEveryName } from '../../../shared/automata/reach.ts';
import { fromTre } from '../../../control-plane/transfer/importers/pihole/tre/tre-pattern.ts';
import { matchesPattern, patternExpression, readNamePattern } from '../../../shared/policy/name-pattern.ts';
import { isAddressExpression } from '../../../shared/policy/address-expression.ts';
import { isAddressPattern } from '../../../shared/policy/address-rule.ts';
import { hold, InputReader, octetsOf } from '../target.ts';
import type { Target } from '../target.ts';

const NAMES = [
  '',
  'a',
  'ads.example.org',
  'www.ads1.example',
  'xn--bcher-kva.example',
  '192.0.2.1',
  'k\u00e9.b-c_d',
  '2001:db8::1',
];
/** RE2's engine is slow if it must simulate many threads. */
const MAX_COMPARED_LENGTH = 40;

function checkExpression(text: string, extra: string): void {
  isAddressExpression(text);
  const made = compileExpression(text);
  if (!('automaton' in made)) {
    hold(made.reason !== '', 'it is refused without a reason');
    return;
  }
  if (text.length > MAX_COMPARED_LENGTH || /\\[CQE]/u.test(text)) return;
  const engine = RE2JS.compile(text, RE2JS.CASE_INSENSITIVE);
  for (const name of [...NAMES, extra])
    hold(finds(made.automaton, name) === engine.matcher(name).find(), 'another engine finds something else');
  const isFound = finds(made.automaton, 'www.ads1.example');
  hold(
    isFound || !findsEveryName(made.automaton) || finds(made.automaton, ''),
    'it does not find every name',
  );
  hold(!isFound || canFindName(made.automaton), 'it finds a name');
}

function checkPattern(text: string, extra: string): void {
  const pattern = readNamePattern(text.toLowerCase());
  isAddressPattern(text.toLowerCase());
  if (typeof pattern === 'string') return;
  const made = compileExpression(patternExpression(pattern));
  if (!('automaton' in made)) return;
  for (const name of [...NAMES, extra])
    hold(finds(made.automaton, name) === matchesPattern(pattern, name), 'pattern and expression differ');
}

function checkTre(text: string): void {
  const read = fromTre(text);
  if ('pattern' in read) compileExpression(read.pattern);
}

function run(input: Uint8Array): void {
  const reader = new InputReader(input);
  const check = reader.of([checkExpression, checkPattern, checkTre]);
  const [text = '', extra = ''] = Buffer.from(reader.rest()).toString('latin1').split('\0');
  check(text, extra.toLowerCase().slice(0, 60));
}

/** Seeds: expressions of Pi-hole, patterns of Adblock lists. */
export const target: Target = {
  maxLength: 200,
  isSlow: true,
  seeds: () =>
    [
      ...[
        '\0^ads[0-9]*\\.\0ads7.',
        '\0(^|\\.)track(ing)?\\.example$',
        '\0a{2,3}(?:b|c)+?\\b',
        '\0(?i)[[:alpha:]]\\d\\W',
        '\0(?P<n>x)|^$',
      ],
      ...['\u0001||ads*.example^\0ads1.example', '\u0001|https://a.b.c^', '\u0001*track*', '\u0001.dot.'],
      ...[
        '\u0002^ad([sxv]?[0-9]*|system)[_.-]([^.[:space:]]+\\.){1,}|[_.-]ad',
        '\u0002\\<word\\>',
        '\u0002x{,3}y{~2}',
      ],
    ].map(octetsOf),
  dictionary: [
    '[[:alpha:]]',
    '(?:',
    '\\b',
    '{2,}',
    '[^',
    '\\x{e9}',
    '(?s)',
    '(?-i:',
    '||',
    '^',
    '*',
    '\\pL',
    '\\Q',
    '{~1}',
    '\0',
  ],
  run,
};
