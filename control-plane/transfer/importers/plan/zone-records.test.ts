import { describe, expect, test } from '@jest/globals';
import { readZone } from './zone-records.ts';

const shown = (text: string, origin = 'lan') =>
  readZone(text, origin).records.map(
    ({ owner, type, value, ttlSecs }) => `${owner} ${ttlSecs} ${type} ${value}`,
  );

describe('readZone()', () => {
  test('reads omitted and relative owner names, and omitted TTLs and classes', () => {
    const text =
      '$TTL 1h\nnas A 192.0.2.5\n  IN AAAA 2001:db8::5 ; the same\nabs.example. 60 IN CNAME nas\n@ IN 30 MX 10 mail\n';
    expect(shown(text)).toEqual([
      'nas.lan 3600 A 192.0.2.5',
      'nas.lan 3600 AAAA 2001:db8::5',
      'abs.example 60 CNAME nas.lan',
      'lan 30 MX 10 mail.lan',
    ]);
  });

  test('joins lines in parentheses, and keeps semicolons in strings', () => {
    expect(shown('@ SOA ns admin (\n 1 ; serial\n 2 3 4 5 )\nt TXT "a; b"\n')).toEqual([
      'lan undefined SOA ns admin 1 2 3 4 5',
      't.lan undefined TXT "a; b"',
    ]);
  });

  test('expands $GENERATE with offsets and widths, up to a limit', () => {
    expect(shown('$GENERATE 1-5/2 h$ A 192.0.2.$\n$GENERATE 7-7 w${1,3,d} A 192.0.2.1\n')).toEqual([
      'h1.lan undefined A 192.0.2.1',
      'h3.lan undefined A 192.0.2.3',
      'h5.lan undefined A 192.0.2.5',
      'w008.lan undefined A 192.0.2.1',
    ]);
    const { records, faults } = readZone('$GENERATE 0-999999999 h$ A 192.0.2.1\n', 'lan');
    expect([records.length, faults]).toEqual([100_000, ['too many records']]);
  });

  test('reads the files of $INCLUDE, up to a limit if a file includes itself', () => {
    const { records, faults } = readZone('$INCLUDE a\nb A 192.0.2.1\n', 'lan', (path) =>
      path === 'a' ? 'x A 192.0.2.2\n$INCLUDE a sub\n' : undefined,
    );
    expect(records.at(0)).toMatchObject({ owner: 'x.lan' });
    expect(records.at(-1)).toMatchObject({ owner: 'b.lan' });
    expect([records.length, faults]).toEqual([101, ['$INCLUDE a sub']]);
  });

  test('reports lines that it cannot read', () => {
    const { faults } = readZone('a\n$INCLUDE gone\n$GENERATE x y A 1\n$GENERATE 1-2/0 y A 1\n', 'lan');
    expect(faults).toHaveLength(4);
  });
});
