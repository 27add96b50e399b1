/**
 * Lines whose meaning depends on other lines: for each name, the one with the closest enclosing name applies, as in the
 * servers that use these formats.
 */
import { describe, expect, test } from '@jest/globals';
import { parseLines } from '../../../../test/support/parts/parsed-lines.ts';
import { openLists, queryFor } from '../../../../test/support/parts/test-lists.ts';
import { PolicyMatcher } from '../../../../dns-worker/policy/policy-matcher.ts';
import { NOT_BLOCKED, isAllowing } from '../../../../dns-worker/policy/rule-match-memo.ts';

/** The names that a list of these lines blocks. */
function blocked(lines: readonly string[], names: readonly string[]): string[] {
  const snapshot = openLists([
    { text: `${lines.join('\n')}\n`, reading: { kind: 'block', subdomains: false } },
  ]);
  const matcher = new PolicyMatcher();
  return names.filter((name) => {
    const query = queryFor(name, snapshot);
    const match = matcher.match(query, query, snapshot, 0);
    return match !== NOT_BLOCKED && !isAllowing(match);
  });
}

describe('ScopedNames', () => {
  test.each([
    ['redirect zone with data', ['local-zone: "w.x" redirect', 'local-data: "w.x CNAME s.x"'], []],
    [
      'redirect zone with null data',
      ['local-zone: "w.x" redirect', 'local-data: "w.x A 0.0.0.0"'],
      ['w.x', 'a.w.x', 'b.a.w.x'],
    ],
    [
      'static zone with data for a subdomain',
      ['local-data: "a.w.x. A 192.0.2.5"', 'local-zone: "w.x." static'],
      ['w.x', 'b.a.w.x'],
    ],
    [
      'static zone with data for its own name',
      ['local-zone: "w.x" static', 'local-data: "w.x A 192.0.2.5"'],
      ['a.w.x', 'b.a.w.x'],
    ],
    [
      'data that its zone type ignores',
      ['local-zone: "w.x" always_nxdomain', 'local-data: "a.w.x A 192.0.2.5"'],
      ['w.x', 'a.w.x', 'b.a.w.x'],
    ],
    [
      'null data that its zone type ignores',
      ['local-zone: "w.x" always_transparent', 'local-data: "a.w.x A 0.0.0.0"'],
      [],
    ],
    [
      'a transparent zone in a blocked zone',
      ['local-zone: "w.x" static', 'local-zone: "a.w.x" transparent'],
      ['w.x'],
    ],
    [
      'a blocked zone in a transparent zone in a blocked zone',
      ['local-zone: "b.a.w.x" refuse', 'local-zone: "w.x" static', 'local-zone: "a.w.x" transparent'],
      ['w.x', 'b.a.w.x'],
    ],
    [
      'two zones of the same name, of which the last applies',
      ['local-zone: "w.x" transparent', 'local-zone: "w.x" static'],
      ['w.x', 'a.w.x', 'b.a.w.x'],
    ],
    [
      'null data in a transparent zone',
      ['local-zone: "w.x" transparent', 'local-data: "a.w.x A 0.0.0.0"'],
      ['a.w.x'],
    ],
    ['an exception of dnsmasq', ['server=/a.w.x/#', 'address=/w.x/0.0.0.0'], ['w.x']],
    ['a forwarding of dnsmasq', ['address=/w.x/#', 'server=/a.w.x/192.0.2.53'], ['w.x']],
    [
      'a blocked domain in an exception',
      ['address=/w.x/#', 'server=/a.w.x/#', 'local=/b.a.w.x/'],
      ['w.x', 'b.a.w.x'],
    ],
    ['a host record of dnsmasq', ['local=/w.x/', 'host-record=a.w.x,192.0.2.5'], ['w.x', 'b.a.w.x']],
    ['a wildcard with an exception', ['w.x CNAME .', '*.w.x CNAME .', 'a.w.x CNAME rpz-passthru.'], ['w.x']],
    [
      'an exception with a block of a subdomain',
      ['*.w.x CNAME rpz-passthru.', 'a.w.x CNAME .', '*.x CNAME .'],
      ['a.w.x'],
    ],
    ['a rewrite in a wildcard', ['*.x CNAME .', 'a.w.x CNAME garden.example.'], []],
  ])('returns the blocked names of %s', (_, lines, expected) => {
    expect(blocked(lines, ['x', 'w.x', 'a.w.x', 'b.a.w.x'])).toEqual(expected);
  });

  test('reports the line numbers of rules, and keeps rules without exceptions as plain names', () => {
    const text =
      'local-zone: "a.example" static\nlocal-zone: "b.example" static\nlocal-data: "n.b.example A 192.0.2.1"\n';
    const { names, special, specialLines, rules, lines } = parseLines(text);
    expect(names).toEqual(['BLOCK_SUFFIX a.example', 'BLOCK_BELOW n.b.example']);
    expect(special).toEqual([expect.objectContaining({ text: 'b.example', denyallow: ['n.b.example'] })]);
    expect([specialLines, rules, lines]).toEqual([[2], 3, 3]);
  });

  test('returns each name below local data once, however deep the data is', () => {
    const data = ['a.w', 'b.a.w', 'c.b.a.w', 'd.c.b.a.w'];
    const lines = ['local-zone: "w" static', ...data.map((name) => `local-data: "${name} A 192.0.2.1"`)];
    const { names, special } = parseLines(`${lines.join('\n')}\n`);
    expect(names).toEqual(['BLOCK_BELOW d.c.b.a.w']);
    expect(special.map(({ rule, denyallow }) => [rule, denyallow])).toEqual([
      ['w', data],
      ['*.a.w', data.slice(1)],
      ['*.b.a.w', data.slice(2)],
      ['*.c.b.a.w', data.slice(3)],
    ]);
  });

  test('reads allowlists in the same way as blocklists, and returns exceptions', () => {
    const reading = { kind: 'allow', subdomains: false } as const;
    const { names, special } = parseLines('address=/w.x/#\nserver=/a.w.x/#\naddress=/y.z/#\n', reading);
    expect([names, special.map(({ kind, text }) => [kind, text])]).toEqual([
      ['ALLOW_SUFFIX y.z'],
      [[8, 'w.x']],
    ]);
  });
});
