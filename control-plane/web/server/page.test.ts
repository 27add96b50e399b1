import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { hashOf, page, write } from './page.ts';

describe('page(), the layout of pages outside the dashboard,', () => {
  const { html, contentPolicy } = page('<T>', write`<p>${'<b>'}</p>`);

  test('is in English, escapes inserted values, and allows only its own style', () => {
    expect(html).toContain('<html lang="en">');
    expect(html).toContain('<title>&#60;T&#62;</title>');
    expect(html).toContain('<p>&#60;b&#62;</p>');
    expect(contentPolicy).toContain(`style-src ${hashOf(/<style>([^]*)<\/style>/.exec(html)![1]!)}`);
    expect(contentPolicy).not.toContain('script-src');
  });

  test('has the colours and fonts of the dashboard', () => {
    const tokens = tokensOf(
      readFileSync(new URL('../../dashboard/src/style/tokens.css', import.meta.url), 'utf8'),
    );
    const own = tokensOf(/<style>([^]*)<\/style>/.exec(html)![1]!);
    expect(own.size).toBeGreaterThan(10);
    for (const [name, value] of own) expect([name, value]).toEqual([name, tokens.get(name)]);
  });
});

/** The custom properties of a style sheet. */
function tokensOf(style: string): Map<string, string> {
  return new Map(
    [...style.matchAll(/(--[\w-]+): ([^;]+);/g)].map(([, name, value]) => [name!, value!] as const),
  );
}
