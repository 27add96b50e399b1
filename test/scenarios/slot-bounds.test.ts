/**
 * With any rules and queries, an answer stays inside the slot of its query: the bytes around it are other clients'
 * queries.
 */
import { describe, expect, test } from '@jest/globals';
import { AnswerCache } from '../../dns-worker/cache/answer-cache.ts';
import { CacheWriter } from '../../dns-worker/cache/cache-writer.ts';
import { ClientSightings } from '../../dns-worker/report/sighting-writer.ts';
import { Pipeline } from '../../dns-worker/pipeline.ts';
import { Query, StageResult } from '../../dns-worker/query/query.ts';
import { RateLimiter } from '../../dns-worker/policy/rate-limiter.ts';
import { Reporter } from '../../dns-worker/report/reporter.ts';
import { readResponse } from '../../dns-worker/resolve/response/response-reader.ts';
import { openSnapshot } from '../../dns-worker/policy/open-snapshot.ts';
import { type BlockingSettings } from '../../control-plane/policy/change/blocking-settings.ts';
import { type LivePolicy, NOTHING_LIVE } from '../../control-plane/policy/change/runtime-state.ts';
import { NO_POLICY_ROWS } from '../../control-plane/policy/change/rows.ts';
import { buildSnapshot } from '../../control-plane/policy/snapshot/build/snapshot-builder.ts';
import { createAnswerCache } from '../../shared/memory/answer-cache-layout.ts';
import { CacheMemory } from '../../shared/memory/cache-memory.ts';
import { CLIENT_SIGHTINGS_BYTES } from '../../shared/memory/sighting-layout.ts';
import { COUNTERS_BYTES } from '../../shared/memory/answer-counters.ts';
import { Counter } from '../../shared/memory/counters.ts';
import { nameFromText } from '../../shared/dns/name.ts';
import { FlagsHigh, Header } from '../../shared/dns/wire.ts';
import { logRingBytes, Protocol, QUERY_STATUS_NAMES } from '../../shared/query-log.ts';
import { createRateBuckets } from '../../shared/memory/rate-buckets.ts';
import { QuestionFlag } from '../../shared/snapshot/policy-table.ts';
import { query as queryMessage } from '../support/dns/dns-message.ts';
import { question, response } from '../support/dns/built-messages.ts';
import fc from '../support/parts/fast-check.ts';
import { compileLists, queryFor } from '../support/parts/test-lists.ts';
import { rateLimitOf } from '../support/parts/test-rate-limit.ts';
import { cookiesAt } from '../support/parts/cookies-of-tests.ts';
import { apiRecord } from '../support/parts/asked-pipeline.ts';

const NOW_SECS = 1_800_000_000;
const TTLS = { expiresAtSecs: NOW_SECS + 300, staleUntilSecs: NOW_SECS + 300 } as const;
const LONG = `${'l'.repeat(63)}.${'m'.repeat(63)}.${'n'.repeat(63)}.example`;
const wire = (name: string): Uint8Array => nameFromText(name)!;

/** TXT rewrites of many lengths, aliases, every kind of rule with its own answer, and plain names. */
const LIST = [
  ...[1, 40, 254, 255, 256, 400, 700, 1024].map(
    (size) => `||t${String(size)}.rewrite.example^$dnsrewrite=NOERROR;TXT;${'x'.repeat(size)}`,
  ),
  `||alias.rewrite.example^$dnsrewrite=NOERROR;CNAME;${LONG}`,
  '||four.rewrite.example^$dnsrewrite=192.0.2.1',
  '||six.rewrite.example^$dnsrewrite=2001:db8::1',
  '||none.rewrite.example^$dnsrewrite=NXDOMAIN',
  '||refused.rewrite.example^$dnsrewrite=REFUSED',
  '||blocked.example^',
].join('\n');

const RECORDS = [
  ...Array.from({ length: 60 }, (_, n) => `many.home.example 60 A 192.0.2.${String(n)}`),
  ...Array.from({ length: 6 }, (_, n) => `text.home.example 60 TXT ${String(n).repeat(200)}`),
  ...Array.from({ length: 7 }, (_, n) => `c${String(n)}.${LONG} 60 CNAME c${String(n + 1)}.${LONG}`),
  `c7.${LONG} 60 A 192.0.2.1`,
  `away.home.example 60 CNAME ${LONG}`,
];

