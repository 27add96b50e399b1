import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { setImmediate } from 'node:timers/promises';
import type { Query } from '../../../dns-worker/query/query.ts';
import { LogRingWriter } from '../../../dns-worker/report/log-ring.ts';
import type { WorkerMemory } from '../../../shared/threads/messages.ts';
import { nameFromText, nameToText } from '../../../shared/dns/name.ts';
import { LogRing, QueryStatus } from '../../../shared/query-log.ts';
import { RuleOrigin } from '../../../shared/snapshot/rule-origin.ts';
import { answeredQuery } from '../../../test/support/parts/answered-query.ts';
import { createWorkerMemory } from '../../threads/worker-memory.ts';
import type { ByteRange } from '../rows/row.ts';
import { LogDrain, type RecordNames } from './log-drain.ts';

/**
 * Milliseconds: more than the interval at which the drain checks busy rings, less than the interval for empty rings.
 */
const SOON_MS = 25;
const NAMELESS: RecordNames = { rule: () => undefined, schedule: () => undefined, upstream: () => undefined };

let memory: WorkerMemory;
let drain: LogDrain;
let groups: number[];
let lostRows: number;
beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'clearImmediate', 'nextTick', 'queueMicrotask'] });
  memory = createWorkerMemory();
  groups = [];
  lostRows = 0;
  drain = new LogDrain([memory], NAMELESS, {
    append: (row) => groups.push(row.groupId),
    lose: (rows) => {
      lostRows += rows;
    },
  });
  drain.start();
});
afterEach(() => {
  drain.stop();
  jest.useRealTimers();
});

function log(ring: SharedArrayBuffer, from: number, count: number): void {
  const writer = new LogRingWriter(ring);
  for (let i = 0; i < count; i++) writer.write(answeredQuery(from + i), 1);
  writer.publish(10);
}

/** Writes a name into the buffer of a query, and returns the query's other fields for it. */
function nameIn(query: Query, name: string): Pick<Query, 'qnameLength'> {
  const wire = nameFromText(name)!;
  query.qname.set(wire);
  return { qnameLength: wire.length };
}

/** Advances the time until the drain finds all rings empty and sleeps. */
function fallAsleep(): void {
  jest.advanceTimersByTime(SOON_MS);
}

/** Runs `work`, which wakes a sleeping drain; resolves when the drain was notified. */
async function waking(ring: SharedArrayBuffer, work: () => void): Promise<void> {
  const wait = Atomics.waitAsync(new Int32Array(ring), LogRing.ASLEEP_WORD, 1);
  expect(wait.async).toBe(true);
  work();
  await wait.value;
  await setImmediate();
}

