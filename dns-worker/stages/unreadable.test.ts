import { describe, expect, test } from '@jest/globals';
import { Rcode } from '../../shared/dns/iana.ts';
import { Header } from '../../shared/dns/wire.ts';
import { COUNTERS_BYTES } from '../../shared/memory/answer-counters.ts';
import { Counter } from '../../shared/memory/counters.ts';
import { QueryStatus, logRingBytes } from '../../shared/query-log.ts';
import { slotQuery } from '../../test/support/parts/slot-query.ts';
import { openLists } from '../../test/support/parts/test-lists.ts';
import { ParseOutcome } from '../query/parse-query.ts';
import { StageResult } from '../query/query.ts';
import { Reporter } from '../report/reporter.ts';
import { type UnreadableOutcome, answerUnreadable, unreadableStage } from './unreadable.ts';

const SNAPSHOT = openLists([]);

/** The stage on a partly read query: its result, the query, and the counts. */
function staged(outcome: UnreadableOutcome) {
  const memory = new SharedArrayBuffer(COUNTERS_BYTES);
  const query = slotQuery(SNAPSHOT, 'www.example.org', 'A', { edns: {} });
  query.cookieLength = 24;
  const result = unreadableStage(
    query,
    outcome,
    new Reporter(memory, new SharedArrayBuffer(logRingBytes(64))),
  );
  const counted = [...new Float64Array(memory).entries()].filter(([, count]) => count > 0);
  return { result, query, counted };
}

describe('unreadableStage(), for messages that could not be parsed,', () => {
  test('drops messages that must not be answered, and counts them', () => {
    const { result, counted } = staged(ParseOutcome.DROP);
    expect([result, counted]).toEqual([StageResult.DROPPED, [[Counter.DROPPED_SHORT_OR_RESPONSE, 1]]]);
  });

  test.each([
    [ParseOutcome.FORMAT_ERROR, Counter.FORMAT_ERRORS],
    [ParseOutcome.NOT_IMPLEMENTED, Counter.NOT_IMPLEMENTED],
  ])('discards the parsed data for outcome %i, and counts the message', (outcome, counter) => {
    const { result, query, counted } = staged(outcome);
    expect([result, counted]).toEqual([StageResult.CONTINUE, [[counter, 1]]]);
    expect(query).toMatchObject({ hasEdns: false, questionEnd: 0, qnameLength: 0, cookieLength: 0 });
  });

  test('keeps the cookie of a query without a question', () => {
    const { result, query, counted } = staged(ParseOutcome.NO_QUESTION);
    expect([result, counted]).toEqual([StageResult.CONTINUE, []]);
    expect(query).toMatchObject({ hasEdns: true, cookieLength: 24 });
  });
});

describe('answerUnreadable', () => {
  test.each([
    [ParseOutcome.FORMAT_ERROR, Rcode.FORMERR, QueryStatus.REFUSED],
    [ParseOutcome.NOT_IMPLEMENTED, Rcode.NOTIMP, QueryStatus.REFUSED],
    [ParseOutcome.NO_QUESTION, Rcode.NOERROR, QueryStatus.LOCAL],
  ])('for outcome %i returns RCODE %i', (outcome, rcode, status) => {
    const { query } = staged(outcome);
    query.questionEnd = 0;
    expect(answerUnreadable(query, outcome)).toBe(StageResult.ANSWERED);
    expect(query).toMatchObject({ status, rcode });
    expect(query.bytes[Header.FLAGS_LOW]! & 0xf).toBe(rcode);
  });
});
