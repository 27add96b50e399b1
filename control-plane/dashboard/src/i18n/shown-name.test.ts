import { describe, expect, test } from '@jest/globals';
import { shownName } from './shown-name.ts';

describe('shownName(), the display form of a domain name,', () => {
  test.each([
    ['example.org', ['example', 'org']],
    ['.', ['.']],
    ['a\\.b.example', ['a\\.b', 'example']],
    ['\\000\\255.test', ['\\000\\255', 'test']],
    ['<script>alert(1)</script>.test', ['<script>alert(1)</script>', 'test']],
  ])('splits %s at its dots and keeps its bytes', (name, labels) => {
    expect(shownName(name)).toEqual({ labels, unicode: null });
  });

  test.each([
    ['xn--bcher-kva.example', 'bücher.example'],
    ['www.xn--mnchen-3ya.example', 'www.münchen.example'],
    ['xn--fiqs8s', '中国'],
    ['xn--mgbh0fb.xn--kgbechtv', 'مثال.إختبار'],
    ['XN--BCHER-KVA.example', 'bücher.example'],
  ])('decodes %s', (name, unicode) => {
    expect(shownName(name).unicode).toBe(unicode);
  });

  test.each([
    'xn--',
    'xn--.example',
    'xn--a-\\255.test',
    'xn--99999999999999.test',
    'xn--0.test',
    'xn--ls8h.test',
  ])('does not decode %s', (name) => {
    expect(shownName(name).unicode).toBeNull();
  });
});
