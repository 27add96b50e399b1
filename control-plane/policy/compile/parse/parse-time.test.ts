/**
 * Checks that the time to read a list is linear in its size, for any content. Only ratios of CPU times are compared.
 */
import { describe, expect, test } from '@jest/globals';
import fc from '../../../../test/support/parts/fast-check.ts';
import { ListParser } from './parse-list.ts';

/** Size in bytes of the lists that are compared. */
const TEXT_BYTES = 131_072;
/**
 * Lengths of long lines: near the limit of 64 KiB and half of it, and near the maximum length of a rule and half of it.
 */
const LINE_BYTES = [65_000, 32_500, 4000, 2000];
/** Length of short lines, for which even cubic time per line would not matter. */
const SHORT_LINE_BYTES = 125;
/**
 * Maximum ratio between the times for long and for short lines. With quadratic time, the ratio would be at least 16.
 */
const MAX_RATIO = 6;
/**
 * Times below this number of milliseconds are not compared, because they depend mainly on the clock and the garbage
 * collector.
 */
const FLOOR_MS = 25;

const HEADS = [
  ...['', '||', '@@||', '|', '*.', '.', '(', '[', '@ ', 'a', '-', '!', '#', ';', 'é', 'a(', '://', '@@'],
  ...['a.example ', 'a.example CNAME ', '*.a.example CNAME ', '0.0.0.0 ', '::1 ', '1.2.3.4 ', '$TTL'],
  ...['address=/', 'server=/a/', 'bogus-nxdomain=', 'local-zone: ', 'local-data: "', '||a.example^'],
  ...['||a^$', '||a^$denyallow=', '||a^$client=', '||a^$dnstype=', '||a^$dnsrewrite=', '||a^$badfilter,'],
];
const UNITS = [
  ...['a', '.', '*', '|', '^', ' ', '/', '$', ',', '#', '(', ')', '[', ']', '-', '~', '=', ';', '0', 'é'],
  ...[
    'a.',
    '.a',
    '^|',
    ' #',
    '# ',
    ' !',
    '\r',
    '\u2028',
    '(a',
    'a)',
    '[a',
    '{',
    '"',
    'a ',
    'a/',
    '/ #',
    'a|',
  ],
  ...['::', 'a:', '1.', 'a-', '(((', ')))', '[^', '=/', ' a', '\t', '%', '/#1', 'xn--a.'],
];
const TAILS = ['', 'x', '^', '|', '/', '/#', ' x', '\u2028', '\r x', ')', ']', '"', ' #x', 'é', '=x'];

/** CPU time in milliseconds to read a list that repeats this line. */
function readingMs(head: string, unit: string, tail: string, lineBytes: number): number {
  const times = Math.floor((lineBytes - head.length - tail.length) / Buffer.byteLength(unit));
  const line = `${head}${unit.repeat(times)}${tail}\n`;
  const text = Buffer.from(line.repeat(Math.ceil(TEXT_BYTES / lineBytes)));
  const parser = new ListParser({ kind: 'block', subdomains: false }, () => undefined, {
    special: () => null,
    badFilter: () => true,
  });
  const before = process.cpuUsage();
  parser.push(text);
  parser.end();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/**
 * Whether long lines take more time per byte. If so, the time is measured again, because the machine may have been
 * busy.
 */
function isDearer(head: string, unit: string, tail: string, lineBytes: number): boolean {
  for (let attempt = 0; attempt < 3; attempt++) {
    const limitMs = FLOOR_MS + MAX_RATIO * readingMs(head, unit, tail, SHORT_LINE_BYTES);
    if (readingMs(head, unit, tail, lineBytes) <= limitMs) return false;
  }
  return true;
}

describe('ListParser', () => {
  test('reads every list in time linear in its bytes, however long its lines are', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...HEADS),
        fc.array(fc.constantFrom(...UNITS), { minLength: 1, maxLength: 2 }),
        fc.constantFrom(...TAILS),
        fc.constantFrom(...LINE_BYTES),
        (head, unit, tail, lineBytes) => {
          expect(isDearer(head, unit.join(''), tail, lineBytes)).toBe(false);
        },
      ),
      {
        numRuns: 300,
        examples: [
          ['(', ['('], ')', 4000],
          ['', ['[a'], '', 65_000],
          ['a', [' #'], '\r x', 65_000],
          ['||', [' #'], '\r x', 65_000],
          ['||a', ['^'], 'x', 4000],
          ['@ ', [' '], 'x', 65_000],
          ['address=/', ['/ #'], '\u2028', 65_000],
        ],
      },
    );
  });
});
