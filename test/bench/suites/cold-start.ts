// Time from the start of a Weir server to its first answers, on an existing data directory.
import type { Bench } from '../bench.ts';
import { ROOT, stageOf } from '../bench.ts';
import type { Material } from '../material/material.ts';
import { quantile } from '../report/quantile.ts';
import { alignColumns } from '../report/table.ts';
import { startServer } from '../running-server.ts';
import type { RunningServer } from '../running-server.ts';
import { findServers, weirContestant } from '../servers/server-table.ts';
import type { RowResult } from './measured-rows.ts';

const MAX_SECS = 1;
/** Servers compared with Weir, if installed; their lists are read from files at each start. */
const PEERS = ['unbound', 'dnsdist'];

/** See `RowResult`. */
export async function measureColdStart(bench: Bench, material: Material): Promise<RowResult> {
  const stage = stageOf(bench, material);
  const { contestants } = findServers(ROOT, bench.native, PEERS);
  const all = [weirContestant(ROOT, { name: 'weir-cold-start' }), ...contestants];
  const figures: { server: string; secs: number[] }[] = [];
  for (const [place, contestant] of all.entries()) {
    const running = await startServer(stage, contestant, place, false);
    figures.push({ server: running.name, secs: await startAgain(running, bench.options.rotations) });
    await running.child.stop();
  }
  const table = alignColumns([
    ['seconds from the start to the first blocked answer', 'median', 'slowest'],
    ...figures.map(({ server, secs }) => [
      server,
      quantile(secs, 0.5).toFixed(2),
      Math.max(...secs).toFixed(2),
    ]),
  ]);
  const own = quantile(figures[0]!.secs, 0.5);
  const goals = [{ what: 'first answer after a start', measured: own, unit: 's', atMost: MAX_SECS }];
  return { table, goals, figures };
}

async function startAgain(running: RunningServer, times: number): Promise<number[]> {
  const secs: number[] = [];
  for (let turn = 0; turn < times; turn++) secs.push(await running.restart());
  return secs;
}
