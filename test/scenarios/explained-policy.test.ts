/** Explanations of questions, with the whole pipeline and an upstream. */
import { beforeEach, describe, expect, test } from '@jest/globals';
import { AnswerCache } from '../../dns-worker/cache/answer-cache.ts';
import { CacheWriter } from '../../dns-worker/cache/cache-writer.ts';
import { ClientNetworks } from '../../dns-worker/policy/client-networks.ts';
import { Forwarder } from '../../dns-worker/forward/forwarder.ts';
import { Explainer } from '../../dns-worker/threads/question-explainer.ts';
import { NodeFlights } from '../../dns-worker/resolve/node-flights.ts';
import type { Resolver } from '../../dns-worker/resolve/resolver.ts';
import { ZoneResolvers } from '../../dns-worker/resolve/zone-resolvers.ts';
import { readResponse } from '../../dns-worker/resolve/response/response-reader.ts';
import { ThreadGuard } from '../../dns-worker/report/thread-guard.ts';
import { createRateBuckets } from '../../shared/memory/rate-buckets.ts';
import { rateLimitOf } from '../support/parts/test-rate-limit.ts';
import { systemClock } from '../../shared/clock.ts';
import { Counter } from '../../shared/memory/counters.ts';
import { nameFromText, nameToText } from '../../shared/dns/name.ts';
import type { Explanation } from '../../shared/threads/explanation.ts';
import { addressFromText } from '../../shared/net/ip.ts';
import { QUERY_STATUS_NAMES } from '../../shared/query-log.ts';
import { RuleOrigin } from '../../shared/snapshot/rule-origin.ts';
import { a, cname, question, response } from '../support/dns/built-messages.ts';
import { MemoryLogger } from '../support/parts/memory-logger.ts';
import { PolicyPipeline } from '../support/parts/policy-pipeline.ts';

const BLOCK = { kind: 'block', subdomains: false } as const;

let weir: PolicyPipeline;

beforeEach(() => {
  weir = new PolicyPipeline();
});

describe('Explainer in the resolve thread', () => {
  function explain(name: string): Promise<Explanation> {
    const resolver = {
      resolve(asked: { qname: Uint8Array }, done: (resolution: unknown) => void) {
        const owner = nameToText(asked.qname);
        const put = question(owner, 1);
        const answers = [cname(owner, 'x.tracker.example'), a('x.tracker.example', '192.0.2.1')];
        const read = readResponse(response(put, { answers }), put);
        if (read.kind === 'answer') done({ kind: 'answer', answer: read.answer, upstream: 0 });
      },
    } as unknown as Resolver;
    const settings = {
      enabled: true,
      minTtlSecs: 0,
      maxTtlSecs: 300,
      negativeMaxTtlSecs: 300,
      serveStaleSecs: 0,
      optimisticRefresh: false,
    };
    const healthCheck = {
      enabled: false,
      intervalSecs: 1,
      timeoutMs: 1,
      failureThreshold: 1,
      successThreshold: 1,
    };
    const forwarder = new Forwarder({
      resolver,
      flights: new NodeFlights(null, 1, new MemoryLogger()),
      zones: new ZoneResolvers(
        { queryTimeoutMs: 1, bootstrap: [], healthCheck },
        systemClock,
        new MemoryLogger(),
      ),
      pipeline: weir.pipeline,
      cache: new AnswerCache(weir.memory),
      writer: new CacheWriter(weir.memory, 0),
      reporter: weir.reporter,
      guard: new ThreadGuard(weir.reporter, systemClock, new MemoryLogger()),
      clock: systemClock,
      networks: new ClientNetworks(createRateBuckets(false, 0), rateLimitOf({ enabled: false })),
      settings,
      trust: null,
    });
    const explainer = new Explainer(weir.pipeline, forwarder, systemClock);
    const asked = { qname: nameFromText(name)!, qtype: 1, client: addressFromText('192.0.2.1')! };
    return new Promise((resolve) => explainer.explain(asked, resolve));
  }

  test('lists every stage, every rule that matches the name, and the rule that decides', async () => {
    const manual = { id: 1, name: 'm', domain: 'ads.example', suffix: true, groupId: null };
    weir.use([{ text: '||ads.example^\n||a*s.example^\n', reading: BLOCK }], {
      managedDomains: [{ ...manual, action: 'deny' }],
    });
    const { stages, status, decidedBy, answer } = await explain('x.ads.example');
    expect(stages.map(({ stage, result }) => `${stage} ${result}`)).toEqual([
      'admission continue',
      'client_group continue',
      'access continue',
      'question_checks continue',
      'grants continue',
      'schedule_override continue',
      'local_names continue',
      'special_names continue',
      'services continue',
      'policy answered',
    ]);
    expect(stages[9]!.rules.map(({ origin }) => origin)).toEqual([
      RuleOrigin.MANAGED,
      RuleOrigin.LIST,
      RuleOrigin.SPECIAL,
    ]);
    expect(QUERY_STATUS_NAMES[status]).toBe('BLOCKED_MANAGED');
    expect(nameToText(decidedBy!.name)).toBe('ads.example');
    expect(answer.length).toBeGreaterThan(12);
  });

  test('lists a blocked service as a separate stage before the policy stage', async () => {
    const service = { serviceId: 's', serviceName: 'S', domains: ['ads.example'], exact: [], groupId: 1 };
    weir.use([{ text: '||ads.example^\n', reading: BLOCK }], { blockedServices: [service] });
    const { stages, status, decidedBy } = await explain('x.ads.example');
    expect(stages.at(-1)).toMatchObject({ stage: 'services', result: 'answered' });
    expect(stages.at(-1)!.rules[0]).toMatchObject({ origin: RuleOrigin.SERVICE });
    expect(QUERY_STATUS_NAMES[status]).toBe('BLOCKED_SERVICE');
    expect(decidedBy!.origin).toBe(RuleOrigin.SERVICE);
  });

  test('queries the upstreams for an allowed name, and checks the names in their answer', async () => {
    weir.use([{ text: '||tracker.example^\n', reading: BLOCK }]);
    const { stages, status, decidedBy } = await explain('shop.example');
    expect(stages.map(({ stage, result }) => `${stage} ${result}`)).toEqual([
      'admission continue',
      'client_group continue',
      'access continue',
      'question_checks continue',
      'grants continue',
      'schedule_override continue',
      'local_names continue',
      'special_names continue',
      'services continue',
      'policy continue',
      'safe_search continue',
      'cache unresolved',
      'forward continue',
      'dnssec continue',
      'answer_names answered',
    ]);
    expect(QUERY_STATUS_NAMES[status]).toBe('BLOCKED_CNAME');
    expect(nameToText(decidedBy!.name)).toBe('tracker.example');
  });

  test('does not change the counters of cache hits and misses', async () => {
    const counters = new Float64Array(weir.countersMemory);
    weir.use([]);
    await explain('shop.example');
    await explain('shop.example');
    expect([counters[Counter.CACHE_HITS], counters[Counter.CACHE_MISSES]]).toEqual([0, 0]);
    weir.cache('kept.example', 1, [a('kept.example', '192.0.2.1')]);
    expect(weir.ask('kept.example').status).toBe('CACHED');
    expect(counters[Counter.CACHE_HITS]).toBe(1);
  });
});
