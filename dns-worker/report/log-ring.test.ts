import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { wireName } from '../../test/support/dns/built-messages.ts';
import { answeredQuery } from '../../test/support/parts/answered-query.ts';
import { LogRecord, LogRing, logAnswersOffset, logRingBytes } from '../../shared/query-log.ts';
import { Query } from '../query/query.ts';
import { LogRingWriter } from './log-ring.ts';

const RECORDS = 4;

let buffer: SharedArrayBuffer;
let control: Int32Array;
let writer: LogRingWriter;
beforeEach(() => {
  buffer = new SharedArrayBuffer(logRingBytes(RECORDS));
  control = new Int32Array(buffer, 0, LogRing.RECORDS_BYTE / 4);
  writer = new LogRingWriter(buffer);
});

/** Record `index` of the ring. */
function recordAt(index: number): DataView {
  return new DataView(buffer, LogRing.RECORDS_BYTE + index * LogRecord.SIZE, LogRecord.SIZE);
}

/** A query for `name` whose reply has `answers` bytes of records, each with a different value. */
function queryWith(name: string, answers: number): Query {
  const query = new Query();
  const bytes = Uint8Array.from({ length: 600 }, (_, at) => at);
  query.begin(bytes, 8, 100, 500);
  query.qname.set(wireName(name));
  query.qnameLength = wireName(name).length;
  query.answersAt = 20;
  query.answersLength = answers;
  query.answersCount = 1;
  return query;
}

describe('LogRingWriter.write(), which writes a log record,', () => {
  test('writes all fields of a log row', () => {
    const query = queryWith('www.test', 6);
    Object.assign(query, {
      arrivedMs: 1_800_000_000_123.5,
      groupId: 70_000,
      ruleAttribute: 80_000,
      qtype: 65,
      upstream: 3,
      status: 4,
      protocol: 1,
      rcode: 23,
      dnssec: 2,
      cached: 1,
      ruleNameOffset: 4,
      ruleKind: 128,
      ruleOrigin: 5,
      extendedError: 15,
    });
    query.clientBytes = Uint8Array.from({ length: 20 }, (_, at) => at);
    query.clientAt = 4;
    writer.write(query, 99);
    const record = recordAt(0);
    expect(record.getFloat64(LogRecord.TIMESTAMP_MS, true)).toBe(1_800_000_000_123.5);
    const words = [LogRecord.SNAPSHOT_VERSION, LogRecord.GROUP_ID, LogRecord.RULE_ATTRIBUTE];
    expect(words.map((at) => record.getUint32(at, true))).toEqual([99, 70_000, 80_000]);
    const halves = [LogRecord.QTYPE, LogRecord.UPSTREAM, LogRecord.ANSWERS_LENGTH];
    expect(halves.map((at) => record.getUint16(at, true))).toEqual([65, 3, 6]);
    const octetsAt = [
      LogRecord.CLIENT,
      LogRecord.STATUS,
      LogRecord.PROTOCOL,
      LogRecord.RCODE,
      LogRecord.DNSSEC,
      LogRecord.CACHED,
      LogRecord.RULE_NAME_OFFSET,
      LogRecord.RULE_KIND,
      LogRecord.RULE_ORIGIN,
      LogRecord.QNAME_LENGTH,
      LogRecord.EXTENDED_ERROR,
    ];
    expect(octetsAt.map((at) => record.getUint8(at))).toEqual([4, 4, 1, 23, 2, 1, 4, 128, 5, 10, 16]);
  });

  test('copies the query name, and the answer records after it', () => {
    writer.write(queryWith('www.test', 6), 1);
    const record = new Uint8Array(recordAt(0).buffer, LogRing.RECORDS_BYTE, LogRecord.SIZE);
    expect([...record.subarray(LogRecord.QNAME, LogRecord.QNAME + 10)]).toEqual([...wireName('www.test')]);
    const at = logAnswersOffset(10);
    expect([...record.subarray(at, at + 6)]).toEqual([28, 29, 30, 31, 32, 33]);
  });

  test('leaves out answer records that do not fit completely', () => {
    const capacity = LogRecord.SIZE - logAnswersOffset(10);
    for (const length of [capacity, capacity + 1]) writer.write(queryWith('www.test', length), 1);
    const lengths = [0, 1].map((index) => recordAt(index).getUint16(LogRecord.ANSWERS_LENGTH, true));
    expect(lengths).toEqual([capacity, 0]);
  });

  test('writes the type of the first answer record even if the records do not fit, and 0 without records', () => {
    const typeOf = (index: number, length: number, count: number): number => {
      const query = queryWith('www.test', length);
      // A record whose owner is the root and whose type is AAAA.
      query.bytes.set([0, 0, 28], query.at + query.answersAt);
      query.answersCount = count;
      writer.write(query, 1);
      return recordAt(index).getUint16(LogRecord.ANSWER_TYPE, true);
    };
    expect([typeOf(0, 20, 1), typeOf(1, 300, 7), typeOf(2, 0, 0)]).toEqual([28, 28, 0]);
  });

  test('writes the name of the matching rule after the answers if the name fits', () => {
    const rule = wireName('ads.test');
    const capacity = LogRecord.SIZE - logAnswersOffset(10) - rule.length;
    for (const length of [6, capacity & ~3, (capacity & ~3) + 4]) {
      const query = queryWith('www.test', length);
      query.ruleName.set(rule);
      query.ruleNameLength = rule.length;
      writer.write(query, 1);
    }
    expect([0, 1, 2].map((index) => recordAt(index).getUint8(LogRecord.RULE_NAME_LENGTH))).toEqual([
      rule.length,
      rule.length,
      0,
    ]);
    const at = logAnswersOffset(10) + 8;
    const bytes = new Uint8Array(buffer, LogRing.RECORDS_BYTE + at, rule.length);
    expect([...bytes]).toEqual([...rule]);
  });

  test('writes as many trailing labels of a rule name as fit', () => {
    const alias = wireName('xyz.ads.test');
    const query = queryWith('www.test', LogRecord.SIZE - logAnswersOffset(10) - 12);
    query.ruleName.set(alias);
    Object.assign(query, { ruleNameLength: alias.length, ruleNameOffset: 4 });
    writer.write(query, 1);
    const written = [LogRecord.RULE_NAME_LENGTH, LogRecord.RULE_NAME_OFFSET].map((at) =>
      recordAt(0).getUint8(at),
    );
    expect(written).toEqual([alias.length - 4, 0]);
  });

  test('drops and counts records while the ring is full, and continues when the reader has read some records', () => {
    for (let i = 0; i < RECORDS + 2; i++) writer.write(answeredQuery(i + 1), 1);
    writer.publish(1);
    expect([control[LogRing.HEAD_WORD], control[LogRing.DROPPED_WORD]]).toEqual([RECORDS, 2]);
    control[LogRing.TAIL_WORD] = 1;
    writer.write(answeredQuery(77), 1);
    writer.publish(1);
    expect(control[LogRing.HEAD_WORD]).toBe(RECORDS + 1);
    expect(recordAt(0).getUint32(LogRecord.GROUP_ID, true)).toBe(77);
    expect(recordAt(1).getUint32(LogRecord.GROUP_ID, true)).toBe(2);
  });

  test('continues when the record counters overflow', () => {
    control[LogRing.HEAD_WORD] = -2;
    control[LogRing.TAIL_WORD] = -2;
    writer = new LogRingWriter(buffer);
    for (let i = 0; i < RECORDS + 1; i++) writer.write(answeredQuery(), 1);
    writer.publish(1);
    expect([control[LogRing.HEAD_WORD], control[LogRing.DROPPED_WORD]]).toEqual([2, 1]);
  });
});

