// Observations of a soak, its goals, and its report as text.
import type { ThreadRole } from '../../../shared/threads/messages.ts';
import type { LoadResult } from '../load/load.ts';
import type { MemorySplit } from '../process/memory.ts';
import { median } from '../report/figures.ts';
import type { Goal } from '../report/goal.ts';
import { alignColumns } from '../report/table.ts';

const MAX_PAUSE_MS = 5;
const MAX_GROWTH = 1.05;
const MAX_LOG_POLL_MS = 2000;
const ROLES: readonly ThreadRole[] = ['answer', 'resolve'];

/** A sample of the process. */
export interface Look {
  secs: number;
  memory: MemorySplit;
  /** Garbage collections since the previous sample, milliseconds. */
  pauses: Record<ThreadRole, number[]>;
  logRecordsDropped: number;
}

/** Observations other than the load. */
export interface Observations {
  looks: Look[];
  /** Milliseconds from each change of the list to the first answer that shows the change. */
  compilesMs: number[];
  /** Milliseconds of a round of the API's GETs, and of a search over the whole log; messages of failed requests. */
  pollsMs: number[];
  logPollsMs: number[];
  failures: string[];
  logFailures: string[];
}

/** Result of a soak. */
export interface Soak extends Observations {
  /** Queries per second of a saturated run; undefined if the rate was given. */
  saturatedQps: number | undefined;
  /** Highest rate without lost queries. */
  throughputQps: number | undefined;
  rateQps: number;
  load: LoadResult;
  /** Answered queries that are missing in the stored log at the end. */
  logLost: number;
  threadsReplaced: number;
}

/** Goals of a soak. */
export function goalsOf(result: Soak): Goal[] {
  const { load, looks, compilesMs, logPollsMs, failures, logFailures, threadsReplaced, logLost } = result;
  const rss = looks.map(({ memory }) => memory.rss);
  const quarter = Math.max(1, Math.floor(rss.length / 4));
  const growth = median(rss.slice(-quarter)) / median(rss.slice(quarter, 2 * quarter));
  const count = (what: string, measured: number): Goal => ({ what, measured, unit: '', atMost: 0 });
  return [
    count('answers lost', load.lost),
    count('rows missing in the stored log', logLost),
    { what: 'RSS of the last quarter / of the second', measured: growth, unit: '', atMost: MAX_GROWTH },
    ...ROLES.map((role) => ({
      what: `longest garbage collection of the ${role} thread`,
      measured: Math.max(0, ...looks.flatMap(({ pauses }) => pauses[role])),
      unit: 'ms',
      atMost: MAX_PAUSE_MS,
    })),
    {
      what: 'longest search over the whole log',
      measured: Math.max(0, ...logPollsMs),
      unit: 'ms',
      atMost: MAX_LOG_POLL_MS,
    },
    count('searches of the log without an answer', logFailures.length),
    count('threads replaced', threadsReplaced),
    count('calls of the API and compiles that failed', failures.length),
    { what: 'lists compiled', measured: compilesMs.length, unit: '', atLeast: 1 },
  ];
}

/** Report as text: observations over time, then counts. */
export function soakReport(result: Soak): string {
  const { load, looks, pollsMs, logPollsMs, compilesMs, failures, logFailures } = result;
  const lines = alignColumns([
    [
      'after s',
      'RSS MiB',
      'anonymous',
      'answer: GCs',
      'longest ms',
      'resolve: GCs',
      'longest ms',
      'log dropped',
    ],
    ...sample(looks, 20).map(({ secs, memory, pauses, logRecordsDropped }) => [
      secs.toFixed(0),
      memory.rss.toFixed(0),
      memory.anonymous.toFixed(0),
      ...ROLES.flatMap((role) => [String(pauses[role].length), Math.max(0, ...pauses[role]).toFixed(1)]),
      String(logRecordsDropped),
    ]),
  ]);
  const latency = load.latencyUs;
  const reached = load.answered / load.elapsedSecs;
  const counts = [
    `asked for ${result.rateQps.toLocaleString('en')} q/s, reached ${Math.round(reached).toLocaleString('en')} ` +
      `(the generator was held up for ${(load.slippedSecs ?? 0).toFixed(1)} s)`,
    `${load.sent.toLocaleString('en')} sent, ${load.answered.toLocaleString('en')} answered, ${load.lost} lost`,
    latency === undefined
      ? ''
      : `p50 ${latency.p50.toFixed(0)} us, p99 ${latency.p99.toFixed(0)}, p99.9 ${latency.p999.toFixed(0)}, ` +
        `longest ${latency.max.toFixed(0)}; later than 5 ms: ${load.late ?? 0}`,
    `compiles took ${compilesMs.map((ms) => (ms / 1000).toFixed(1)).join(', ')} s from change to answer`,
    `${pollsMs.length} rounds of the API took ${timesOf(pollsMs)}`,
    `${logPollsMs.length} searches over the whole log took ${timesOf(logPollsMs)}; ${logFailures.length} got no answer`,
    ...[...new Set([...failures, ...logFailures])].slice(0, 5).map((failure) => `failed: ${failure}`),
  ];
  return `${lines}\n\n${counts.join('\n')}`;
}

function timesOf(roundsMs: readonly number[]): string {
  return roundsMs.length === 0
    ? 'no time'
    : `${median(roundsMs).toFixed(0)} ms, the slowest ${Math.max(...roundsMs).toFixed(0)} ms`;
}

/**
 * Up to `max` of the samples, evenly spaced; each selected sample includes the pauses since the previous selected
 * sample.
 */
function sample(looks: readonly Look[], max: number): Look[] {
  const step = Math.max(1, Math.ceil(looks.length / max));
  return looks.flatMap((look, index) => {
    if ((index + 1) % step !== 0) return [];
    const between = looks.slice(index + 1 - step, index + 1);
    const all = (role: ThreadRole): number[] => between.flatMap(({ pauses }) => pauses[role]);
    return [{ ...look, pauses: { answer: all('answer'), resolve: all('resolve') } }];
  });
}
