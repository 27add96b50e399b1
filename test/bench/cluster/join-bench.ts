// `npm run bench -- join`: time until a node with an empty disk answers by the policy of its cluster, including a list
// of a million names. Also measures the cost of storing the list for all nodes, which the first node pays, and counts
// the answers that the joining node does not filter yet.
import { setTimeout as sleep } from 'node:timers/promises';
import { UdpClient } from '../../support/dns/dns-client.ts';
import { query, Reply } from '../../support/dns/dns-message.ts';
import { startListServer } from '../../support/weir/list-server.ts';
import { NodeCluster } from '../../support/weir/node-cluster.ts';
import { Weir } from '../../support/weir/weir-process.ts';
import { readOwnNumbers, runBench } from '../own-options.ts';

const HELP = `npm run bench -- join [options]

  --names N   names of the list (1000000)
  --joins N   nodes that join, one after the other (3)
`;
const DEFAULTS = { names: 1_000_000, joins: 3 };
const ASK_EVERY_MS = 5;
const LISTED = 'n0.listed.example';
const BLOCKED = '0.0.0.0';
/** Time-out of each step of a join. */
const TIMEOUT_MS = 300_000;

interface Joined {
  /** Milliseconds from the start of the node to its first answer of any kind, and to its first answer by policy. */
  readonly firstMs: number;
  readonly policyMs: number;
  /** Unfiltered answers for the listed name between `firstMs` and `policyMs`. */
  readonly unfiltered: number;
}

/** Queries a listed name every few milliseconds; returns when it was first answered and when it was blocked. */
async function askUntilBlocked(dnsPort: number, sinceMs: number): Promise<Joined> {
  using client = await UdpClient.open(dnsPort);
  let firstMs: number | undefined;
  let unfiltered = 0;
  for (;;) {
    await client.send(query(LISTED, 'A'));
    await sleep(ASK_EVERY_MS);
    const nowMs = performance.now() - sinceMs;
    for (const bytes of client.unexpected.splice(0)) {
      firstMs ??= nowMs;
      const { data } = new Reply(bytes, '');
      if (data[0] === BLOCKED) return { firstMs, policyMs: nowMs, unfiltered };
      if (data.length > 0) unfiltered++;
    }
    if (nowMs > TIMEOUT_MS) throw new Error(`${LISTED} is not blocked after ${TIMEOUT_MS} ms`);
  }
}

/** A node of this name on an empty disk. */
async function join(cluster: NodeCluster, name: string): Promise<Joined> {
  const sinceMs = performance.now();
  await using node = await Weir.launch(cluster.optionsOf(name));
  const joined = await askUntilBlocked(node.dnsPort, sinceMs);
  await node.stop();
  return joined;
}

async function main(args: string[]): Promise<void> {
  const numbers = readOwnNumbers(args, DEFAULTS);
  if (numbers === null) {
    console.log(HELP);
    return;
  }
  const { names, joins } = numbers.own;
  const lists = await startListServer();
  lists.serve('/ads', Array.from({ length: names }, (_, n) => `n${n}.listed.example\n`).join(''));
  const cluster = await NodeCluster.open();
  try {
    const first = await cluster.start('first');
    const sinceMs = performance.now();
    const source = await (await first.api()).addSource({ name: 'ads', url: lists.url('/ads') });
    const addedMs = performance.now() - sinceMs;
    if (source.rules !== names)
      throw new Error(`the list has ${source.rules} rules: ${source.last_error ?? ''}`);
    const [stored] = await cluster.database.rows<{ bytes: number; total: number }>(
      `SELECT sum(length(bytes))::integer AS bytes, pg_total_relation_size('blobs')::integer AS total FROM blobs`,
    );
    console.log(
      `first node: ${names} names fetched, stored for all and active after ${addedMs.toFixed(0)} ms;`,
    );
    console.log(`${stored!.bytes} bytes of gzip in the database, ${stored!.total} with its pages`);
    for (let n = 1; n <= joins; n++) {
      const { firstMs, policyMs, unfiltered } = await join(cluster, `joined-${n}`);
      const secs = (ms: number): string => `${(ms / 1000).toFixed(2)} s`;
      console.log(
        `node ${n}: answers after ${secs(firstMs)}, by policy after ${secs(policyMs)}; ${unfiltered} unfiltered`,
      );
    }
    console.log(`the list was fetched ${lists.requests.length} times`);
  } finally {
    await cluster.close();
    await lists.close();
  }
}

await runBench(main);
