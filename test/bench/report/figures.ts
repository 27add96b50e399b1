// Computes the figures of the report from single runs: medians per server, and medians of ratios. A ratio divides two
// runs of the same rotation, because both servers ran under the same conditions.

/** A measured run of a server. */
export interface Run {
  server: string;
  rotation: number;
  qps: number;
  sent: number;
  answered: number;
  lost: number;
  rcodes: Record<string, number>;
  latencyUs?: { mean: number; p50: number; p90: number; p99: number; p999: number; max: number };
  /** CPU time per answered question, user and system, of all threads and processes. */
  cpuUs: number;
  /** The part of the CPU time that child processes of the server (Weir's database) used. */
  childrenCpuUs: number;
  /** The part of the CPU time that the server's own threads used, by thread group. */
  threadGroupsCpuUs: Record<string, number>;
  /** Questions that reached the upstream during the run: 0 with a warm cache. */
  upstreamQuestions: number;
  rssMiB: number;
  childrenRssMiB: number;
  /** Answers with a latency of more than 5 ms. */
  late?: number;
  /** Answered queries that are missing in Weir's stored query log. */
  logLost?: number;
  /** See `LoadResult`; a value above a few milliseconds means that the machine was busy. */
  slippedSecs?: number;
}

/** The medians of one server in one workload. */
export interface Row {
  server: string;
  runs: number;
  qps: number;
  cpuUs: number;
  /** CPU time of the answer threads per question; undefined for servers without `threadGroup`. */
  workersCpuUs: number | undefined;
  childrenCpuUs: number;
  p50Us: number | undefined;
  p99Us: number | undefined;
  /** Number of lost queries, summed over all runs. */
  lost: number;
  /** Missing rows of the stored query log, sum over all runs; undefined for servers that store no log. */
  logLost: number | undefined;
  /** Share of questions sent upstream, 0..1. */
  missShare: number;
  rssMiB: number;
  childrenRssMiB: number;
  loadSecs: number;
}

/** The baseline's figure divided by the server's. */
export interface RatioRow {
  server: string;
  qps: number;
  cpu: number;
  workersCpu: number | undefined;
  p50: number | undefined;
  p99: number | undefined;
}

/** The median; NaN of an empty list. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  if (sorted.length === 0) return NaN;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** The median of a figure over the runs that have it; undefined if no run has it. */
export function medianOf(runs: readonly Run[], figure: (run: Run) => number | undefined): number | undefined {
  const values = runs.map(figure).filter((value) => value !== undefined);
  return values.length === 0 ? undefined : median(values);
}

/** CPU time of the answer threads per answered question; undefined if the run has no thread groups. */
export function workersCpuUs(run: Run): number | undefined {
  return run.threadGroupsCpuUs['workers'];
}

/** One row per server, in the order of `loadSecs`. */
export function medianRows(runs: readonly Run[], loadSecs: ReadonlyMap<string, number>): Row[] {
  return [...loadSecs].flatMap(([server, secs]) => {
    const own = runs.filter((run) => run.server === server);
    if (own.length === 0) return [];
    const of = (figure: (run: Run) => number): number => median(own.map(figure));
    return [
      {
        server,
        runs: own.length,
        qps: of((run) => run.qps),
        cpuUs: of((run) => run.cpuUs),
        workersCpuUs: medianOf(own, workersCpuUs),
        childrenCpuUs: of((run) => run.childrenCpuUs),
        p50Us: medianOf(own, (run) => run.latencyUs?.p50),
        p99Us: medianOf(own, (run) => run.latencyUs?.p99),
        lost: own.reduce((sum, run) => sum + run.lost, 0),
        logLost: own.some((run) => run.logLost !== undefined)
          ? own.reduce((sum, run) => sum + (run.logLost ?? 0), 0)
          : undefined,
        missShare: of((run) => run.upstreamQuestions / Math.max(1, run.sent)),
        rssMiB: of((run) => run.rssMiB),
        childrenRssMiB: of((run) => run.childrenRssMiB),
        loadSecs: secs,
      },
    ];
  });
}

/**
 * The median, over the rotations, of a figure computed from one run of each of two servers; undefined if no rotation
 * has runs of both.
 */
export function pairedMedian(
  runs: readonly Run[],
  mine: string,
  other: string,
  figure: (mine: Run, other: Run) => number | undefined,
): number | undefined {
  const others = new Map(runs.filter(({ server }) => server === other).map((run) => [run.rotation, run]));
  const values = runs
    .filter(({ server }) => server === mine)
    .flatMap((run) => {
      const pair = others.get(run.rotation);
      const value = pair === undefined ? undefined : figure(run, pair);
      return value === undefined ? [] : [value];
    });
  return values.length === 0 ? undefined : median(values);
}

/** Ratios of the baseline to every other server; empty if the baseline was not measured. */
export function ratioRows(runs: readonly Run[], baseline: string, servers: readonly string[]): RatioRow[] {
  return servers
    .filter((server) => server !== baseline)
    .flatMap((server) => {
      const ratio = (
        mine: (run: Run) => number | undefined,
        other: (run: Run) => number | undefined = mine,
      ): number | undefined =>
        pairedMedian(runs, baseline, server, (baseRun, run) => {
          const [top, bottom] = [mine(baseRun), other(run)];
          return top === undefined || bottom === undefined || bottom === 0 ? undefined : top / bottom;
        });
      const qps = ratio((run) => run.qps);
      if (qps === undefined) return [];
      return [
        {
          server,
          qps,
          cpu: ratio((run) => run.cpuUs) ?? NaN,
          workersCpu: ratio(workersCpuUs, (run) => run.cpuUs),
          p50: ratio((run) => run.latencyUs?.p50),
          p99: ratio((run) => run.latencyUs?.p99),
        },
      ];
    });
}
