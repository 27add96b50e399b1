import { describe, expect, test } from '@jest/globals';
import { isIPv6 } from 'node:net';
import { nameFromText } from '../../../../shared/dns/name.ts';
import { RuleKind } from '../../../../shared/snapshot/rule-table.ts';
import fc from '../../../../test/support/parts/fast-check.ts';
import { MAX_LINE_BYTES } from './line-collector.ts';
import type { ListReading } from './line-rules.ts';
import type { ListStatistics } from './list-statistics.ts';
import { MAX_SAMPLES } from './list-statistics.ts';
import { ListParser } from './parse-list.ts';

const BLOCK: ListReading = { kind: 'block', subdomains: false };
const KIND_NAMES = new Map<number, string>(Object.entries(RuleKind).map(([name, kind]) => [kind, name]));

interface Parsed extends ListStatistics {
  /** `line KIND name` of each rule. */
  readonly found: string[];
}

function parse(text: string | Uint8Array, reading: ListReading = BLOCK, chunkBytes = 1 << 20): Parsed {
  const found: string[] = [];
  const parser = new ListParser(reading, (bytes, start, end, kind, line) => {
    found.push(`${line} ${KIND_NAMES.get(kind)} ${Buffer.from(bytes.slice(start, end)).toString('latin1')}`);
  });
  const bytes = typeof text === 'string' ? Buffer.from(text) : text;
  for (let at = 0; at < bytes.length; at += chunkBytes) parser.push(bytes.subarray(at, at + chunkBytes));
  return { ...parser.end(), found };
}

