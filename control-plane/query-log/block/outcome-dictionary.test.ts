import { describe, expect, test } from '@jest/globals';
import { RRType } from '../../../shared/dns/iana.ts';
import { QueryStatus } from '../../../shared/query-log.ts';
import { logRow } from '../../../test/support/parts/log-row.ts';
import { OutcomeDictionary } from './outcome-dictionary.ts';

const CNAME = { status: QueryStatus.BLOCKED_CNAME, cached: false, answerType: RRType.A, extendedError: 15 };

describe('OutcomeDictionary', () => {
  test('counts equal outcomes once, and separates outcomes by answer, error and origin', () => {
    const outcomes = new OutcomeDictionary();
    const rows = [
      { ...CNAME, origin: 'regex' },
      { ...CNAME, origin: 'regex' },
      { ...CNAME, origin: 'managed' },
      { ...CNAME, answerType: 0 },
      { ...CNAME, extendedError: -1 },
    ] as const;
    expect(rows.map((row) => outcomes.place(logRow(row)))).toEqual([0, 0, 1, 2, 3]);
    const head = [RRType.A, 'BLOCKED_CNAME', 0, 'udp', 'unchecked', false, null];
    expect(outcomes.head()).toEqual([
      [...head, 2, RRType.A, 15, 'regex'],
      [...head, 1, RRType.A, 15, 'managed'],
      [...head, 1, 0, 15, null],
      [...head, 1, RRType.A, -1, null],
    ]);
    expect([...outcomes.blocked()]).toEqual([1, 1, 1, 1]);
  });

  test('leaves out unknown parts of an answer', () => {
    const outcomes = new OutcomeDictionary();
    outcomes.place(logRow());
    expect(outcomes.head()).toEqual([[RRType.A, 'CACHED', 0, 'udp', 'unchecked', true, null, 1]]);
  });
});