const CACHED = [0, 10, 100, 240, 499, 500, 1000];
const NAMES = [
  ...[1, 40, 254, 255, 256, 400, 700, 1024].map((size) => `t${String(size)}.rewrite.example`),
  ...['alias', 'four', 'six', 'none', 'refused'].map((label) => `${label}.rewrite.example`),
  ...['blocked.example', `${LONG}.blocked.example`, 'many.home.example', 'text.home.example'],
  ...['away.home.example', `c0.${LONG}`, `c7.${LONG}`, 'www.engine.example', 'www.other-engine.example'],
  ...['localhost', '1.0.0.127.in-addr.arpa', 'host.invalid', 'label', 'use-application-dns.net', '.'],
  ...CACHED.map((size) => `s${String(size)}.cached.example`),
];

const target = (cname: Uint8Array | null): { cname: Uint8Array | null; ipv4: Uint8Array | null } => ({
  cname,
  ipv4: cname === null ? Uint8Array.of(192, 0, 2, 3) : null,
});
const LIVE: LivePolicy = {
  ...NOTHING_LIVE,
  questionFlags: Object.values(QuestionFlag).reduce((all, flag) => all | flag, 0),
  names: {
    ...NOTHING_LIVE.names,
    safeSearch: {
      engines: [
        {
          id: 'a',
          names: [wire('www.engine.example')],
          moderate: target(wire(LONG)),
          strict: target(wire(LONG)),
        },
        { id: 'b', names: [wire('www.other-engine.example')], moderate: target(null), strict: target(null) },
      ],
      groups: [{ id: 1, mask: 0b1010 }],
    },
  },
};

const counters = new SharedArrayBuffer(COUNTERS_BYTES);

function pipelineWith(mode: BlockingSettings['mode'], override: 'BlockAll' | null): Pipeline {
  const blocking = { enabled: true, mode, ttlSecs: 10, customIpv4: '192.0.2.9', customIpv6: '2001:db8::9' };
  const rules = compileLists([{ text: LIST, reading: { kind: 'block', subdomains: true } }]);
  expect(rules.sources[0]!.statistics).toMatchObject({ skippedLines: 0, invalidLines: 0 });
  const sources = [{ id: 1, name: 'list', kind: 'block' as const, enabled: true, groupIds: [] }];
  const rows = { ...NO_POLICY_ROWS, sources, localRecords: RECORDS.map(apiRecord) };
  const overrides = new Map([[1, { override, nextFlipAtSecs: NOW_SECS + 60 }]]);
  const snapshot = openSnapshot(buildSnapshot(1, rules, rows, blocking, { ...LIVE, overrides }));
  const memory = new CacheMemory(createAnswerCache(1 << 20));
  const pipeline = new Pipeline(snapshot, {
    cache: new AnswerCache(memory),
    reporter: new Reporter(counters, new SharedArrayBuffer(logRingBytes(64))),
    sightings: new ClientSightings(new SharedArrayBuffer(CLIENT_SIGHTINGS_BYTES)),
    limiter: new RateLimiter(createRateBuckets(false, 0), rateLimitOf({ enabled: false })),
    cookies: cookiesAt(NOW_SECS),
    forwardsEcs: true,
  });
  for (const size of CACHED) keep(pipeline, memory, `s${String(size)}.cached.example`, size);
  return pipeline;
}

/** Stores a TXT answer of `size` bytes in the cache, in strings of at most 255. */
function keep(pipeline: Pipeline, memory: CacheMemory, name: string, size: number): void {
  const asked = question(name, 'TXT');
  const strings = Array.from({ length: Math.ceil(size / 255) }, (_, n) => Math.min(255, size - n * 255));
  const rdata = Uint8Array.from(
    strings.flatMap((length) => [length, ...new Array<number>(length).fill(0x78)]),
  );
  const answers = size === 0 ? [] : [{ owner: name, type: 'TXT' as const, ttl: 300, rdata }];
  const read = readResponse(response(asked, { answers }), asked);
  if (read.kind !== 'answer') throw new Error(`read answer for ${name}: ${read.kind}`);
  const query = queryFor(name, pipeline.snapshot, asked.qtype);
  new CacheWriter(memory, 0).store(
    {
      qname: asked.qname,
      nameLow: query.hashLow[0]!,
      nameHigh: query.hashHigh[0]!,
      qtype: asked.qtype,
      qclass: 1,
      dnssecOk: false,
      checkingDisabled: false,
      partition: 0,
    },
    read.answer,
    { storedAtSecs: NOW_SECS, ...TTLS, dnssec: 0, upstream: 1 },
  );
}