describe('ListParser', () => {
  test.each(['', '0.0.0.0 a.example\n'])(
    'does not read a superscript digit as part of the address of a hosts line, after %j',
    (before) => {
      expect(parse(`${before}0 ³\n`).skippedSamples).toMatchObject([{ reason: 'an address, not a name' }]);
    },
  );

  test.each([
    ['a plain domain', 'example.com', 'BLOCK_EXACT example.com'],
    ['a plain domain in upper case', 'ADS.Example.COM', 'BLOCK_EXACT ADS.Example.COM'],
    ['a trailing dot', 'example.com.', 'BLOCK_EXACT example.com'],
    ['spaces and tabs around a name', ' \t example.com \t ', 'BLOCK_EXACT example.com'],
    ['a line that ends with CRLF', 'example.com\r', 'BLOCK_EXACT example.com'],
    ['an inline comment', 'example.com # tracker', 'BLOCK_EXACT example.com'],
    ['an inline comment after a tab', 'example.com\t; tracker', 'BLOCK_EXACT example.com'],
    ['an inline comment with //', 'example.com // tracker', 'BLOCK_EXACT example.com'],
    ['a comment without a space', 'example.com#tracker', 'BLOCK_EXACT example.com'],
    ['an underscore', '_dmarc._tcp.example.com', 'BLOCK_EXACT _dmarc._tcp.example.com'],
    ['an internationalised name', 'bücher.example', 'BLOCK_EXACT xn--bcher-kva.example'],
    ['an internationalised name in a rule', '||bücher.example^', 'BLOCK_SUFFIX xn--bcher-kva.example'],
    [
      'an internationalised name in a hosts line',
      '0.0.0.0 bücher.example',
      'BLOCK_EXACT xn--bcher-kva.example',
    ],
    ['a hosts line', '0.0.0.0 example.com', 'BLOCK_EXACT example.com'],
    ['a hosts line with a tab and a comment', '127.0.0.1\texample.com #[WebBug]', 'BLOCK_EXACT example.com'],
    ['a hosts line with ::', ':: example.com', 'BLOCK_EXACT example.com'],
    ['a hosts line with ::1', '::1 example.com', 'BLOCK_EXACT example.com'],
    ['a hosts line with 0', '0 example.com', 'BLOCK_EXACT example.com'],
    [
      'a hosts line with a comment right after the name',
      '0.0.0.0 example.com#ads',
      'BLOCK_EXACT example.com',
    ],
    ['a wildcard', '*.example.com', 'BLOCK_SUFFIX example.com'],
    ['a rule', '||example.com^', 'BLOCK_SUFFIX example.com'],
    ['a rule with an end anchor', '||example.com^|', 'BLOCK_SUFFIX example.com'],
    ['a rule with a comment', '||example.com^ # tracker', 'BLOCK_SUFFIX example.com'],
    ['a rule for a top-level domain', '||zip^', 'BLOCK_SUFFIX zip'],
    ['an exception', '@@||example.com^', 'ALLOW_SUFFIX example.com'],
  ])('reads %s', (_what, line, rule) => {
    const { found, invalidLines, skippedLines, fault } = parse(`# a list\n${line}\n`);
    expect(found).toEqual([`2 ${rule}`]);
    expect({ invalidLines, skippedLines, fault }).toEqual({ invalidLines: 0, skippedLines: 0, fault: null });
  });

  test.each([
    ['a modifier that is not known', '||actor^$doc'],
    ['a modifier after an end anchor', '||actor^|$doc'],
    ['a rule with a path', '||example.com/ads'],
    ['a rule with a port', '||example.com:8080^'],
    ['a path after the name', '||example.com^path'],
    ['a path that cannot be the end of a regular expression', '/ads/banner.js'],
    ['a URL', 'https://example.com/ads.js'],
    ['a path', 'example.com/ads.js'],
    ['a cosmetic rule', 'example.com##.banner'],
    ['a cosmetic rule with an id', 'example.com###banner'],
    ['a cosmetic exception', 'example.com#@#.banner'],
    ['a script rule', 'example.com#%#//scriptlet("x")'],
    ['a cosmetic rule for all web pages', '##.banner'],
    ['a hosts line with a real address', '192.0.2.7 example.com'],
    ['a hosts line with a real IPv6 address', '2001:db8::7 example.com'],
    ['a hosts line with a zone ID', 'fe80::1%lo0 localhost'],
    ['an address that means "block"', '0.0.0.0'],
    ['the loopback address', '::1'],
    ['an address after an address', '0.0.0.0 192.0.2.7'],
  ])('skips %s without creating a rule', (_what, line) => {
    const parsed = parse(`${line}\nexample.net\n`);
    expect(parsed.found).toEqual(['2 BLOCK_EXACT example.net']);
    expect(parsed.skippedSamples).toEqual([expect.objectContaining({ line: 1, text: line })]);
    expect(parsed.invalidLines).toBe(0);
  });

  test.each([
    ['192.0.2.7', 'BLOCK_EXACT 192.0.2.7'],
    ['192.0.2.7 # a host', 'BLOCK_EXACT 192.0.2.7'],
    ['||192.0.2.7^', 'BLOCK_SUFFIX 192.0.2.7'],
    ['@@||192.0.2.7^', 'ALLOW_SUFFIX 192.0.2.7'],
    ['2001:DB8:0::7', 'BLOCK_EXACT 2001:db8::7'],
    ['::ffff:192.0.2.7', 'BLOCK_EXACT 192.0.2.7'],
    ['||2001:db8::7^', 'BLOCK_EXACT 2001:db8::7'],
  ])('reads %s as a rule for addresses', (line, found) => {
    const parsed = parse(`${line}\n`);
    expect(parsed.found).toEqual([`1 ${found}`]);
    expect(parsed).toMatchObject({ rules: 1, addressRules: 1, invalidLines: 0, skippedLines: 0 });
  });

  test.each([
    ['prose', 'this is not a rule'],
    ['one word', 'localnet'],
    ['an empty label', 'ads..example.com'],
    ['a label of 64 bytes', `${'a'.repeat(64)}.com`],
    ['a name of 254 bytes', `${'a.'.repeat(126)}aa`],
    ['a rule without a name', '||^'],
    ['a numeric top-level domain', 'example.123'],
    ['bytes that are not UTF-8', Buffer.from([0x61, 0xff, 0x62, 0x2e, 0x63])],
    ['an exception with one at sign', '@example'],
    ['JSON', '{"error": "not found"}'],
    ['a control character', 'exa\u0001mple.com'],
  ])('counts %s as invalid', (_what, line) => {
    const parsed = parse(Buffer.concat([Buffer.from(line), Buffer.from('\nexample.net')]));
    expect(parsed.found).toEqual(['2 BLOCK_EXACT example.net']);
    expect(parsed.invalidSamples.map((sample) => sample.line)).toEqual([1]);
    expect(parsed.skippedLines).toBe(0);
  });

  test.each([
    '',
    '# c',
    '! c',
    '; c',
    '// c',
    '[Adblock Plus 2.0]',
    '### Heading',
    '#',
    '########',
    '##',
    '## Ads',
  ])('ignores the comment "%s" without counting it', (line) => {
    const parsed = parse(`${line}\nexample.net`);
    expect(parsed.found).toEqual(['2 BLOCK_EXACT example.net']);
    expect(parsed.invalidLines + parsed.skippedLines).toBe(0);
  });

  test('accepts a name of 253 bytes and a label of 63 bytes', () => {
    const name = `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(61)}`;
    expect(parse(name).found).toEqual([`1 BLOCK_EXACT ${name}`]);
  });

  test('reads several names of a hosts line and leaves out the names of the machine itself', () => {
    const parsed = parse(
      '127.0.0.1 localhost localhost.localdomain\n0.0.0.0 a.example b.example\tc.example # d.example',
    );
    expect(parsed.found).toEqual([
      '2 BLOCK_EXACT a.example',
      '2 BLOCK_EXACT b.example',
      '2 BLOCK_EXACT c.example',
    ]);
    expect(parsed).toMatchObject({ rules: 3, lines: 2, invalidLines: 0, skippedLines: 0, format: 'hosts' });
  });

  test('keeps the valid names of a hosts line, and counts the line as invalid because of its invalid names', () => {
    const parsed = parse('0.0.0.0 a.example b..example c.example');
    expect(parsed.found).toEqual(['1 BLOCK_EXACT a.example', '1 BLOCK_EXACT c.example']);
    expect(parsed.invalidLines).toBe(1);
  });

  test('ignores a byte order mark before the first rule', () => {
    expect(parse('\ufeff||example.com^').found).toEqual(['1 BLOCK_SUFFIX example.com']);
  });

  test('reads plain and hosts names as rules for their subdomains if the list has that setting', () => {
    const { found, wildcardRules } = parse('example.com\n0.0.0.0 example.net\nzip', {
      kind: 'block',
      subdomains: true,
    });
    expect(found).toEqual(['1 BLOCK_SUFFIX example.com', '2 BLOCK_SUFFIX example.net', '3 BLOCK_SUFFIX zip']);
    expect(wildcardRules).toBe(3);
  });

  test('creates allow rules from an allowlist', () => {
    const { found } = parse('example.com\n*.example.net\n||example.org^\n@@||a.example^', {
      kind: 'allow',
      subdomains: false,
    });
    expect(found).toEqual([
      '1 ALLOW_EXACT example.com',
      '2 ALLOW_SUFFIX example.net',
      '3 ALLOW_SUFFIX example.org',
      '4 ALLOW_SUFFIX a.example',
    ]);
  });

  test.each([
    ['HTML', '<!DOCTYPE html><html><body>example.com</body></html>', 'not_a_list'],
    ['HTML after blank lines', '\r\n\n  <html>\nexample.com\n', 'not_a_list'],
    ['binary data', 'example.com\n\u0000\u0001', 'not_a_list'],
    ['UTF-16', Buffer.from('\ufeffexample.com\n', 'utf16le'), 'not_a_list'],
    ['an empty list', '', 'empty'],
    ['comments only', '# nothing\n\n! here\n', 'empty'],
    ['a list of unusable rules only', '||a.example^$doc\n/x/y\n', 'no_rules'],
  ])('reports a fault for %s', (_what, text, code) => {
    const parsed = parse(text);
    expect(parsed.found).toEqual([]);
    expect(parsed.fault).toMatchObject({
      code,
      message: expect.stringMatching(/^could not read the list: /),
    });
  });

  test('reports the line of the first unusable rule if the list has no usable rule', () => {
    expect(parse('! c\n||a.example^$doc\n').fault?.message).toContain('line 2: modifier');
  });

  test('reports the format of most rules', () => {
    expect(parse('a.example\n||b.example^\n||c.example^\n').format).toBe('adblock');
    expect(parse('a.example\n*.b.example\n*.c.example\n').format).toBe('wildcard');
    expect(parse('# nothing\n').format).toBe('unknown');
  });

  test('keeps a limited number of samples of invalid lines, and counts all of them', () => {
    const parsed = parse('no rule here\n'.repeat(MAX_SAMPLES + 50));
    expect(parsed.invalidSamples).toHaveLength(MAX_SAMPLES);
    expect(parsed.invalidLines).toBe(MAX_SAMPLES + 50);
  });

  test('counts an overlong line once, wherever chunks of bytes end, and continues after the line', () => {
    const text = `a.example\n${'x'.repeat(MAX_LINE_BYTES * 3)}\nb.example\n`;
    for (const chunkBytes of [1000, MAX_LINE_BYTES, 1 << 22]) {
      const parsed = parse(text, BLOCK, chunkBytes);
      expect(parsed.found).toEqual(['1 BLOCK_EXACT a.example', '3 BLOCK_EXACT b.example']);
      expect(parsed.invalidSamples).toEqual([{ line: 2, reason: 'longer than 64 KiB', text: '' }]);
    }
  });

  test('does not read bytes of an earlier line after a short line, wherever chunks of bytes end', () => {
    // Longer than the head of a list, so that the lines below are parsed after the head.
    const head = `${'#'.repeat(1100)}\n`;
    for (const line of ['@', '@@', '|', '*', ':', '/', '$', '1.', '0.0.0.0 *', '||a.example^'])
      for (const before of ['@@||b.example^|', '@@|||||||||||||', '*.*.*.*.*.*.*', '|.|.|.|.|.|.|'])
        expect(parse(Buffer.from(`${head}${before}\n${line}\n`), BLOCK, 1)).toEqual(
          parse(Buffer.from(`${head}${before}\n${line}\n`)),
        );
  });

  test('removes control characters from samples', () => {
    expect(parse('a\u001b[31m b c\tä').invalidSamples[0]?.text).toBe('a\ufffd[31m b c ä');
  });

  const pieces = fc.constantFrom(
    ...[
      '||',
      '@@',
      '^',
      '$',
      '*.',
      '.',
      'example',
      'com',
      '0.0.0.0 ',
      '::1 ',
      '#',
      '!',
      '/',
      '|',
      ' ',
      '\t',
      '\r\n',
      '\n',
    ],
    ...[
      'ü',
      '-',
      '127.0.0.1',
      'address=/',
      '##',
      '\ufeff',
      '<',
      '[',
      ']',
      'localhost',
      ':',
      '%',
      '\u0000',
      'A',
    ],
  );
  const texts = fc.oneof(
    fc.uint8Array({ maxLength: 2000 }),
    fc.array(pieces, { maxLength: 200 }).map((all) => Buffer.from(all.join(''))),
  );

  test('never throws, and returns only valid names and addresses with a single rule kind, for generated bytes', () => {
    fc.assert(
      fc.property(texts, fc.boolean(), (bytes, subdomains) => {
        const parser = new ListParser({ kind: 'block', subdomains }, (name, start, end, kind) => {
          const text = Buffer.from(name.subarray(start, end)).toString('latin1');
          // Rules for addresses are passed to the same function.
          if (!isIPv6(text)) expect(text).toMatch(/^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/i);
          if (!isIPv6(text)) expect(nameFromText(text)).not.toBeNull();
          expect(KIND_NAMES.has(kind)).toBe(true);
        });
        parser.push(bytes);
        const { lines, invalidLines, skippedLines } = parser.end();
        expect(invalidLines + skippedLines).toBeLessThanOrEqual(lines);
      }),
      { numRuns: 1500, examples: [[Buffer.from('A::1 '), false]] },
    );
  });

  test('returns the same rules wherever chunks of bytes end', () => {
    fc.assert(
      fc.property(texts, fc.integer({ min: 1, max: 40 }), (bytes, chunkBytes) => {
        expect(parse(bytes, BLOCK, chunkBytes)).toEqual(parse(bytes));
      }),
      { numRuns: 500 },
    );
  });
});
