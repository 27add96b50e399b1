/**
 * The order of the stages; tests beside each stage cover its decisions, and test/scenarios covers all stages together.
 */
import { beforeEach, describe, expect, test } from '@jest/globals';
import { COUNTERS_BYTES } from '../shared/memory/answer-counters.ts';
import { Counter } from '../shared/memory/counters.ts';
import { CacheMemory } from '../shared/memory/cache-memory.ts';
import { createAnswerCache } from '../shared/memory/answer-cache-layout.ts';
import { createRateBuckets } from '../shared/memory/rate-buckets.ts';
import { CLIENT_SIGHTINGS_BYTES } from '../shared/memory/sighting-layout.ts';
import { logRingBytes, Protocol, QUERY_STATUS_NAMES } from '../shared/query-log.ts';
import { query as queryMessage, type QueryOptions } from '../test/support/dns/dns-message.ts';
import { apiRecord } from '../test/support/parts/asked-pipeline.ts';
import { cookiesAt } from '../test/support/parts/cookies-of-tests.ts';
import {
  type ListText,
  openLists,
  openOverridden,
  type OtherRows,
} from '../test/support/parts/test-lists.ts';
import { rateLimitOf } from '../test/support/parts/test-rate-limit.ts';
import { AnswerCache } from './cache/answer-cache.ts';
import { Pipeline, type PipelineRecorder } from './pipeline.ts';
import { RateLimiter } from './policy/rate-limiter.ts';
import { Query, StageResult } from './query/query.ts';
import { Reporter } from './report/reporter.ts';
import { ClientSightings } from './report/sighting-writer.ts';

const NAME = 'www.example.org';
const BLOCKED: ListText = { text: `||${NAME}^`, reading: { kind: 'block', subdomains: false } };
const RESULTS = ['continue', 'answered', 'dropped', 'unresolved'];
/** Every stage that a query for an unknown name passes. */
const ALL = [
  'admission',
  'client_group',
  'access',
  'question_checks',
  'grants',
  'schedule_override',
  'local_names',
  'special_names',
  'services',
  'policy',
  'safe_search',
  'cache',
];

let counters: Float64Array;
let pipeline: Pipeline;
let version = 1;
beforeEach(() => {
  const memory = new SharedArrayBuffer(COUNTERS_BYTES);
  counters = new Float64Array(memory);
  pipeline = new Pipeline(openLists([]), {
    cache: new AnswerCache(new CacheMemory(createAnswerCache(0))),
    reporter: new Reporter(memory, new SharedArrayBuffer(logRingBytes(64))),
    sightings: new ClientSightings(new SharedArrayBuffer(CLIENT_SIGHTINGS_BYTES)),
    limiter: new RateLimiter(createRateBuckets(false, 0), rateLimitOf({ enabled: false })),
    cookies: cookiesAt(0),
    forwardsEcs: false,
  });
});

function use(lists: readonly ListText[], rows: OtherRows = {}): void {
  pipeline.replaceSnapshot(openLists(lists, rows, ++version));
}

function queryOf(options: QueryOptions = {}, length = Infinity): Query {
  const message = queryMessage(NAME, 'A', options);
  const bytes = new Uint8Array(2048);
  bytes.set(message);
  const query = new Query();
  query.protocol = Protocol.udp;
  query.begin(bytes, 0, Math.min(message.length, length), bytes.length);
  return query;
}

/** The stages that a query passes, in order, and the result of the last one. */
function explained(query = queryOf()): { stages: string[]; last: string | undefined } {
  const stages: string[] = [];
  const results: string[] = [];
  const recorder: PipelineRecorder = {
    met: () => undefined,
    placeInGroup: () => false,
    passed: (stage, result) => {
      stages.push(stage);
      results.push(RESULTS[result]!);
    },
  };
  pipeline.explain(query, recorder);
  return { stages, last: results.at(-1) };
}

