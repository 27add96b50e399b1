/** HTTP routes of `{api}/system/info`: the machine and this process. The data is not from the database. */
import { loadavg, release, type } from 'node:os';
import { SystemInfo } from '../../../shared/api/system-api.ts';
import type { Clock } from '../../../shared/clock.ts';
import { route } from '../../api/route.ts';
import type { Route } from '../../api/route.ts';
import { CpuShares, type CpuTimes } from './cpu-shares.ts';
import { machineMemory, percentOf } from '../../host/machine-memory.ts';

/** CPU seconds of a thread. */
interface ThreadCpu {
  /** `thread` is the kind, such as `answer` or `resolve`; `worker` is a number that only these two kinds have. */
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const PROCESS = 'process';

export function systemInfoRoutes(context: {
  clock: Clock;
  startedAtMs: number;
  threadCpu: () => readonly ThreadCpu[];
}): Route[] {
  const { clock, startedAtMs, threadCpu } = context;
  const shares = new CpuShares(clock, startedAtMs, () => cpuTimes(threadCpu()));
  const infoRow = route({
    method: 'GET',
    path: '/system/info',
    access: 'viewer',
    tag: 'System',
    summary: 'Load and memory of this machine, and the part that this process uses',
    answer: SystemInfo,
    handle: () => systemInfo(shares.percents()),
  });
  return [infoRow];
}

function cpuTimes(threads: readonly ThreadCpu[]): CpuTimes {
  const { user, system } = process.cpuUsage();
  const times = new Map([[PROCESS, (user + system) / 1e6]]);
  for (const { labels, value } of threads)
    if (labels['worker'] !== '') times.set(`${labels['thread']} ${labels['worker']}`, value);
  return times;
}

function systemInfo(percents: ReadonlyMap<string, number>): SystemInfo {
  const { total, used, available } = machineMemory();
  const [one, five, fifteen] = loadavg() as [number, number, number];
  const workers = [...percents.keys()].flatMap((name) => /^answer (\d+)$/.exec(name)?.[1] ?? []);
  return {
    kernel: `${type()} ${release()}`,
    load_avg_1m: one,
    load_avg_5m: five,
    load_avg_15m: fifteen,
    mem_total_kb: total,
    mem_used_kb: used,
    mem_available_kb: available,
    mem_used_percent: Math.round(percentOf(used, total) * 100) / 100,
    process: {
      rss_kb: Math.round(process.memoryUsage.rss() / 1024),
      cpu_percent: percents.get(PROCESS) ?? 0,
      workers: workers
        .map(Number)
        .toSorted((a, b) => a - b)
        .map((worker) => ({
          worker,
          answer_cpu_percent: percents.get(`answer ${worker}`) ?? 0,
          resolve_cpu_percent: percents.get(`resolve ${worker}`) ?? 0,
        })),
    },
  };
}
