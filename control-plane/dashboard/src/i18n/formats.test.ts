import { describe, expect, test } from '@jest/globals';
import { formatsOf } from './formats.ts';

const english = formatsOf('en-GB', (key) => key);
const german = formatsOf('de-DE', (key) => key);
const NOW = new Date('2026-01-02T12:00:00Z');

/** Replaces special space characters in numbers and before units by ordinary spaces. */
function plain(text: string): string {
  return text.replaceAll(/[\u00a0\u202f]/g, ' ');
}

describe('formatsOf(), the number and time formats of a language,', () => {
  test('formats counts and percentages in the notation of the language', () => {
    expect([english.count(12_345), english.briefCount(12_345), english.percent(12.34)]).toEqual([
      '12,345',
      '12.3k',
      '12.3%',
    ]);
    expect([german.count(12_345), plain(german.percent(12.34))]).toEqual(['12.345', '12,3 %']);
  });

  test('formats full and brief counts with the same separator', () => {
    expect([german.count(7258), german.briefCount(7258)]).toEqual(['7.258', '7.258']);
  });

  test.each([
    [0, '0 bytes'],
    [1, '1 byte'],
    [1023, '1,023 bytes'],
    [1536, '1.5 kB'],
    [5 * 1024 ** 3, '5 GB'],
    [1024 ** 6, '1,048,576 TB'],
  ])('formats %d bytes as %s', (octets, text) => {
    expect(plain(english.bytes(octets))).toBe(text);
  });

  test.each([
    [431, '431 μs'],
    [1_600, '1.6 ms'],
    [46_000, '46 ms'],
    [2_500_000, '2.5 secs'],
  ])('formats %d microseconds as %s', (us, text) => {
    expect(plain(english.duration(us))).toBe(text);
  });

  test.each([
    [45, '45 secs'],
    [300, '5 mins'],
    [3_600, '1 hr'],
    [86_400, '1 day'],
  ])('formats a duration of %d seconds as %s', (secs, text) => {
    expect(plain(english.span(secs))).toBe(text);
  });

  test.each([
    ['2026-01-02T11:59:58Z', 'time.now'],
    ['2026-01-02T11:57:00Z', '3 minutes ago'],
    ['2026-01-02T13:00:00Z', 'in 1 hour'],
    ['2026-01-01T11:00:00Z', 'yesterday'],
  ])('formats %s as %s', (moment, text) => {
    expect(english.ago(moment, NOW)).toBe(text);
  });

  test('formats hours in the same way with and without the weekday', () => {
    const american = formatsOf('en-US', (key) => key);
    const evening = '2026-01-02T21:30:00Z';
    expect(plain(american.dayAndTime(evening, 'UTC'))).toMatch(/^Friday.* 9:30 PM$/);
    expect(plain(english.dayAndTime('2026-01-02T07:05:00Z', 'UTC'))).toMatch(/^Friday.* 07:05$/);
  });

  test('creates the formatters of a language only once', () => {
    expect(formatsOf('en-GB', (key) => key)).toBe(english);
  });
});
