// `npm run bench -- edge`: cost of DNS over TCP, TLS and HTTPS compared with dnsdist and unbound, and the effect of
// connections and floods on normal UDP clients.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { TestAuthority } from '../../support/dns/certificates.ts';
import { startEchoingUpstream } from '../../support/dns/echoing-upstream.ts';
import { type Bench, withBench } from '../bench.ts';
import { parseOptions } from '../options.ts';
import { readOwnNumbers, runBench } from '../own-options.ts';
import { cpuBetween, readCpu } from '../process/proc-tree.ts';
import { quantile } from '../report/quantile.ts';
import { alignColumns } from '../report/table.ts';
import { measureFloods } from './edge-floods.ts';
import { edgeLoads } from './edge-loads.ts';
import type { EdgeLoad } from './edge-loads.ts';
import { EDGE_SERVERS, startEdgeServer } from './edge-servers.ts';
import type { EdgeEnvironment, EdgeServer } from './edge-servers.ts';

const HELP = `npm run bench -- edge [options]

  --turns N        turns of each server (3)
  --run-secs N     seconds of one load (5)
  --flood-secs N   seconds of each flood (15)
  --base-port N, --server-core N, --load-core N, --keep   as of npm run bench
`;
const DEFAULTS = { turns: 3, 'run-secs': 5, 'flood-secs': 15 };
const PEER = 'dnsdist';
const WARMUP_SECS = 3;

interface Measured {
  readonly server: string;
  readonly load: string;
  readonly turn: number;
  readonly qps: number;
  readonly cpuUs: number;
}

async function edgeBench(bench: Bench, own: Readonly<Record<keyof typeof DEFAULTS, number>>): Promise<void> {
  const authority = new TestAuthority();
  process.once('exit', () => authority.close());
  const certificate = authority.issue('IP:127.0.0.1');
  // dnsdist queries its upstream over the client's transport, but the upstream of the bench answers only over UDP.
  await using upstream = await startEchoingUpstream();
  const { basePort, serverCore, loadCore } = bench.options;
  const environmentAt = (place: number, toml?: string): EdgeEnvironment => {
    const port = basePort + 30 + place * 5;
    const dir = join(bench.dir, `edge-${place}`);
    mkdirSync(dir, { mode: 0o755 });
    const ports = { dns: port, dot: port + 1, doh: port + 2 };
    return {
      dir,
      ports,
      upstreamPort: upstream.port,
      certificate,
      ...(toml === undefined ? {} : { toml }),
    };
  };
  const loads = edgeLoads(bench.dir, loadCore);
  const started = await Promise.all(
    EDGE_SERVERS.map((name, place) => startEdgeServer(name, environmentAt(place), serverCore)),
  );
  const servers = started.filter((server) => server !== undefined);
  const measured: Measured[] = [];
  for (let turn = 0; turn < own.turns; turn++)
    for (const server of [
      ...servers.slice(turn % servers.length),
      ...servers.slice(0, turn % servers.length),
    ])
      for (const load of loads) measured.push(...(await measure(server, load, turn, own['run-secs'])));
  console.log(table(measured));
  for (const { child } of servers) await child.stop();
  await measureFloods(
    bench,
    (toml) => startEdgeServer('weir', environmentAt(servers.length, toml), serverCore),
    own['flood-secs'],
  );
}

async function measure(
  { name, child, ports }: EdgeServer,
  { name: load, run }: EdgeLoad,
  turn: number,
  secs: number,
): Promise<Measured[]> {
  if (run === undefined) return [];
  if (turn === 0) await run(ports, WARMUP_SECS);
  const before = readCpu(child.pid);
  const answered = await run(ports, secs);
  const { totalNs } = cpuBetween(before, readCpu(child.pid), () => 'all');
  return [{ server: name, load, turn, qps: answered / secs, cpuUs: totalNs / 1000 / Math.max(1, answered) }];
}

function table(measured: readonly Measured[]): string {
  const servers = [...new Set(measured.map(({ server }) => server))];
  const loads = [...new Set(measured.map(({ load }) => load))];
  const of = (server: string, load: string): Measured[] =>
    measured.filter((it) => it.server === server && it.load === load);
  const lines = loads.map((load) => [
    load,
    ...servers.flatMap((server) => {
      const runs = of(server, load);
      return [
        quantile(
          runs.map(({ qps }) => qps),
          0.5,
        ).toFixed(0),
        quantile(
          runs.map(({ cpuUs }) => cpuUs),
          0.5,
        ).toFixed(1),
      ];
    }),
    ratio(of('weir', load), of(PEER, load)),
  ]);
  const head = ['load', ...servers.flatMap((server) => [`${server} q/s`, 'cpu us/q']), `weir/${PEER} cpu`];
  return alignColumns([head, ...lines]);
}

/** The median of the ratios within each turn. */
function ratio(own: readonly Measured[], peer: readonly Measured[]): string {
  const ratios = own.flatMap(({ turn, cpuUs }) => {
    const other = peer.find((it) => it.turn === turn);
    return other === undefined ? [] : [cpuUs / other.cpuUs];
  });
  return ratios.length === 0 ? '-' : quantile(ratios, 0.5).toFixed(2);
}

await runBench(async (args) => {
  const numbers = readOwnNumbers(args, DEFAULTS);
  if (numbers === null) console.log(HELP);
  else await withBench(parseOptions(numbers.rest), (bench) => edgeBench(bench, numbers.own));
});
