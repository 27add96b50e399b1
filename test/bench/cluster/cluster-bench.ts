/**
 * Time until a change at one node affects the answers of all nodes, and cost of idle nodes. Rules are created at each
 * node in turn, and every node is queried for their names until it blocks them.
 *
 * Usage: npm run bench -- cluster --nodes 3 --changes 1000
 */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { UdpClient } from '../../support/dns/dns-client.ts';
import type { ApiClient } from '../../support/weir/api-client.ts';
import { NodeCluster } from '../../support/weir/node-cluster.ts';
import type { Weir } from '../../support/weir/weir-process.ts';
import { quantile } from '../report/quantile.ts';

const BLOCKED = '0.0.0.0';
/** Clock ticks per second, the unit of /proc. */
const TICKS = 100;

const { values } = parseArgs({
  options: {
    nodes: { type: 'string', default: '3' },
    changes: { type: 'string', default: '1000' },
    'idle-secs': { type: 'string', default: '60' },
  },
});

/** A node, and the client that queries it. */
interface QueriedNode {
  readonly weir: Weir;
  readonly api: ApiClient;
  readonly udp: UdpClient;
}

/** Time at which a node blocked the name. */
async function untilBlocked({ udp }: QueriedNode, name: string): Promise<number> {
  while ((await udp.ask(name, 'A')).data[0] !== BLOCKED);
  return performance.now();
}

/** Milliseconds from the response to a change until the last node applied the change. */
async function change(nodes: readonly QueriedNode[], index: number): Promise<number> {
  const name = `change-${String(index)}.example`;
  await nodes[index % nodes.length]!.api.expect(201, 'POST', '/managed-domains', { domain: name });
  const answeredMs = performance.now();
  const seen = await Promise.all(nodes.map((node) => untilBlocked(node, name)));
  return Math.max(...seen) - answeredMs;
}

/** CPU seconds of a process. */
function cpuSecs(pid: number): number {
  const fields = readFileSync(`/proc/${String(pid)}/stat`, 'utf8')
    .split(') ')[1]!
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}

/** Counters of the database's writes so far. */
async function written(cluster: NodeCluster): Promise<{ bytes: number; updates: number; hot: number }> {
  const [row] = await cluster.database.rows<{ bytes: number; updates: number; hot: number }>(
    `SELECT (pg_current_wal_lsn() - '0/0')::float8 AS bytes, n_tup_upd::float8 AS updates, n_tup_hot_upd::float8 AS hot
       FROM pg_stat_user_tables WHERE relname = 'nodes'`,
  );
  return row!;
}

async function measureIdle(cluster: NodeCluster, nodes: readonly QueriedNode[], secs: number): Promise<void> {
  const check = async () => ({
    cpu: nodes.map(({ weir }) => cpuSecs(weir.pid)),
    ...(await written(cluster)),
  });
  const before = await check();
  await sleep(secs * 1000);
  const after = await check();
  const perMinute = (now: number, then: number): string => (((now - then) * 60) / secs).toFixed(0);
  const cpu = after.cpu.map((now, index) => `${(((now - before.cpu[index]!) * 100) / secs).toFixed(1)} %`);
  print(`idle: ${cpu.join(', ')} of a core a node`);
  print(
    `idle: ${perMinute(after.bytes, before.bytes)} bytes of WAL a minute, ${perMinute(after.updates, before.updates)} heartbeats` +
      ` a minute, of which ${perMinute(after.hot, before.hot)} HOT`,
  );
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

const cluster = await NodeCluster.open();
try {
  const nodes: QueriedNode[] = [];
  for (let index = 0; index < Number(values.nodes); index++) {
    const weir = await cluster.start(`node-${String(index)}`);
    nodes.push({ weir, api: await weir.api(), udp: await UdpClient.open(weir.dnsPort) });
  }
  print(`${values.nodes} nodes answer`);
  await measureIdle(cluster, nodes, Number(values['idle-secs']));
  const times: number[] = [];
  for (let index = 0; index < Number(values.changes); index++) times.push(await change(nodes, index));
  const [p50, p99, last] = [0.5, 0.99, 1].map((share) => quantile(times, share).toFixed(1));
  print(
    `${values.changes} changes: all nodes answered by them after ${p50!} ms (p50), ${p99!} ms (p99), ${last!} ms (most)`,
  );
  for (const { udp } of nodes) udp.close();
} finally {
  await cluster.close();
}
