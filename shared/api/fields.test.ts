import { describe, expect, test } from '@jest/globals';
import { identity, IdParams, label, Page, periodMs, text, Timestamp } from './fields.ts';

describe('periodMs(), the milliseconds of a period such as 7d,', () => {
  test.each([
    ['1m', 60_000],
    ['90m', 5_400_000],
    ['24h', 86_400_000],
    ['7d', 604_800_000],
    ['2w', 1_209_600_000],
    ['3660d', 316_224_000_000],
  ])('of %s is %d', (period, ms) => expect(periodMs(period)).toBe(ms));

  test.each(['', '0h', '01h', '1', 'h', '1s', '1H', ' 1h', '1h\n', '-1h', '1.5h', '3661d', '9999999w'])(
    'rejects %j',
    (period) => expect(periodMs(period)).toBeUndefined(),
  );
});

describe('text(), a schema for free text,', () => {
  test.each(['', 'a\nb\tc', 'Grüße 🧒', 'x'.repeat(10)])('accepts %j', (value) => {
    expect(text(10).safeParse(value).success).toBe(true);
  });

  test.each(['x'.repeat(11), 'a\0b', 'a\rb', '\u001b[31m', 'a\u007f', '\ud800', 5, null])(
    'rejects %j',
    (value) => {
      expect(text(10).safeParse(value).success).toBe(false);
    },
  );
});

describe('label(), a schema for names of objects,', () => {
  test.each(['', ' a', 'a ', 'a\tb', 'a\nb', '\u00a0a', 'a\u0085b', 'a\u2028b', 'a\u202etxt.exe', '\u2066a'])(
    'rejects %j',
    (value) => {
      expect(label(10).safeParse(value).success).toBe(false);
    },
  );

  test.each(['a\u200b', 'a\ufeffb', 'a\u00adb', 'a\u200eb', 'a\u061cb', 'a\u2060b', 'a\u{e0041}', '\u3164'])(
    'rejects %j, which contains invisible characters, with one message',
    (value) => {
      expect(
        label(10)
          .safeParse(value)
          .error!.issues.map(({ message }) => message),
      ).toEqual([
        expect.stringMatching(
          /^expected no (invisible characters|characters that change the text direction)/,
        ),
      ]);
    },
  );

  test.each(['👨\u200d👩\u200d👧', '❤\ufe0f', 'می\u200cخواهم', 'Büro', '日本'])('accepts %j', (value) => {
    expect(label(20).safeParse(value).success).toBe(true);
  });
});

describe('identity(), a schema for user names,', () => {
  test.each(['ann\u200d', 'ann\ufe0f', 'a\u200cnn', 'a\u200bnn', 'a\u202enn'])('rejects %j', (value) => {
    expect(identity(20).safeParse(value).error!.issues).toHaveLength(1);
  });

  test('accepts names in any script', () => {
    for (const name of ['', 'Ann Ó Súilleabháin', '山田', 'أحمد', '😀'])
      expect(identity(30).parse(name)).toBe(name);
  });
});

describe('IdParams, the ID in a path,', () => {
  test('converts digits to a number', () => expect(IdParams.parse({ id: '42' })).toEqual({ id: 42 }));
  test.each(['', '-1', '+1', '1.0', '0x1', '1e3', ' 1', '١'])('rejects %j', (id) => {
    expect(IdParams.safeParse({ id }).success).toBe(false);
  });
});

describe('Page, the parameters of a page of rows,', () => {
  test('has offset 0 and limit 100 by default', () =>
    expect(Page.parse({})).toEqual({ limit: 100, offset: 0 }));
  test('accepts limits from 1 to 1000', () => {
    expect(Page.parse({ limit: '1000', offset: '7' })).toEqual({ limit: 1000, offset: 7 });
    for (const limit of ['0', '1001', 'NaN', 'Infinity', '1.5', '-5'])
      expect(Page.safeParse({ limit }).success).toBe(false);
  });
});

describe('Timestamp', () => {
  test('accepts only UTC times with Z', () => {
    expect(Timestamp.safeParse('2026-01-15T12:00:00.000Z').success).toBe(true);
    for (const value of ['2026-01-15T12:00:00+01:00', '2026-01-15', '2026-02-30T00:00:00Z'])
      expect(Timestamp.safeParse(value).success).toBe(false);
  });
});