describe('LogDrain', () => {
  test('while asleep, reads records of each ring soon after they arrive', async () => {
    for (const [index, ring] of [memory.answerLog, memory.resolveLog, memory.answerLog].entries()) {
      fallAsleep();
      await waking(ring, () => log(ring, index, 1));
      jest.advanceTimersByTime(SOON_MS);
      expect(groups.at(-1)).toBe(index);
    }
    expect(groups).toEqual([0, 1, 2]);
  });

  test('reads every record once when a ring fills suddenly', async () => {
    const count = 16_384;
    fallAsleep();
    await waking(memory.answerLog, () => log(memory.answerLog, 0, count));
    jest.advanceTimersByTime(SOON_MS);
    for (let turn = 0; groups.length < count && turn < 100_000; turn++) await setImmediate();
    expect(groups).toEqual(Array.from({ length: count }, (_, i) => i));
    expect(drain.dropped()).toBe(0);
  });

  test('reports the number of records that a full ring dropped once', async () => {
    log(memory.answerLog, 0, 16_384 + 5);
    drain.stop();
    expect(groups.length).toBe(16_384);
    expect(lostRows).toBe(5);
    drain.stop();
    expect(lostRows).toBe(5);
  });

  test('finds records of a thread that died before it could wake the reader', () => {
    fallAsleep();
    const control = new Int32Array(memory.answerLog);
    Atomics.store(control, LogRing.ASLEEP_WORD, 0);
    log(memory.answerLog, 7, 1);
    jest.advanceTimersByTime(1000);
    expect(groups).toEqual([7]);
  });

  test('returns the upstream server of a row by its index, and null if none was queried', () => {
    const upstreams: (string | null)[] = [];
    drain.stop();
    const names = { ...NAMELESS, upstream: (index: number) => ['first', 'second'][index] };
    drain = new LogDrain([memory], names, {
      append: (row) => upstreams.push(row.upstream),
      lose: () => undefined,
    });
    const writer = new LogRingWriter(memory.resolveLog);
    for (const upstream of [0, 1, 2, 9]) writer.write(Object.assign(answeredQuery(), { upstream }), 1);
    writer.publish(10);
    drain.start();
    drain.stop();
    expect(upstreams).toEqual([null, 'first', 'second', null]);
  });

  test('returns the origin of a decision if the status alone does not determine it', () => {
    const origins: unknown[] = [];
    drain.stop();
    drain = new LogDrain([memory], NAMELESS, {
      append: ({ origin, extendedError }) => origins.push([origin, extendedError]),
      lose: () => undefined,
    });
    const writer = new LogRingWriter(memory.resolveLog);
    const log = (name: string, fields: Partial<Query>): void => {
      const query = answeredQuery();
      writer.write(Object.assign(query, nameIn(query, name), fields), 1);
    };
    const { BLOCKED_CNAME: cname, LOCAL, BLOCKED_MANAGED: managed } = QueryStatus;
    log('a.test', { status: cname, ruleOrigin: RuleOrigin.MANAGED });
    log('a.test', { status: cname, ruleOrigin: RuleOrigin.REGEX });
    log('a.test', { status: cname, ruleOrigin: RuleOrigin.LIST });
    log('a.test', { status: managed, ruleOrigin: RuleOrigin.MANAGED, extendedError: 15 });
    log('use-application-dns.net', { status: LOCAL, extendedError: 15 });
    log('_dns.resolver.arpa', { status: LOCAL });
    log('nas.lan', { status: LOCAL, extendedError: 4 });
    writer.publish(10);
    drain.start();
    drain.stop();
    expect(origins).toEqual([
      ['managed', -1],
      ['regex', -1],
      [null, -1],
      [null, 15],
      ['canary', 15],
      ['canary', -1],
      [null, 4],
    ]);
  });

  test('returns the fields of a record', () => {
    drain.stop();
    let seen: unknown;
    drain = new LogDrain([memory], NAMELESS, {
      append: (row) => {
        const { bytes, qname, client, answers } = row;
        const partOf = ({ at, length }: ByteRange): number[] => [...bytes.subarray(at, at + length)];
        seen = { ...row, qname: partOf(qname), client: partOf(client), answers: partOf(answers) };
      },
      lose: () => undefined,
    });
    const query = answeredQuery(3);
    const numbers = {
      arrivedMs: 1_700_000_000_000.25,
      qtype: 65,
      protocol: 2,
      status: 1,
      rcode: 3,
      dnssec: 4,
    };
    Object.assign(query, numbers, { cached: 1, ...nameIn(query, 'a.test') });
    query.bytes.set([1, 2, 3, 4, 5, 6], 20);
    Object.assign(query, { answersAt: 20, answersLength: 6, answersCount: 1 });
    const writer = new LogRingWriter(memory.answerLog);
    writer.write(query, 1);
    writer.publish(77);
    drain.stop();
    expect(seen).toMatchObject({
      timestampMs: 1_700_000_000_000.25,
      client: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 192, 0, 2, 1],
      groupId: 3,
      qname: [1, 97, 4, 116, 101, 115, 116, 0],
      qtype: 65,
      protocol: 2,
      status: 1,
      rcode: 3,
      dnssec: 4,
      responseTimeUs: 77,
      cached: true,
      upstream: null,
      rule: null,
      answers: [1, 2, 3, 4, 5, 6],
    });
  });

  describe('finds the name of the deciding rule', () => {
    const BLOCKED = {
      status: QueryStatus.BLOCKED_LIST,
      ruleAttribute: 6,
      ruleKind: 2,
      ruleOrigin: RuleOrigin.SPECIAL,
    };
    const NUMBERS = { origin: RuleOrigin.SPECIAL, index: 5, kinds: 2, groupId: 1 };

    /** The calls that the drain makes to find the rule of one record, with their arguments. */
    function askedFor(change: Partial<Query>): unknown[] {
      const asked: unknown[] = [];
      drain.stop();
      const names: RecordNames = {
        ...NAMELESS,
        rule: (version, numbers, name) => void asked.push(version, { ...numbers }, nameToText(name())),
        schedule: (version, groupId) => void asked.push(version, groupId),
      };
      drain = new LogDrain([memory], names, { append: () => undefined, lose: () => undefined });
      const query = answeredQuery();
      Object.assign(query, nameIn(query, 'www.ads.test'), change);
      const writer = new LogRingWriter(memory.answerLog);
      writer.write(query, 9);
      writer.publish(10);
      drain.stop();
      return asked;
    }

    test('by the part of the qname that the rule matches', () => {
      expect(askedFor(BLOCKED)).toEqual([9, NUMBERS, 'www.ads.test']);
      expect(askedFor({ ...BLOCKED, ruleNameOffset: 4 })).toEqual([9, NUMBERS, 'ads.test']);
    });

    test.each([0, 5, 8])(
      'by the name in the answer that the rule matches, after %i bytes of records',
      (answersLength) => {
        const rule = { ruleName: nameFromText('x.cloak.test')!, ruleNameLength: 14, ruleNameOffset: 2 };
        const answers = { answersAt: 20, answersLength, answersCount: 1 };
        expect(askedFor({ ...BLOCKED, ...rule, ...answers })).toEqual([9, NUMBERS, 'cloak.test']);
      },
    );

    test('by the schedule of the group, and finds no name if nothing was blocked', () => {
      expect(askedFor({ ...BLOCKED, status: QueryStatus.BLOCKED_SCHEDULE })).toEqual([9, 1]);
      expect(askedFor({ ...BLOCKED, status: QueryStatus.ALLOWED })).toEqual([]);
      expect(askedFor({ ...BLOCKED, ruleAttribute: 0 })).toEqual([]);
    });
  });

  test('waits the same time for more records, whichever ring they arrive in', async () => {
    fallAsleep();
    await waking(memory.answerLog, () => log(memory.answerLog, 1, 1));
    jest.advanceTimersByTime(15);
    await waking(memory.resolveLog, () => log(memory.resolveLog, 2, 1));
    jest.advanceTimersByTime(10);
    expect(groups).toEqual([1, 2]);
  });

  test('stop() reads the remaining records, and leaves no timer', async () => {
    fallAsleep();
    log(memory.answerLog, 1, 5);
    drain.stop();
    expect(groups).toEqual([1, 2, 3, 4, 5]);
    await setImmediate();
    expect(jest.getTimerCount()).toBe(0);
  });
});
