// Effect of connections and floods on twenty normal UDP clients: their p99 latency with and without each flood, and the
// server's memory.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Bench } from '../bench.ts';
import type { LoadResult } from '../load/load.ts';
import { giveInput } from '../../support/weir/standard-input.ts';
import { pinned } from '../process/child.ts';
import { readMemory } from '../process/proc-tree.ts';
import { alignColumns } from '../report/table.ts';
import type { EdgeServer } from './edge-servers.ts';
import { FLOODS } from './flood-kinds.ts';

const GOOD_CLIENTS = 20;
const GOOD_QPS = 2000;
const SETTLE_MS = 3000;
/** Longer than 10 s, after which Weir closes idle connections. */
const REST_MS = 12_000;
/** The limit that a UDP flood exceeds; the normal clients stay far below it. */
const LIMITED = `[dns.rate_limit]
enabled = true
queries_per_second = 1000
burst_size = 2000
ipv4_prefix_len = 32
`;

/** Measures each flood on a Weir server with a rate limit, and prints the table. */
export async function measureFloods(
  bench: Bench,
  start: (toml: string) => Promise<EdgeServer | undefined>,
  secs: number,
): Promise<void> {
  const weir = await start(LIMITED);
  if (weir === undefined) return;
  const questionFile = join(bench.dir, 'good.txt');
  writeFileSync(
    questionFile,
    Array.from({ length: 200 }, (_, index) => `host${index}.example.com A\n`).join(''),
  );
  const ask = (): Promise<LoadResult> =>
    bench.loadAhead.run({
      ...{ port: weir.ports.dns, questionFile, secs, rateQps: GOOD_QPS, window: 1000 },
      ...{ sockets: GOOD_CLIENTS, clients: GOOD_CLIENTS, passes: undefined, firstSerial: undefined },
      check: false,
    });
  const memoryMiB = (): string => (readMemory(weir.child.pid).ownBytes / 2 ** 20).toFixed(0);
  await ask();
  const rows: string[][] = [];
  for (const kind of FLOODS) {
    const calm = await ask();
    const before = memoryMiB();
    const program = join(import.meta.dirname, 'flood.ts');
    const { command, args } = pinned(
      {
        command: process.execPath,
        args: [
          '--disable-warning=ExperimentalWarning',
          program,
          kind,
          JSON.stringify(weir.ports),
          questionFile,
        ],
      },
      [bench.options.loadCore],
    );
    const flood = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    let output = '';
    flood.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    await delay(SETTLE_MS);
    const flooded = await ask();
    const meanwhile = memoryMiB();
    const closed = once(flood, 'close');
    await giveInput(flood.stdin);
    await closed;
    await delay(REST_MS);
    rows.push([
      kind,
      p99Of(calm),
      p99Of(flooded),
      lostOf(calm),
      lostOf(flooded),
      before,
      meanwhile,
      memoryMiB(),
      output.trim(),
    ]);
  }
  const head = [
    'flood',
    'p99 ms without',
    'with',
    'lost without',
    'with',
    'RSS MiB before',
    'meanwhile',
    'after',
    'what it did',
  ];
  console.log(alignColumns([head, ...rows]));
  await weir.child.stop();
}

const p99Of = ({ latencyUs }: LoadResult): string => ((latencyUs?.p99 ?? NaN) / 1000).toFixed(2);
const lostOf = ({ lost, sent }: LoadResult): string => `${lost} of ${sent}`;
