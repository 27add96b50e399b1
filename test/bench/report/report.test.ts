import { describe, expect, test } from '@jest/globals';
import type { Run } from './figures.ts';
import { goalTable, isMet } from './goal.ts';
import { peerGoals } from './peer-goals.ts';
import { median, medianRows, ratioRows } from './figures.ts';
import { alignColumns, figureTable, ratioTable } from './table.ts';

function run(server: string, rotation: number, qps: number, cpuUs: number, more: Partial<Run> = {}): Run {
  return {
    server,
    rotation,
    qps,
    sent: 1000,
    answered: 999,
    lost: 1,
    rcodes: { '0': 999 },
    cpuUs,
    childrenCpuUs: 0,
    threadGroupsCpuUs: { all: cpuUs },
    upstreamQuestions: 10,
    rssMiB: 50,
    childrenRssMiB: 0,
    ...more,
  };
}

const RUNS = [
  run('weir', 0, 300, 3, { threadGroupsCpuUs: { workers: 2, other: 1 } }),
  run('peer', 0, 100, 6),
  run('weir', 1, 200, 4, { threadGroupsCpuUs: { workers: 3, other: 1 } }),
  run('peer', 1, 100, 4),
  run('weir', 2, 220, 5, { threadGroupsCpuUs: { workers: 4, other: 1 } }),
  run('peer', 2, 110, 10),
];
const LOAD_SECS = new Map([
  ['weir', 1.5],
  ['peer', 2.5],
  ['failed', 1],
]);

describe('measured figures', () => {
  test('median() returns the middle value, or the mean of the two middle values', () => {
    expect(median([3, 1, 2])).toBe(2);
    expect(median([4, 1, 3, 2])).toBe(2.5);
    expect(median([])).toBeNaN();
  });

  test('medianRows() has a row per measured server, and the sum of the lost queries', () => {
    const rows = medianRows(RUNS, LOAD_SECS);
    expect(rows.map(({ server }) => server)).toEqual(['weir', 'peer']);
    expect(rows[0]).toMatchObject({
      runs: 3,
      qps: 220,
      cpuUs: 4,
      workersCpuUs: 3,
      lost: 3,
      missShare: 0.01,
      loadSecs: 1.5,
    });
    expect(rows[1]!.workersCpuUs).toBeUndefined();
    expect(rows[1]!.p50Us).toBeUndefined();
  });

  test('ratioRows() computes ratios within each rotation of servers, then their median', () => {
    const [ratios, ...others] = ratioRows(RUNS, 'weir', ['weir', 'peer']);
    expect(others).toEqual([]);
    expect(ratios).toMatchObject({ server: 'peer', qps: 2, cpu: 0.5, p50: undefined });
    expect(ratios!.workersCpu).toBeCloseTo(0.4);
  });

  test('ratioRows() is empty if the baseline was not measured', () => {
    expect(ratioRows(RUNS, 'absent', ['weir', 'peer'])).toEqual([]);
  });
});

describe('performance goals', () => {
  test('isMet() compares a value with its limit, and is undefined without a measurement', () => {
    const goal = { what: 'x', unit: '', atMost: 2 };
    expect(isMet({ ...goal, measured: 2 })).toBe(true);
    expect(isMet({ ...goal, measured: 2.01 })).toBe(false);
    expect(isMet({ what: 'x', unit: '', atLeast: 1.6, measured: 1.5 })).toBe(false);
    expect(isMet({ ...goal, measured: undefined })).toBeUndefined();
    expect(isMet({ ...goal, measured: NaN })).toBeUndefined();
  });

  test('goalTable() has measured value, limit and result in one line', () => {
    const lines = goalTable([
      { what: 'ratio', measured: 0.617, unit: '', atMost: 0.6 },
      { what: 'memory', measured: 100, unit: 'MiB', atMost: 120 },
      { what: 'rate', measured: undefined, unit: '', atLeast: 1.6 },
    ]).split('\n');
    expect(lines[1]).toMatch(/^ratio +0\.617 +at most 0\.600 +NOT MET$/);
    expect(lines[2]).toMatch(/^memory +100 MiB +at most 120 MiB +met$/);
    expect(lines[3]).toMatch(/^rate +- +at least 1\.60 +-$/);
  });

  test('peerGoals() compares the workers and all processes with each other server within a rotation', () => {
    const runs = RUNS.map((each) => ({ ...each, server: each.server === 'peer' ? 'unbound' : each.server }));
    const goals = peerGoals('cached-mix', runs);
    const measured = (what: string): number | undefined =>
      goals.find((goal) => goal.what.startsWith(what))?.measured;
    expect(measured('saturated: CPU of the workers / unbound')).toBeCloseTo(0.4);
    expect(measured('saturated: CPU of all processes, log stored / unbound')).toBe(0.5);
    expect(measured('saturated: q/s / unbound')).toBe(2);
    expect(measured('saturated: CPU of the workers / dnsdist')).toBeUndefined();
    expect(peerGoals('uncached', runs)).toEqual([]);
    expect(
      peerGoals(
        'cached-mix',
        RUNS.filter(({ server }) => server === 'peer'),
      ),
    ).toEqual([]);
  });

  test('peerGoals() adds up the lost queries at an ordinary rate', () => {
    const runs = [0, 1].map((rotation) => run('weir', rotation, 20_000, 9, { lost: rotation, logLost: 3 }));
    const goals = peerGoals('cached-mix-20k', runs);
    expect(goals.find(({ what }) => what.includes('answers lost'))).toMatchObject({ measured: 1, atMost: 0 });
    expect(goals.find(({ what }) => what.includes('stored log'))).toMatchObject({ measured: 6, atMost: 0 });
  });
});

describe('tables of a benchmark report', () => {
  test('figureTable() shows columns for workers and child processes only if there are any', () => {
    const rows = medianRows(RUNS, LOAD_SECS);
    expect(figureTable(rows)).toContain('workers us/q');
    expect(figureTable(rows)).not.toContain('children');
    expect(figureTable(rows.slice(1))).not.toContain('workers');
    const withDatabase = rows.map((row) => ({ ...row, childrenCpuUs: 2, childrenRssMiB: 30 }));
    expect(figureTable(withDatabase)).toContain('children us/q');
  });

  test('ratioTable() names the baseline and marks missing values', () => {
    const lines = ratioTable('weir', ratioRows(RUNS, 'weir', ['weir', 'peer'])).split('\n');
    expect(lines[0]).toMatch(/^weir \/ +q\/s +cpu +workers cpu +p50 +p99$/);
    expect(lines[1]).toMatch(/^peer +2\.00 +0\.50 +0\.40 +- +-$/);
  });

  test('alignColumns() aligns the first column left and the other columns right', () => {
    expect(
      alignColumns([
        ['a', 'long'],
        ['abc', '1'],
      ]),
    ).toBe('a    long\nabc     1');
  });
});
