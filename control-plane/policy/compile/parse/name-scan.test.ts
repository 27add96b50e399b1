import { describe, expect, test } from '@jest/globals';
import { newScannedName, scanName } from './name-scan.ts';

interface Scanned {
  readonly name: string;
  readonly rest: string;
  readonly labels: number;
  readonly valid: boolean;
  readonly numeric: boolean;
}

/** Scans a text with other bytes before and after it. */
function scan(text: string | Uint8Array): Scanned {
  const run = Buffer.from(text);
  const bytes = Buffer.concat([Buffer.from('<'), run, Buffer.from('more.example')]);
  const into = newScannedName();
  scanName(bytes, 1, 1 + run.length, into);
  const name = Buffer.from(into.bytes.subarray(into.start, into.end)).toString('latin1');
  const rest = bytes.subarray(into.stop, 1 + run.length).toString();
  return { name, rest, labels: into.labels, valid: into.valid, numeric: into.numeric };
}

describe('scanName()', () => {
  test.each([
    ['a.example', 'a.example', '', 2],
    ['a.example.', 'a.example', '', 2],
    ['_Dmarc.a-1.Example^$x', '_Dmarc.a-1.Example', '^$x', 3],
    ['com', 'com', '', 1],
    ['a.example b', 'a.example', ' b', 2],
    ['1.2.example', '1.2.example', '', 3],
  ])('reads "%s"', (text, name, rest, labels) => {
    expect(scan(text)).toEqual({ name, rest, labels, valid: true, numeric: false });
  });

  test.each(['', '.', '..', 'a..example', '.example', '^', 'a.example..'])(
    'reports "%s" as invalid',
    (text) => {
      expect(scan(text).valid).toBe(false);
    },
  );

  test('accepts labels of up to 63 bytes and names of up to 253 bytes', () => {
    expect(scan(`${'a'.repeat(63)}.example`).valid).toBe(true);
    expect(scan(`${'a'.repeat(64)}.example`).valid).toBe(false);
    expect(scan(`example.${'a'.repeat(63)}`).valid).toBe(true);
    expect(scan(`example.${'a'.repeat(64)}`).valid).toBe(false);
    const longest = 'a.'.repeat(126) + 'a';
    expect([scan(longest).valid, scan(`${longest}.`).valid, scan(`b${longest}`).valid]).toEqual([
      true,
      true,
      false,
    ]);
  });

  test.each([
    ['192.0.2.7', true],
    ['192.0.2.7.', true],
    ['example.123', true],
    ['0', true],
    ['123.example', false],
    ['1.2.3.4a', false],
  ])('detects whether the last label of %s is a number', (text, numeric) => {
    expect(scan(text).numeric).toBe(numeric);
  });

  test('returns an internationalised name in ASCII form, and stops where the name ends', () => {
    expect(scan('bücher.example^$x')).toEqual({
      name: 'xn--bcher-kva.example',
      rest: '^$x',
      labels: 2,
      valid: true,
      numeric: false,
    });
    expect(scan('例。example').name).toBe('xn--fsq.example');
  });

  test('refuses an internationalised name without an ASCII form, with invalid UTF-8 or without an end', () => {
    expect(scan('ü..example').valid).toBe(false);
    expect(scan('ü(a).example').valid).toBe(false);
    expect(scan(Buffer.from([0x61, 0xff, 0x2e, 0x62])).valid).toBe(false);
    expect(scan(`${'ü'.repeat(600)}.example`)).toMatchObject({ valid: false, rest: '' });
  });
});