const PIPELINES = [
  ...(['null_ip', 'nxdomain', 'refused', 'nodata', 'custom_ip'] as const).map((mode) =>
    pipelineWith(mode, null),
  ),
  pipelineWith('null_ip', 'BlockAll'),
  pipelineWith('custom_ip', 'BlockAll'),
];

/** Bytes before and after the slot. */
const AROUND = 4096;
const FILL = 0xa5;

const askedOf = fc.record({
  setting: fc.nat({ max: PIPELINES.length - 1 }),
  name: fc.constantFrom(...NAMES),
  type: fc.constantFrom(...(['A', 'AAAA', 'TXT', 'CNAME', 'PTR', 'HTTPS', 'NS'] as const), 255),
  edns: fc.option(
    fc.record({
      udpSize: fc.constantFrom(0, 512, 600, 1232, 4096),
      version: fc.constantFrom(0, 0, 0, 1),
      dnssecOk: fc.boolean(),
      cookie: fc.option(fc.uint8Array({ minLength: 8, maxLength: 8 }), { nil: undefined }),
      subnets: fc.constantFrom<number[][]>(
        [],
        [[0, 1, 24, 0, 192, 0, 2]],
        [[0, 2, 128, 0, ...new Array<number>(16).fill(1)]],
      ),
    }),
  ),
  protocol: fc.constantFrom(Protocol.udp, Protocol.tcp),
  /** Random bytes after the query, and the number of free bytes after them. */
  garbage: fc.uint8Array({ maxLength: 20 }),
  spare: fc.nat({ max: 1500 }),
  shift: fc.nat({ max: 7 }),
});

describe('the packet pipeline', () => {
  test('writes nothing outside the buffer of its packet, for any rules, query and capacity', () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(askedOf, ({ setting, name, type, edns, protocol, garbage, spare, shift }) => {
        const good = queryMessage(name, type, edns === null ? {} : { edns });
        const message = Uint8Array.from([...good, ...garbage]);
        const capacity = message.length + spare;
        const bytes = new Uint8Array(2 * AROUND + capacity).fill(FILL);
        const at = AROUND - shift;
        bytes.set(message, at);
        const query = new Query();
        query.protocol = protocol;
        query.arrivedSecs = NOW_SECS;
        query.arrivedMonotonicSecs = NOW_SECS;
        query.begin(bytes, at, message.length, capacity);
        const result = PIPELINES[setting]!.run(query);
        expect(isUntouched(bytes, 0, at) && isUntouched(bytes, at + capacity, bytes.length)).toBe(true);
        const isAnswered = result === StageResult.ANSWERED;
        const written = isAnswered ? query.replyLength : query.answersAt + query.answersLength;
        expect(written).toBeLessThanOrEqual(capacity);
        const isTruncated = isAnswered && (bytes[at + Header.FLAGS_HIGH]! & FlagsHigh.TC) !== 0;
        seen.add(`${QUERY_STATUS_NAMES[query.status]!}${isTruncated ? ' cut' : ''}`);
      }),
      { numRuns: 10_000 },
    );
    expect(new Float64Array(counters)[Counter.INTERNAL_ERRORS]).toBe(0);
    const whole = ['BLOCKED_LIST', 'LOCAL', 'SAFE_SEARCH', 'CACHED', 'BLOCKED_SCHEDULE'];
    expect([...seen]).toEqual(expect.arrayContaining([...whole, ...whole.map((status) => `${status} cut`)]));
  });
});

function isUntouched(bytes: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (bytes[at] !== FILL) return false;
  return true;
}
