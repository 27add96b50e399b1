// CPU time and resident memory of a process, its threads and its children, from /proc. Threads are counted in
// nanoseconds (schedstat). Children that ended between two readings are counted through their parent, in ticks of 10
// ms. A thread that ended between two readings is lost, so threads are compared only over short runs.
import { readdirSync, readFileSync } from 'node:fs';

const TICK_NS = 10_000_000;
const PAGE_BYTES = 4096;

/** The fields of /proc/<pid>/stat that are used. */
export interface ProcessStat {
  pid: number;
  comm: string;
  ppid: number;
  /** CPU time of ended and reaped children, user and system. */
  reapedTicks: number;
  rssBytes: number;
}

export interface ThreadCpu {
  pid: number;
  tid: number;
  comm: string;
  cpuNs: number;
}

/** A reading of a process and all its descendants. */
export interface CpuReading {
  rootPid: number;
  threads: ThreadCpu[];
  reapedTicks: number;
}

/** CPU time between two readings, in nanoseconds. */
export interface CpuSpent {
  totalNs: number;
  /** CPU time of the descendants of the root, including ended descendants. */
  childrenNs: number;
  /** CPU time of the root's threads, by thread group. */
  groupsNs: Record<string, number>;
}

/** Parses /proc/<pid>/stat, in which the name may contain spaces and parentheses. */
export function parseStat(text: string): ProcessStat {
  const open = text.indexOf('(');
  const close = text.lastIndexOf(')');
  const fields = text.slice(close + 2).split(' ');
  const field = (number: number): number => Number(fields[number - 3]); // Numbered as in proc(5).
  return {
    pid: Number(text.slice(0, open)),
    comm: text.slice(open + 1, close),
    ppid: field(4),
    reapedTicks: field(16) + field(17),
    rssBytes: field(24) * PAGE_BYTES,
  };
}

/** The root and all its descendants. */
export function processTree(rootPid: number): ProcessStat[] {
  const all = readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .flatMap((entry) => read(`/proc/${entry}/stat`).map(parseStat));
  const tree = all.filter(({ pid }) => pid === rootPid);
  for (const parent of tree) tree.push(...all.filter(({ ppid }) => ppid === parent.pid));
  return tree;
}

/** Reads the CPU time of a process and all its descendants. */
export function readCpu(rootPid: number): CpuReading {
  const tree = processTree(rootPid);
  const threads = tree.flatMap(({ pid }) =>
    entries(`/proc/${pid}/task`).flatMap((entry) => {
      const task = `/proc/${pid}/task/${entry}`;
      const [schedstat] = read(`${task}/schedstat`);
      const [comm] = read(`${task}/comm`);
      if (schedstat === undefined || comm === undefined) return [];
      return [{ pid, tid: Number(entry), comm: comm.trimEnd(), cpuNs: Number(schedstat.split(' ')[0]) }];
    }),
  );
  return { rootPid, threads, reapedTicks: tree.reduce((sum, { reapedTicks }) => sum + reapedTicks, 0) };
}

/** CPU time used from `before` to `after`; `groupOf` maps the name of a thread of the root to its group. */
export function cpuBetween(
  before: CpuReading,
  after: CpuReading,
  groupOf: (comm: string) => string,
): CpuSpent {
  const earlier = new Map(before.threads.map(({ tid, cpuNs }) => [tid, cpuNs]));
  const spent: CpuSpent = { totalNs: 0, childrenNs: 0, groupsNs: {} };
  for (const { pid, tid, comm, cpuNs } of after.threads) {
    const ns = cpuNs - (earlier.get(tid) ?? 0);
    spent.totalNs += ns;
    if (pid === after.rootPid) {
      const group = groupOf(comm);
      spent.groupsNs[group] = (spent.groupsNs[group] ?? 0) + ns;
    } else spent.childrenNs += ns;
  }
  // A parent inherits the whole CPU time of an ended child, so the time that the child had already used at `before` is
  // subtracted.
  const reapedNs = Math.max(0, after.reapedTicks - before.reapedTicks) * TICK_NS - endedNs(before, after);
  spent.childrenNs += Math.max(0, reapedNs);
  spent.totalNs += Math.max(0, reapedNs);
  return spent;
}

/** CPU time, up to `before`, of the processes that ended between the two readings. */
function endedNs(before: CpuReading, after: CpuReading): number {
  const alive = new Set(after.threads.map(({ pid }) => pid));
  return before.threads.reduce((sum, { pid, cpuNs }) => sum + (alive.has(pid) ? 0 : cpuNs), 0);
}

/** Resident memory in bytes: the process itself, and all its descendants (shared pages count in each). */
export function readMemory(rootPid: number): { ownBytes: number; childrenBytes: number } {
  let ownBytes = 0;
  let childrenBytes = 0;
  for (const { pid, rssBytes } of processTree(rootPid)) {
    if (pid === rootPid) ownBytes = rssBytes;
    else childrenBytes += rssBytes;
  }
  return { ownBytes, childrenBytes };
}

/** The lines of a file; empty if the process or thread has ended. */
function read(file: string): string[] {
  try {
    return [readFileSync(file, 'utf8')];
  } catch {
    return [];
  }
}

function entries(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // The process or thread has ended.
  }
}
