import { describe, expect, test } from '@jest/globals';
import { readMemorySplit } from './memory.ts';
import { cpuBetween, parseStat, processTree, readCpu, readMemory } from './proc-tree.ts';

const STAT =
  '4242 (a (odd) name) S 17 4242 4242 0 -1 4194304 1000 50 0 0 120 30 7 5 20 0 11 0 99 1000000 2560 18446744073709551615';

describe('CPU and memory of process trees', () => {
  test('parseStat() accepts spaces and parentheses in the process name', () => {
    expect(parseStat(STAT)).toEqual({
      pid: 4242,
      comm: 'a (odd) name',
      ppid: 17,
      reapedTicks: 12,
      rssBytes: 2560 * 4096,
    });
  });

  test('cpuBetween() splits threads into groups and reports children separately', () => {
    const thread = (pid: number, tid: number, comm: string, cpuNs: number) => ({ pid, tid, comm, cpuNs });
    const before = {
      rootPid: 1,
      reapedTicks: 0,
      threads: [thread(1, 1, 'main', 100), thread(1, 2, 'answer-0', 50)],
    };
    const after = {
      rootPid: 1,
      reapedTicks: 0,
      threads: [
        thread(1, 1, 'main', 130),
        thread(1, 2, 'answer-0', 1050),
        thread(1, 3, 'answer-1', 500),
        thread(9, 9, 'postgres', 70),
      ],
    };
    const groupOf = (comm: string): string => (comm.startsWith('answer') ? 'workers' : 'other');
    expect(cpuBetween(before, after, groupOf)).toEqual({
      totalNs: 30 + 1000 + 500 + 70,
      childrenNs: 70,
      groupsNs: { other: 30, workers: 1500 },
    });
  });

  test('cpuBetween() counts only the CPU time of an ended child process since the first measurement', () => {
    const before = {
      rootPid: 1,
      reapedTicks: 3,
      threads: [{ pid: 8, tid: 8, comm: 'postgres', cpuNs: 5_000_000 }],
    };
    const after = { rootPid: 1, reapedTicks: 5, threads: [] };
    expect(cpuBetween(before, after, () => 'all')).toEqual({
      totalNs: 15_000_000,
      childrenNs: 15_000_000,
      groupsNs: {},
    });
  });

  test('readCpu() and readMemory() return values of the current process', () => {
    expect(processTree(process.pid)[0]?.pid).toBe(process.pid);
    const { threads } = readCpu(process.pid);
    expect(threads.some(({ tid, cpuNs }) => tid === process.pid && cpuNs > 0)).toBe(true);
    expect(readMemory(process.pid).ownBytes).toBeGreaterThan(2 ** 20);
    const { rss, anonymous, file, shared } = readMemorySplit(process.pid);
    expect(anonymous).toBeGreaterThan(1);
    expect(rss).toBeCloseTo(anonymous + file + shared, 0);
  });
});
