// `npm run bench`: measures Weir and other DNS servers on this machine, then Weir with more workers, groups, names and
// cached answers, then parts of the resolver, then the allocations of the hot path. This file defines the order of the
// suites; README.md beside it explains the figures.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, release } from 'node:os';
import { dirname, join } from 'node:path';
import { ROOT, withBench } from './bench.ts';
import { proveHotPath } from './hot-path-proof.ts';
import { gatherMaterial } from './material/material.ts';
import type { Options } from './options.ts';
import { HELP, parseOptions } from './options.ts';
import { canPin, stopRunning } from './process/child.ts';
import type { Goal } from './report/goal.ts';
import { goalTable } from './report/goal.ts';
import { runPeers } from './suites/peers.ts';
import { RESOLVER_ROWS } from './suites/resolver-rows.ts';
import { checkRows, runRows } from './suites/measured-rows.ts';
import { SCALING_ROWS } from './suites/scaling.ts';

const RESULT_FILE = join(import.meta.dirname, 'results', 'latest.json');

async function main(options: Options): Promise<boolean> {
  const startedAt = new Date().toISOString();
  checkRows(options.rows, [...SCALING_ROWS, ...RESOLVER_ROWS]);
  execFileSync(process.execPath, [join(ROOT, 'deploy', 'build', 'bundle.ts')]); // Releases run the bundle.
  return withBench(options, async (bench) => {
    const material = gatherMaterial(ROOT, options.names, options.seed);
    console.log(`${material.names.length.toLocaleString('en')} blocked names, questions: ${material.source}`);
    const wants = (suite: Options['suites'][number]): boolean => options.suites.includes(suite);
    const peers = wants('peers') ? await runPeers(bench, material) : undefined;
    const scaling = wants('scaling') ? await runRows(SCALING_ROWS, bench, material) : undefined;
    const resolver = wants('resolver') ? await runRows(RESOLVER_ROWS, bench, material) : undefined;
    const hotPath = wants('hot-path') ? await proveHotPath(bench, material) : undefined;
    const goals: Goal[] = [
      ...(peers?.workloads.flatMap((workload) => workload.goals) ?? []),
      ...(scaling?.flatMap((row) => row.goals) ?? []),
      ...(resolver?.flatMap((row) => row.goals) ?? []),
      ...(hotPath?.goals ?? []),
    ];
    if (goals.length > 0) console.log(`\nall goals\n\n${goalTable(goals)}`);
    const summary = {
      startedAt,
      machine: {
        cpu: cpus()[0]?.model ?? '?',
        cores: cpus().length,
        kernel: release(),
        node: process.version,
      },
      options,
      generator: bench.load.name,
      upstream: bench.upstream.name,
      pinned: canPin,
      questions: material.source,
      ...peers,
      scaling,
      resolver,
      hotPath,
    };
    mkdirSync(dirname(RESULT_FILE), { recursive: true });
    writeFileSync(RESULT_FILE, `${JSON.stringify(summary, undefined, 1)}\n`);
    console.log(`\nwritten to ${RESULT_FILE}`);
    for (const { server, reason } of peers?.excluded ?? []) console.log(`left out: ${server}: ${reason}`);
    return (peers?.excluded ?? []).length === 0;
  });
}

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    // A second signal has no handler and ends this process immediately.
    void stopRunning().then(() => process.exit(130));
  });
try {
  const options = parseOptions(process.argv.slice(2));
  if (options.help) console.log(HELP);
  else process.exitCode = (await main(options)) ? 0 : 1;
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
