// Goals for Weir relative to other servers, for each workload. A ratio divides two runs of the same rotation.
import type { Run } from './figures.ts';
import { medianOf, pairedMedian, workersCpuUs } from './figures.ts';
import type { Goal } from './goal.ts';

const CACHED_MIX_CPU: readonly (readonly [string, number])[] = [
  ['unbound', 0.6],
  ['pdns-recursor', 0.75],
  ['dnsdist', 0.65],
  ['echo', 1.2],
];

/** The goals of a workload, from all its runs; empty for a workload without goals. */
export function peerGoals(workload: string, runs: readonly Run[]): Goal[] {
  if (!runs.some(({ server }) => server === 'weir')) return [];
  switch (workload) {
    case 'cached-mix':
      return cachedMix(runs);
    case 'cached-mix-logged':
      return logged(runs);
    case 'cached-mix-20k':
      return ordinaryRate(runs);
    default:
      return [];
  }
}

function cachedMix(runs: readonly Run[]): Goal[] {
  return [
    ...CACHED_MIX_CPU.flatMap(([peer, atMost]) => [
      ratio(`saturated: CPU of the workers / ${peer}`, runs, ['weir', peer], workersCpuUs, atMost),
      ratio(`saturated: CPU of all processes, log stored / ${peer}`, runs, ['weir', peer], cpuUs, atMost),
    ]),
    {
      what: 'saturated: q/s / unbound',
      measured: pairedMedian(runs, 'weir', 'unbound', (weir, peer) => weir.qps / peer.qps),
      unit: '',
      atLeast: 1.6,
    },
  ];
}

function logged(runs: readonly Run[]): Goal[] {
  const pair = ['weir', 'unbound'] as const;
  return [
    ratio('logged: CPU of all processes / unbound with log-queries', runs, pair, cpuUs, 0.6),
    ratio('logged: CPU of the workers / unbound with log-queries', runs, pair, workersCpuUs, 0.4),
  ];
}

function ordinaryRate(runs: readonly Run[]): Goal[] {
  const pair = ['weir', 'unbound'] as const;
  const own = runs.filter(({ server }) => server === 'weir');
  return [
    ratio('20,000 q/s: CPU of the workers / unbound', runs, pair, workersCpuUs, 0.8),
    ratio('20,000 q/s: CPU of all processes, log stored / unbound', runs, pair, cpuUs, 0.85),
    { what: '20,000 q/s: p50', measured: medianOf(own, p50Us), unit: 'us', atMost: 250 },
    {
      what: '20,000 q/s: p99 / unbound',
      measured: pairedMedian(runs, ...pair, quotient(p99Us, p99Us)),
      unit: '',
      atMost: 1,
    },
    { what: '20,000 q/s: answers lost', measured: sum(own, (run) => run.lost), unit: '', atMost: 0 },
    {
      what: '20,000 q/s: queries missing in the stored log',
      measured: sum(own, (run) => run.logLost),
      unit: '',
      atMost: 0,
    },
  ];
}

type Figure = (run: Run) => number | undefined;

function ratio(
  what: string,
  runs: readonly Run[],
  [mine, peer]: readonly [string, string],
  figure: Figure,
  atMost: number,
): Goal {
  return { what, measured: pairedMedian(runs, mine, peer, quotient(figure, cpuUs)), unit: '', atMost };
}

function quotient(top: Figure, bottom: Figure): (mine: Run, other: Run) => number | undefined {
  return (mine, other) => {
    const [a, b] = [top(mine), bottom(other)];
    return a === undefined || b === undefined || b === 0 ? undefined : a / b;
  };
}

function sum(runs: readonly Run[], figure: Figure): number | undefined {
  const values = runs.map(figure).filter((value) => value !== undefined);
  return values.length === 0 ? undefined : values.reduce((total, value) => total + value, 0);
}

const cpuUs: Figure = (run) => run.cpuUs;
const p50Us: Figure = (run) => run.latencyUs?.p50;
const p99Us: Figure = (run) => run.latencyUs?.p99;