function statusOf(query: Query): string {
  return `${RESULTS[pipeline.run(query)]!} ${QUERY_STATUS_NAMES[query.status]!}`;
}

describe('Pipeline.explain(), the stages of a query,', () => {
  test('lists the stages in the order in which they run', () => {
    expect(explained()).toEqual({ stages: ALL, last: 'unresolved' });
  });

  test('lists no stage after the stage that decides', () => {
    use([BLOCKED]);
    expect(explained()).toEqual({ stages: ALL.slice(0, 10), last: 'answered' });
    use([], { localRecords: [apiRecord(`${NAME} A 192.0.2.1`, 0)] });
    expect(explained()).toEqual({ stages: ALL.slice(0, 7), last: 'answered' });
    pipeline.replaceSnapshot(openOverridden({ override: 'BlockAll' }));
    expect(explained()).toEqual({ stages: ALL.slice(0, 6), last: 'answered' });
  });

  test('does not change counters, and stops recording afterwards', () => {
    const { stages } = explained();
    const before = stages.length;
    expect(counters.every((count) => count === 0)).toBe(true);
    pipeline.run(queryOf());
    expect(stages).toHaveLength(before);
    expect(counters.some((count) => count > 0)).toBe(true);
  });
});

describe('Pipeline.run(), which processes a query,', () => {
  test('decides by local names before policy', () => {
    use([BLOCKED], { localRecords: [apiRecord(`${NAME} A 192.0.2.1`, 0)] });
    expect(statusOf(queryOf())).toBe('answered LOCAL');
    use([BLOCKED]);
    expect(statusOf(queryOf())).toBe('answered BLOCKED_LIST');
    use([]);
    expect(pipeline.run(queryOf())).toBe(StageResult.UNRESOLVED);
  });

  test('drops messages that must not be answered, and answers malformed queries', () => {
    expect(pipeline.run(queryOf({}, 5))).toBe(StageResult.DROPPED);
    expect(pipeline.run(queryOf({ flags: 0x8100 }))).toBe(StageResult.DROPPED);
    const cutOff = queryOf({}, 20);
    expect([pipeline.run(cutOff), cutOff.rcode]).toEqual([StageResult.ANSWERED, 1]);
  });

  test('returns one SERVFAIL after an exception, and counts it', () => {
    pipeline.cache.answer = () => {
      throw new Error('a bug');
    };
    const query = queryOf();
    expect(statusOf(query)).toBe('answered SERVFAIL');
    expect(query.rcode).toBe(2);
    expect(counters[Counter.INTERNAL_ERRORS]).toBe(1);
  });
});

describe('Pipeline.decideAgain() after a policy change', () => {
  test('decides by the current policy, and does not read the cache', () => {
    const query = queryOf();
    pipeline.run(query);
    pipeline.reopen(query);
    expect(pipeline.decideAgain(query)).toBe(StageResult.CONTINUE);
    use([BLOCKED]);
    expect(pipeline.decideAgain(query)).toBe(StageResult.ANSWERED);
  });
});

describe('Pipeline.findHere(), a local lookup,', () => {
  test('finds local names, without evaluating policy', () => {
    const query = queryOf();
    pipeline.run(query);
    use([BLOCKED]);
    expect(pipeline.findHere(query)).toBe(StageResult.CONTINUE);
    use([BLOCKED], { localRecords: [apiRecord(`${NAME} A 192.0.2.1`, 0)] });
    expect(pipeline.findHere(query)).toBe(StageResult.ANSWERED);
  });
});

describe('Pipeline.replaceSnapshot(), which activates a policy snapshot,', () => {
  test('returns whether the new policy snapshot has a different rule table', () => {
    const next = openLists([BLOCKED], {}, 9);
    expect(pipeline.replaceSnapshot(next)).toBe(true);
    expect(pipeline.replaceSnapshot({ ...next, version: 10 })).toBe(false);
    expect(pipeline.snapshot.version).toBe(10);
  });
});
