import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createAnswerCache } from '../../shared/memory/answer-cache-layout.ts';
import { UdpClient } from '../../test/support/dns/dns-client.ts';
import { answers } from '../../test/support/dns/scripted-server.ts';
import { ScriptedUpstream } from '../../test/support/dns/scripted-upstream.ts';
import type { ReceivedQuery } from '../../test/support/dns/scripted-upstream.ts';
import { MemoryLogger } from '../../test/support/parts/memory-logger.ts';
import { testConfig } from '../../test/support/parts/test-config.ts';
import { snapshotOf } from '../../test/support/parts/test-lists.ts';
import { until } from '../../test/support/parts/until.ts';
import { freePort } from '../../test/support/weir/free-ports.ts';
import { WorkerSupervisor } from './supervisor.ts';
import { workerSettings } from '../node/thread-settings/worker-settings.ts';
import { secretOfTests } from '../../test/support/parts/cookies-of-tests.ts';

const CLIENTS = 16;
const HOOKS = { udpBackend: 'auto', faultInjection: true } as const;

let port: number;
let supervisor: WorkerSupervisor;
let first: ScriptedUpstream;
let second: ScriptedUpstream;
let clients: UdpClient[];
let names = 0;

function settings(upstream: ScriptedUpstream, toml = '') {
  const server = `${upstream.ip}:${upstream.port}`;
  const pool = `dns.pools = [{ name = "p", servers = ["${server}"] }]\ndns.health_check.enabled = false`;
  return workerSettings(testConfig(`${pool}\n${toml}`), port, HOOKS);
}

/** Sends queries from many sockets, so that all workers get some; returns the addresses or the RCODE of each reply. */
async function askAll(name: (client: number) => string): Promise<string[]> {
  const replies = await Promise.all(clients.map((client, at) => client.ask(name(at), 'A')));
  return replies.map(({ data, rcode }) => (typeof data[0] === 'string' ? data[0] : String(rcode)));
}

/** Names that no client has queried yet. */
function newNames(): (client: number) => string {
  const round = ++names;
  return (client) => `r${round}-${client}.example`;
}

/** Queries that the first upstream has received, but not answered yet. */
function held(): ReceivedQuery[] {
  const queries: ReceivedQuery[] = [];
  first.udpScript = (query) => void queries.push(query);
  return queries;
}

beforeAll(async () => {
  port = await freePort(['127.0.0.1']);
  first = await ScriptedUpstream.start();
  second = await ScriptedUpstream.start();
  second.udpScript = answers(2);
  supervisor = new WorkerSupervisor({
    workers: 2,
    settings: settings(first),
    cache: createAnswerCache(1_048_576),
    secret: secretOfTests,
    snapshot: snapshotOf([], {}, 1),
    logger: new MemoryLogger(),
  });
  await supervisor.start();
  clients = await Promise.all(Array.from({ length: CLIENTS }, () => UdpClient.open(port)));
});
afterAll(async () => {
  for (const client of clients) client.close();
  await supervisor.drain();
  await first.close();
  await second.close();
});

describe('useSettings()', () => {
  test('queries new upstreams immediately, and does not cache late answers of the old ones', async () => {
    const queries = held();
    const flying = newNames();
    const late = askAll(flying);
    await until(
      'every question to be held',
      () => queries.length,
      (count) => count >= CLIENTS,
    );
    expect(await supervisor.useSettings(settings(second))).toBe(0);
    expect(new Set(await askAll(newNames()))).toEqual(new Set(['192.0.2.2']));
    for (const query of queries) answers(1)(query, 0);
    expect(new Set(await late)).toEqual(new Set(['192.0.2.1']));
    expect(new Set(await askAll(flying))).toEqual(new Set(['192.0.2.2']));
  });

  test('accepts no unvalidated answers after validation is enabled', async () => {
    await supervisor.useSettings(settings(first));
    const queries = held();
    const late = askAll(newNames());
    await until(
      'every question to be held',
      () => queries.length,
      (count) => count >= CLIENTS,
    );
    await supervisor.useSettings(settings(first, 'dns.dnssec_enabled = true'));
    first.udpScript = answers(1);
    for (const query of queries) answers(1)(query, 0);
    expect(new Set(await late)).toEqual(new Set(['2']));
    await supervisor.useSettings(settings(first, 'dns.dnssec_enabled = false'));
    expect(new Set(await askAll(newNames()))).toEqual(new Set(['192.0.2.1']));
  });

  test('enables rate limiting with full buckets, and disables it', async () => {
    const limit = 'dns.rate_limit = { enabled = true, burst_size = 4, queries_per_second = 1 }';
    first.udpScript = answers(1);
    await supervisor.useSettings(settings(first, limit));
    const replies = await askAll(newNames());
    expect(replies.filter((reply) => reply === '5').length).toBeGreaterThanOrEqual(CLIENTS - 8);
    expect(replies).toContain('192.0.2.1');
    await supervisor.useSettings(settings(first));
    expect(new Set(await askAll(newNames()))).toEqual(new Set(['192.0.2.1']));
  });

  test('applies to the replacements of threads that die during the call', async () => {
    const before = supervisor.state().restarts;
    const roles =
      supervisor.state().backend === 'batch' ? (['answer', 'resolve'] as const) : (['resolve'] as const);
    for (const role of roles) supervisor.injectFault(0, role, 'exit');
    const behind = await supervisor.useSettings(settings(second));
    await until(
      'the dead threads to be replaced',
      () => supervisor.state(),
      ({ restarts, answering }) => restarts === before + roles.length && answering === 2,
    );
    expect(behind).toBe(0);
    expect(new Set(await askAll(newNames()))).toEqual(new Set(['192.0.2.2']));
  });

  test('does not disturb concurrent queries', async () => {
    first.udpScript = answers(2);
    const rounds: Promise<string[]>[] = [];
    for (const upstream of [first, second, first, second]) {
      rounds.push(askAll(newNames()));
      await supervisor.useSettings(settings(upstream, `cache.max_ttl_secs = ${100 + rounds.length}`));
    }
    expect(new Set((await Promise.all(rounds)).flat())).toEqual(new Set(['192.0.2.2']));
  });
});
