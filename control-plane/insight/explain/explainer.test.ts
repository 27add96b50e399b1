import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExplainAnswer } from '../../../shared/api/explain-api.ts';
import { createAnswerCache } from '../../../shared/memory/answer-cache-layout.ts';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { SMALL_BLOCKING, SMALL_ROWS, SMALL_RULES } from '../../../test/support/parts/small-policy.ts';
import { testConfig } from '../../../test/support/parts/test-config.ts';
import { freePort } from '../../../test/support/weir/free-ports.ts';
import { NOTHING_LIVE } from '../../policy/change/runtime-state.ts';
import { emptySnapshot } from '../../policy/snapshot/publish/starting-state.ts';
import { Generations } from '../../policy/snapshot/publish/generations.ts';
import { SnapshotPublisher } from '../../policy/snapshot/publish/publisher.ts';
import { NodeState } from '../../../shared/threads/messages.ts';
import { WorkerSupervisor } from '../../threads/supervisor.ts';
import { workerSettings } from '../../node/thread-settings/worker-settings.ts';
import { secretOfTests } from '../../../test/support/parts/cookies-of-tests.ts';
import { upstreamDetails } from '../../resolving/upstreams/upstream-health.ts';
import { Explainer } from './explainer.ts';

let folder: string;
let supervisor: WorkerSupervisor;
let publisher: SnapshotPublisher;
let explainer: Explainer;
/** Arguments of lookups in the copies of lists. */
const looked: unknown[][] = [];

const servers = {
  details: () => upstreamDetails(supervisor.upstreams()),
  pools: () => [{ name: 'none', priority: 1 }],
};

/** Starts a real thread with a small policy, and with upstreams that do not exist. */
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'weir-explain-'));
  const logger = new MemoryLogger();
  const initial = emptySnapshot(SMALL_BLOCKING);
  const config = testConfig('dns.pools = [{ name = "none", servers = ["127.0.0.1:9"] }]');
  const port = await freePort(['127.0.0.1']);
  supervisor = new WorkerSupervisor({
    workers: 1,
    settings: workerSettings(config, port, { udpBackend: 'auto', faultInjection: false }),
    cache: createAnswerCache(0),
    secret: secretOfTests,
    snapshot: initial.snapshot,
    logger,
  });
  const generations = new Generations(folder, logger);
  await generations.load();
  publisher = new SnapshotPublisher({
    initial,
    broadcast: (snapshot) => supervisor.broadcast(snapshot),
    live: () => NOTHING_LIVE,
    generations,
    logger,
  });
  await supervisor.start();
  supervisor.setNodeState(NodeState.READY);
  await publisher.publish(SMALL_RULES, SMALL_ROWS, SMALL_BLOCKING);
  explainer = new Explainer({
    ask: (question) => supervisor.requests.explain(question),
    publisher,
    servers,
    upstreamName: (index) => `server ${index}`,
    findLine: async (...asked) => {
      looked.push(asked);
      return 12;
    },
  });
});
afterAll(async () => {
  await publisher.settled();
  await supervisor.drain();
  rmSync(folder, { recursive: true, force: true });
});

function explain(domain: string, type = 'A'): Promise<ExplainAnswer> {
  return explainer.explain({ domain, type, client: '192.0.2.9' });
}

describe('explain()', () => {
  test('returns the list of a rule, the rule as written, and its line', async () => {
    const found = await explain('www.B.example', 'a');
    expect(found).toMatchObject({
      domain: 'www.b.example',
      type: 'A',
      client: '192.0.2.9',
      group_id: 1,
      snapshot_id: publisher.current().snapshot.version,
      status: 'BLOCKED_LIST',
      decided_by: {
        judged: 'www.b.example',
        origin: 'list',
        source: 'malware',
        sources: ['malware'],
        line: 12,
      },
      answer: { rcode: 'NOERROR', answers: [{ name: 'www.b.example', type: 'A', data: '0.0.0.0' }] },
    });
    expect(looked.at(-1)?.slice(0, 2)).toEqual([20, 'b.example']);
    expect(found.stages.at(-1)).toMatchObject({ stage: 'policy', verdict: 'answered' });
    expect(found.stages.at(-1)!.rules).toEqual([found.decided_by]);
  });

  test('does not search lists for the line of a rule that is not from a list', async () => {
    looked.length = 0;
    expect((await explain('ads1.example')).decided_by).toMatchObject({
      origin: 'regex_filter',
      source: 'ad words',
      rule: '^ads?[0-9]',
      line: null,
    });
    expect(looked).toEqual([]);
  });

  test('returns no deciding rule if no rule decided', async () => {
    const found = await explain('other.example');
    expect(found.decided_by).toBeNull();
    expect(found.stages.map(({ stage }) => stage)).toContain('forward');
    expect(found.answer).toMatchObject({ rcode: 'SERVFAIL', answers: [] });
    expect(found.upstreams).toMatchObject({
      zone: null,
      pools: [{ name: 'none', strategy: 'Parallel', servers: [{ address: '127.0.0.1:9' }] }],
    });
    expect(found.lists).toEqual([]);
  });

  test('returns every list that contains the name or a parent of it, whichever groups the list applies to', async () => {
    const ofGroup1 = await explain('www.b.example');
    const malware = { source_id: 20, source: 'malware', kind: 'block', action: 'block', line: null };
    const atParent = { ...malware, name: 'b.example', rule: '||b.example^', state: 'active' };
    expect(ofGroup1.lists).toEqual([atParent]);
    expect(ofGroup1.upstreams).toBeNull();
    const ads = { source_id: 10, source: 'ads', name: 'b.example', rule: 'b.example' };
    expect((await explain('b.example')).lists).toMatchObject([{ ...ads, state: 'other_group' }, atParent]);
  });

  test('decides for a group as for a client of that group', async () => {
    const question = { domain: 'b.example', type: 'A', client: '127.0.0.1' };
    const found = await explainer.explain({ ...question, groupId: 7 });
    expect(found).toMatchObject({ group_id: 7, status: 'BLOCKED_LIST' });
    expect(found.lists.map(({ source, state }) => [source, state])).toEqual([
      ['ads', 'active'],
      ['malware', 'active'],
    ]);
    expect(found.stages[1]).toMatchObject({ stage: 'client_group', detail: 'chosen' });
    // The group is also kept for a query that is forwarded.
    const passed = await explainer.explain({ ...question, domain: 'other.example', groupId: 7 });
    expect(passed).toMatchObject({ group_id: 7, answer: { rcode: 'SERVFAIL' } });
    await expect(explainer.explain({ ...question, groupId: 99 })).rejects.toMatchObject({
      status: 400,
      fields: [{ path: 'group_id' }],
    });
  });

  test('fails with 503 and Retry-After while no DNS thread is available', async () => {
    const idle = new WorkerSupervisor({
      workers: 1,
      settings: workerSettings(testConfig(), 1, { udpBackend: 'auto', faultInjection: false }),
      cache: createAnswerCache(0),
      secret: secretOfTests,
      snapshot: publisher.current().snapshot,
      logger: new MemoryLogger(),
    });
    const alone = new Explainer({
      ask: (question) => idle.requests.explain(question),
      publisher,
      servers,
      upstreamName: () => undefined,
      findLine: async () => null,
    });
    const asked = alone.explain({ domain: 'a.example', type: 'A', client: '::1' });
    await expect(asked).rejects.toMatchObject({
      status: 503,
      code: 'dependency_unavailable',
      headers: { 'Retry-After': '1' },
    });
  });
});
