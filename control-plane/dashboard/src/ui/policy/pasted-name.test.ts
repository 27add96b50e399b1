import { describe, expect, test } from '@jest/globals';
import { includesSubdomains, isAddress, ruleOfPasted } from './pasted-name.ts';

describe('ruleOfPasted(), the rule for a pasted text,', () => {
  test.each<[string, string | null]>([
    ['https://Example.com/path?x', 'example.com'],
    ['http://user:secret@example.com:8443/#top', 'example.com'],
    ['https://bücher.example./', 'xn--bcher-kva.example'],
    ['wss://example.com', 'example.com'],
    ['example.com:8443', 'example.com'],
    ['example.com/page', 'example.com'],
    [' Example.com. ', 'example.com'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['||ads.example^', '*.ads.example'],
    ['@@||ads.example^$important', '*.ads.example'],
    ['.ads.example', '*.ads.example'],
    ['*.ads.example', '*.ads.example'],
    ['localhost', 'localhost'],
    ['/ads/', null],
    ['/ads[0-9]+/', null],
    ['192.0.2.1', null],
    ['https://192.0.2.1/', null],
    ['https://[2001:db8::1]/', null],
    ['2001:db8::1', null],
    ['||ads.example/banner^', null],
    ['two words', null],
    ['', null],
  ])('for %j is %j', (word, rule) => {
    expect(ruleOfPasted(word, false)).toBe(rule);
    const wide = rule === null || rule.startsWith('*.') ? rule : `*.${rule}`;
    expect(ruleOfPasted(word, true)).toBe(wide);
    if (rule !== null) expect(includesSubdomains(word)).toBe(rule.startsWith('*.'));
  });
});

describe('isAddress(), whether a pasted text is a URL or an address,', () => {
  test('is true for URLs of pages and servers', () => {
    const texts = ['https://example.com/path', 'example.com/page', 'example.com:8443', 'http://example.com'];
    expect(texts.map(isAddress)).toEqual(texts.map(() => true));
  });

  test('is false for names, rules, and texts without a name', () => {
    const texts = [
      'example.com',
      '*.example.com',
      '||example.com^',
      '@@||example.com^',
      'https://192.0.2.1/',
      '',
    ];
    expect(texts.map(isAddress)).toEqual(texts.map(() => false));
  });
});
