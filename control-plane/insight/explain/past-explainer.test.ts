import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExplainAnswer } from '../../../shared/api/explain-api.ts';
import type { UpstreamDetail } from '../../../shared/api/upstreams-api.ts';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { SMALL_BLOCKING, SMALL_ROWS, SMALL_RULES } from '../../../test/support/parts/small-policy.ts';
import { NOTHING_LIVE } from '../../policy/change/runtime-state.ts';
import { overridesAt } from '../../filtering/schedules/overrides.ts';
import { buildSnapshot } from '../../policy/snapshot/build/snapshot-builder.ts';
import { Generations } from '../../policy/snapshot/publish/generations.ts';
import { PastExplainer } from './past-explainer.ts';

const SERVER: UpstreamDetail = {
  address: '192.0.2.53',
  protocol: 'udp',
  status: 'Healthy',
  pool_name: 'default',
  kind: 'pool',
  strategy: 'Parallel',
  latency_ms: null,
  queries: 0,
  failures: 0,
  consecutive_failures: 0,
  last_error: null,
  resolved: [],
  removes_signatures: false,
  supports: {
    edns: 'unknown',
    cookies: 'unknown',
    case: 'unknown',
    tcp: 'unknown',
    answers_per_connection: null,
  },
};

/** A Thursday. */
const FIRST_MS = Date.UTC(2026, 0, 15, 10);
const SECOND_MS = FIRST_MS + 3_600_000;
const IN_GROUP_7 = '192.0.2.7';

let folder: string;
let past: PastExplainer;
/** Called when the generation of a point in time has been read. */
let onRead = (): void => undefined;
/** Writes two generations: a small policy with a schedule, and an hour later a policy with only one group. */
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'weir-past-'));
  const generations = new Generations(folder, new MemoryLogger());
  await generations.load();
  const slot = { days: 127, start: 0, end: 10 * 60 + 30, action: 'block_all' } as const;
  const rows = {
    ...SMALL_ROWS,
    clients: [{ address: IN_GROUP_7, groupId: 7 }],
    schedules: [{ groupId: 1, profile: 'night', timezone: 'UTC', slots: [slot] }],
  };
  const emptied = { ...rows, managedDomains: [], schedules: [], sources: [] };
  for (const [version, kept, publishedAtMs] of [
    [1, rows, FIRST_MS],
    [2, emptied, SECOND_MS],
  ] as const) {
    const snapshot = buildSnapshot(version, SMALL_RULES, kept, SMALL_BLOCKING, NOTHING_LIVE);
    await generations.save({ snapshot, compiled: SMALL_RULES, rows: kept, publishedAtMs });
  }
  past = new PastExplainer({
    generations,
    servers: { details: () => [SERVER], pools: () => [] },
    activeRules: () => SMALL_RULES,
    blocking: () => SMALL_BLOCKING,
    liveAt: (of, nowMs) => {
      onRead();
      return { ...NOTHING_LIVE, nowMs, overrides: overridesAt(of, nowMs) };
    },
  });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function explain(domain: string, client: string, atMs: number): Promise<ExplainAnswer | null> {
  return past.explainAt({ domain, type: 'A', client }, atMs, new AbortController().signal);
}

describe('PastExplainer', () => {
  test.each([
    ['www.games.example', IN_GROUP_7, 60, 'BLOCKED_MANAGED', ['no games', '*.games.example']],
    ['b.example', IN_GROUP_7, 60, 'BLOCKED_LIST', ['ads', '||b.example^']],
    ['tube.example', IN_GROUP_7, 60, 'BLOCKED_SERVICE', ['Tube', 'tube.example']],
    ['free.example', '192.0.2.1', 60, 'BLOCKED_SCHEDULE', ['night', 'block_all']],
    ['b.example', '192.0.2.1', 1800, 'BLOCKED_LIST', ['malware', '||b.example^']],
  ])(
    'explains %s of %s after %d s by the policy of that time: %s',
    async (domain, client, secs, status, [source, rule]) => {
      const answer = (await explain(domain, client, FIRST_MS + secs * 1000))!;
      expect(answer).toMatchObject({ domain, client, snapshot_id: 1, status, decided_by: { source, rule } });
      expect(answer.stages.at(-1)).toMatchObject({ verdict: 'answered' });
    },
  );

  test('does not query upstreams, because their answers are in the log', async () => {
    const answer = (await explain('www.games.example', IN_GROUP_7, SECOND_MS + 60_000))!;
    expect(answer).toMatchObject({ snapshot_id: 2, status: 'ALLOWED', decided_by: null, answer: null });
    expect(answer.stages.at(-1)).toMatchObject({ stage: 'cache', verdict: 'unresolved' });
    const pool = { name: 'default', strategy: 'Parallel' };
    expect(answer.upstreams).toEqual({
      zone: null,
      pools: [{ ...pool, servers: [{ address: '192.0.2.53', status: 'Healthy' }] }],
      answered_by: null,
    });
  });

  test('returns null if no snapshot of the requested time is stored, and stops when the request is aborted', async () => {
    expect(await explain('b.example', IN_GROUP_7, FIRST_MS - 1000)).toBeNull();
    const question = { domain: 'b.example', type: 'A', client: IN_GROUP_7 };
    await expect(past.explainAt(question, FIRST_MS + 60_000, AbortSignal.abort())).rejects.toThrow();
    const gone = new AbortController();
    const pending = past.explainAt(question, FIRST_MS + 60_000, gone.signal);
    // The thread starts in this turn of the event loop, and cannot have answered before the next one.
    onRead = () => void setImmediate(() => gone.abort());
    await expect(pending).rejects.toThrow(/abort/);
    onRead = () => undefined;
    expect(await explain('b.example', IN_GROUP_7, FIRST_MS + 60_000)).not.toBeNull();
  });
});
