import { describe, expect, test } from '@jest/globals';
import {
  IMPORT_REASONS,
  importReason,
  joinReasons,
  plainReason,
  readImportReasons,
  reasonAbout,
} from './import-reasons.ts';
import { lineReason } from './line-reasons.ts';
import { fillText } from './reason-texts.ts';

const codesOf = (text: string): (string | null)[] =>
  readImportReasons(text).map(({ reason }) => reason?.code ?? null);

describe('readImportReasons(), which parses the reasons in an import report,', () => {
  test.each(Object.entries(IMPORT_REASONS))('recognizes %s alone and between other reasons', (code, text) => {
    const filled = fillText(text, (name) => `"${name}"`);
    expect(codesOf(filled)).toEqual([code]);
    expect(codesOf(`already in Weir; ${filled}; takes effect at the next start`)).toEqual([
      'already_there',
      code,
      'next_start',
    ]);
  });

  test('returns the parameters, which may contain the separator', () => {
    const renamed = importReason('renamed', { name: 'Kids; Guests' });
    expect(readImportReasons(joinReasons(renamed, importReason('already_there')))).toMatchObject([
      { reason: { code: 'renamed', params: { name: 'Kids; Guests' } } },
      { reason: { code: 'already_there' } },
    ]);
  });

  test('recognizes reasons about list lines, with or without a subject before them', () => {
    expect(readImportReasons(lineReason('every_name_regex'))).toMatchObject([
      { reason: { table: 'line', code: 'every_name_regex' } },
    ]);
    expect(readImportReasons(reasonAbout('192.0.2.1', importReason('no_quic')))).toMatchObject([
      { subject: '192.0.2.1: ', reason: { table: 'import', code: 'no_quic' } },
    ]);
  });

  test('returns texts without a code unchanged', () => {
    const text = joinReasons(plainReason('dns.ecs = "forward"'), importReason('http2'), plainReason('a: b'));
    expect(readImportReasons(text).map(({ reason, text: own }) => reason?.code ?? own)).toEqual([
      'dns.ecs = "forward"',
      'http2',
      'a: b',
    ]);
  });

  test('parses a text of 5000 parts', () => {
    const text = Array.from({ length: 5000 }, (_, index) => `part ${index}: x`).join('; ');
    const read = readImportReasons(text);
    expect([read.length, read.map((one) => one.text).join('; ')]).toEqual([5000, text]);
  });
});