describe('LogRingWriter.publish(), which shows records to the log thread,', () => {
  test('makes records visible only at the call, and sets the response time of all records written since the last call', () => {
    writer.write(answeredQuery(), 1);
    writer.write(answeredQuery(), 1);
    expect(control[LogRing.HEAD_WORD]).toBe(0);
    writer.publish(123);
    writer.write(answeredQuery(), 1);
    writer.publish(456);
    expect([0, 1, 2].map((index) => recordAt(index).getUint32(LogRecord.RESPONSE_TIME_US, true))).toEqual([
      123, 123, 456,
    ]);
  });

  describe('for a ring that is nearly full', () => {
    const MANY = 1024;
    let waits: jest.SpiedFunction<typeof Atomics.wait>;
    beforeEach(() => {
      buffer = new SharedArrayBuffer(logRingBytes(MANY));
      control = new Int32Array(buffer, 0, LogRing.RECORDS_BYTE / 4);
      control[LogRing.SLOW_WORD] = 1;
      writer = new LogRingWriter(buffer);
      waits = jest.spyOn(Atomics, 'wait').mockReturnValue('timed-out');
    });
    afterEach(() => {
      waits.mockRestore();
    });

    /** Answers a batch. */
    function publish(records: number): void {
      for (let i = 0; i < records; i++) writer.write(answeredQuery(), 1);
      writer.publish(1);
    }

    test('waits for the reader, 10 ms at most, once per 64 records', () => {
      publish((MANY / 8) * 7 - 1);
      expect(waits).not.toHaveBeenCalled();
      publish(1);
      expect(waits.mock.calls).toEqual([[expect.any(Int32Array), LogRing.TAIL_WORD, 0, 10]]);
      publish(63);
      expect(waits).toHaveBeenCalledTimes(1);
      publish(1);
      expect(waits).toHaveBeenCalledTimes(2);
    });

    test('stops waiting when there is space, and waits again when space runs out', () => {
      publish(MANY - 10);
      control[LogRing.TAIL_WORD] = MANY / 2;
      publish(64);
      expect(waits).toHaveBeenCalledTimes(1);
      publish(MANY / 2 - 60);
      expect(waits).toHaveBeenCalledTimes(2);
    });

    test('does not wait if log_pressure is drop', () => {
      control[LogRing.SLOW_WORD] = 0;
      publish(MANY + 100);
      expect(waits).not.toHaveBeenCalled();
      expect(control[LogRing.DROPPED_WORD]).toBe(100);
    });

    test('stops waiting after 64 waits without progress of the reader, and waits again after progress', () => {
      for (let i = 0; i < 100; i++) publish(64);
      expect(waits).toHaveBeenCalledTimes(64);
      control[LogRing.TAIL_WORD] = 64;
      publish(64);
      expect(waits).toHaveBeenCalledTimes(65);
    });
  });

  test('wakes a sleeping reader when there is something to read', () => {
    control[LogRing.ASLEEP_WORD] = 1;
    writer.publish(1);
    expect(control[LogRing.ASLEEP_WORD]).toBe(1);
    writer.write(answeredQuery(), 1);
    writer.publish(1);
    expect(control[LogRing.ASLEEP_WORD]).toBe(0);
  });
});
