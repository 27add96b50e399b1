/** Limits on the length of lines, on the rules of a list, and on the time to read them. */
import { describe, expect, test } from '@jest/globals';
import { parseLines } from '../../../../test/support/parts/parsed-lines.ts';

describe('LineRules', () => {
  test('reads the rules after an opening parenthesis that is never closed', () => {
    const parsed = parseLines(`@ SOA a. b. (\n${'x\n'.repeat(20)}example.net\n`);
    expect(parsed.names).toEqual(['BLOCK_EXACT example.net']);
  });

  test('reads lines of 64 KiB of the same character, at every position in a rule, in linear time', () => {
    const signs = ['a', '.', '*', '|', '^', ' ', '/', '$', ',', '#', '(', '-', '~', '=', ';', '0', 'é'];
    const frames = [
      '%',
      '||%',
      '||a%x',
      '||a.example^%x',
      '/%/',
      'address=/%/x y',
      'a.example %',
      '@@%|x',
      '.%|é',
      'local-zone: %x',
    ];
    for (const sign of signs) {
      const text = frames.map((frame) => frame.replace('%', () => sign.repeat(30_000))).join('\n');
      expect(parseLines(`${text}\nexample.net\n`).names).toContain('BLOCK_EXACT example.net');
    }
  });

  test('returns the client names in rules, at most a thousand', () => {
    const { clientNames } = parseLines('||a.example^$client=B|~c\n||d.example^$client=b|02-00-5e-10-00-01\n');
    expect(clientNames).toEqual(['b', 'c', '02:00:5e:10:00:01']);
    const many = Array.from({ length: 1001 }, (_, index) => `||a${index}.example^$client=c${index}\n`).join(
      '',
    );
    const parsed = parseLines(many);
    expect(parsed.rules).toBe(1000);
    expect(parsed.skippedSamples).toMatchObject([
      { line: 1001, reason: '$client with more than 1000 names in one list' },
    ]);
  });

  test('stops reading special rules and $badfilter rules of a list at their memory limits', () => {
    const names = `a.example${'|b.example'.repeat(400)}`;
    const lines = Array.from({ length: 6000 }, (_, at) => `||x${at}.example^$denyallow=${names}\n`);
    const longRules = parseLines(lines.join(''));
    expect(longRules.special.length * names.length).toBeLessThan(17_000_000);
    expect(longRules.special.length).toBeGreaterThan(4000);
    expect(longRules.skippedLines).toBe(6000 - longRules.special.length);
    expect(longRules.skippedSamples[0]?.reason).toBe('too many patterns in one list');
    expect(parseLines('||x.example^$badfilter\n'.repeat(60_000)).badFilters).toHaveLength(50_000);
  });

  test('reads lines of every format after any number of other lines', () => {
    const lines = [
      '||a.example^$important',
      '@@|b.example^',
      'address=/c.example/0.0.0.0',
      'local-zone: "d.example" always_nxdomain',
      'e.example CNAME .',
      '*.f.example CNAME .',
      '@ SOA g. h. 1 2 3 4 5',
      '0.0.0.0 i.example',
    ];
    const { names, skippedLines, invalidLines } = parseLines(
      `${'# why\n'.repeat(2000)}${lines.join('\n')}\n`,
    );
    expect([names.length, skippedLines, invalidLines]).toEqual([7, 0, 0]);
    const special = parseLines(`${'# why\n'.repeat(2000)}/^j[0-9]/\n^k[0-9]\\.x$\n||l*.example^\n`);
    expect(special.special.map(({ text }) => text)).toEqual(['^j[0-9]', '^k[0-9]\\.x$', '||l*.example^']);
  });

  test.each([
    ['a word with a colon that is too long for an option', `${'x'.repeat(21)}: y`],
    ['a word with a colon that is too long for an address', `${'a:'.repeat(33)} a.example`],
  ])('creates no rule from %s, and reports the same reason as for a short line', (_, line) => {
    const [long, short] = [parseLines(`${line}\n`), parseLines(`${line.slice(line.lastIndexOf(':') - 3)}\n`)];
    expect([long.names, long.special]).toEqual([[], []]);
    expect(long.invalidSamples.map(({ reason }) => reason)).toEqual(
      short.invalidSamples.map(({ reason }) => reason),
    );
    expect(long.invalidLines + long.skippedLines).toBe(1);
  });

  test('refuses a rule that is longer than the limit, and reports that', () => {
    const { invalidSamples, names } = parseLines(
      `||a.example^$denyallow=${'b|'.repeat(3000)}c\n0.0.0.0 ${'d.example '.repeat(3000)}\n`,
    );
    expect(invalidSamples).toMatchObject([{ line: 1, reason: 'longer than 4096 bytes, so not a rule' }]);
    expect(names).toHaveLength(3000);
  });
});
