import { describe, expect, test } from '@jest/globals';
import { RuleKind } from '../../../../shared/snapshot/rule-table.ts';
import { ListParser } from '../parse/parse-list.ts';
import { WatchedNames } from './watched-names.ts';

const NAMES = ['www.example.org', 'example.org', 'other.test'];

function blockedBy(...rules: readonly (readonly [string, number])[]): string[] {
  const watched = new WatchedNames(NAMES);
  for (const [name, kind] of rules) {
    const bytes = Buffer.from(`  ${name} `);
    watched.see(bytes, 2, 2 + name.length, kind);
  }
  return watched.blocked();
}

describe('WatchedNames', () => {
  test.each<[string, number, string[]]>([
    ['example.org', RuleKind.BLOCK_EXACT, ['example.org']],
    ['EXAMPLE.org', RuleKind.BLOCK_EXACT, ['example.org']],
    ['example.org', RuleKind.BLOCK_SUFFIX, ['www.example.org', 'example.org']],
    ['example.org', RuleKind.IMPORTANT_BLOCK_SUFFIX, ['www.example.org', 'example.org']],
    ['example.org', RuleKind.BLOCK_BELOW, ['www.example.org']],
    ['org', RuleKind.BLOCK_SUFFIX, ['www.example.org', 'example.org']],
    ['org', RuleKind.BLOCK_EXACT, []],
    ['ample.org', RuleKind.BLOCK_SUFFIX, []],
    ['a.www.example.org', RuleKind.BLOCK_SUFFIX, []],
    ['example.org', RuleKind.ALLOW_SUFFIX, []],
  ])('for the name %s with rule kind %d in a list returns %j', (name, kind, blocked) =>
    expect(blockedBy([name, kind])).toEqual(blocked),
  );

  test('does not report names that the list itself allows', () => {
    expect(blockedBy(['org', RuleKind.BLOCK_SUFFIX], ['www.example.org', RuleKind.ALLOW_EXACT])).toEqual([
      'example.org',
    ]);
  });

  test('finds names among many similar names that are not watched', () => {
    const many = Array.from(
      { length: 50_000 },
      (_, index) => [`w${index}.example.org`, RuleKind.BLOCK_EXACT] as const,
    );
    expect(blockedBy(...many, ['other.test', RuleKind.BLOCK_EXACT])).toEqual(['other.test']);
  });

  test.each<[string, string[]]>([
    ['||exam*.org^', ['www.example.org', 'example.org']],
    ['/^www\\./', ['www.example.org']],
    ['/^www\\./\n@@/^www\\.e/', []],
    ['/^www\\./\n/^www\\./$badfilter', []],
    ['||org^$denyallow=example.org', []],
    ['||example.org^$denyallow=www.example.org', ['example.org']],
    ['||example.org^$dnstype=TXT', []],
    ['||example.org^$dnstype=~A', ['www.example.org', 'example.org']],
    ['||example.org^$client=192.0.2.1', []],
    ['||other.test^$dnsrewrite=NXDOMAIN', ['other.test']],
  ])('finds the watched names that the rules %j block', (text, blocked) => {
    expect(readList(text, 'block').blocked()).toEqual(blocked);
  });

  test('finds the watched names that a list of exceptions allows', () => {
    expect(readList('example.org\n/^oth/\n', 'allow').allowed()).toEqual(['example.org', 'other.test']);
  });
});

function readList(text: string, kind: 'block' | 'allow'): WatchedNames {
  const watched = new WatchedNames(NAMES);
  const parser = new ListParser({ kind, subdomains: false }, watched.see.bind(watched), watched);
  parser.push(Buffer.from(`${text}\n`));
  parser.end();
  watched.finish();
  return watched;
}
