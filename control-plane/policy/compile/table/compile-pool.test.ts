import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { hashName, nameFromText } from '../../../../shared/dns/name.ts';
import { RuleTable } from '../../../../shared/snapshot/rule-table.ts';
import { until } from '../../../../test/support/parts/until.ts';
import { forEachPair } from './attribute-table.ts';
import type { CompileOutcome, ListFile } from './compile-job.ts';
import { CompilePool } from './compile-pool.ts';
import { rulesIdOf, seedsOf } from './compiled-rules.ts';

let folder: string;
let pool: CompilePool;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-compile-'));
  pool = new CompilePool();
});
afterEach(async () => {
  await pool.close();
  rmSync(folder, { recursive: true, force: true });
});

function list(name: string, content: string | Buffer, subdomains = false): ListFile {
  const path = join(folder, name);
  writeFileSync(path, content);
  return { path, reading: { kind: 'block', subdomains } };
}

function lookUp({ table }: CompileOutcome, name: string): string[] | null {
  const rules = new RuleTable(table.rules);
  const hash = { low: 0, high: 0 };
  hashName(nameFromText(name)!, 0, rules.seedLow, rules.seedHigh, hash);
  const attribute = rules.find(hash.low, hash.high);
  const pairs: string[] = [];
  if (attribute >= 0)
    forEachPair(table.attributes, attribute, (source, kinds) => pairs.push(`${source}:${kinds}`));
  return attribute < 0 ? null : pairs;
}

const SEEDS = { low: 11, high: -22 };

function compile(lists: ListFile[], by: CompilePool = pool, stop?: AbortSignal): Promise<CompileOutcome> {
  return by.compile({ lists, seeds: SEEDS, expectedNames: 0 }, stop);
}

describe('CompilePool', () => {
  test('compiles plain and compressed lists into one shared table', async () => {
    const outcome = await compile([
      list('a.gz', gzipSync('# a\na.example\nb.example\n')),
      list('b', '||b.example^\nno rule here\n'),
      list('c', '0.0.0.0 c.example\n', true),
    ]);
    expect(outcome.table.rules).toBeInstanceOf(SharedArrayBuffer);
    expect(outcome.table.nameCount).toBe(3);
    expect(['a.example', 'b.example', 'c.example', 'd.example'].map((name) => lookUp(outcome, name))).toEqual(
      [['0:1'], ['0:1', '1:2'], ['2:2'], null],
    );
    expect(outcome.statistics.map(({ rules, invalidLines }) => [rules, invalidLines])).toEqual([
      [2, 0],
      [1, 1],
      [1, 0],
    ]);
  });

  test('uses the given seeds, and gives each compilation a different ID', async () => {
    const lists = [list('a', 'a.example\n')];
    const outcomes = [await compile(lists), await compile(lists)];
    for (const { table } of outcomes) expect(seedsOf(table.rules)).toEqual(SEEDS);
    expect(new Set(outcomes.map(({ table }) => rulesIdOf(table.rules))).size).toBe(2);
  });

  test('reports a damaged or missing list as an error of that list and compiles the other lists', async () => {
    const torn = list(
      'torn.gz',
      gzipSync(Array.from({ length: 5000 }, (_, index) => `n${index}.example\n`).join('')),
    );
    truncateSync(torn.path, 3000);
    const missing = { ...torn, path: join(folder, 'none') };
    const outcome = await compile([torn, missing, list('ok', 'ok.example\n')]);
    expect(outcome.statistics.map(({ fault }) => fault?.code ?? null)).toEqual([
      'unreadable',
      'unreadable',
      null,
    ]);
    expect(lookUp(outcome, 'ok.example')).toEqual(['2:1']);
  });

  test('inspect() counts the rules of a list without building a table', async () => {
    await expect(pool.inspect(list('a', '<html>'), [])).resolves.toMatchObject({
      statistics: { rules: 0, fault: { code: 'not_a_list' } },
      watched: [],
    });
    await expect(
      pool.inspect(list('b', '||b.example^\n'), ['c.example', 'x.b.example']),
    ).resolves.toMatchObject({
      statistics: { rules: 1, fault: null },
      watched: ['x.b.example'],
    });
  });

  test('changes only the priority of the compile thread', async () => {
    const before = getPriority();
    await pool.inspect(list('a', 'a.example\n'), []);
    expect(getPriority()).toBe(before);
  });

  test('rejects an aborted job, and runs the next job', async () => {
    const stop = new AbortController();
    const big = list('big', 'a.example\n'.repeat(2_000_000));
    const job = compile([big], pool, stop.signal);
    setImmediate(() => stop.abort());
    await expect(job).rejects.toMatchObject({
      name: 'CompileError',
      message: expect.stringMatching(/^could not compile lists: /),
    });
    await expect(pool.inspect(list('a', 'a.example\n'), [])).resolves.toMatchObject({
      statistics: { rules: 1 },
    });
  });

  test('rejects a job that runs out of memory, and the process continues', async () => {
    const small = new CompilePool(16);
    try {
      // Each name is in a different set of lists, and each set needs memory of the heap.
      const lists = Array.from({ length: 18 }, (_, bit) => {
        const names = Array.from({ length: 200_000 }, (_, index) =>
          (index >> bit) & 1 ? `n${index}.example\n` : '',
        );
        return list(`list${bit}`, names.join(''));
      });
      await expect(compile(lists, small)).rejects.toMatchObject({
        name: 'CompileError',
        message: expect.stringMatching(/^could not compile lists: .*memory/),
      });
    } finally {
      await small.close();
    }
    await expect(pool.inspect(list('a', 'a.example\n'), [])).resolves.toMatchObject({
      statistics: { rules: 1 },
    });
  });

  /** A list with a few kilobytes on disk that takes seconds to read, because each name must be converted to ASCII. */
  function slowList(name: string): ListFile {
    const part = gzipSync('\u00e4\u00f6\u00fc\u0416\u0434\u4e2d\u6587.example\n'.repeat(50_000));
    return list(name, Buffer.concat(Array.from({ length: 200 }, () => part)));
  }

  test('rejects a job after its deadline, names the list being compiled, and runs the next job', async () => {
    const quick = new CompilePool(undefined, { baseMs: 600, msPerMib: 0 });
    try {
      const slow = slowList('slow');
      const late = compile([list('a', 'a.example\n'), slow, list('b', 'b.example\n')], quick);
      await expect(late).rejects.toMatchObject({
        name: 'CompileError',
        message: 'could not compile lists: it took longer than 1 s',
        list: 1,
      });
      // The time that a job waits for another job does not count.
      const jobs = [quick.inspect(slow, []), quick.inspect(list('c', 'c.example\n'), [])];
      await expect(jobs[0]).rejects.toMatchObject({ list: 0 });
      await expect(jobs[1]).resolves.toMatchObject({ statistics: { rules: 1 } });
    } finally {
      await quick.close();
    }
  });

  test('counts the time that the thread works, not the time that it waits', async () => {
    const path = join(folder, 'pipe');
    execFileSync('mkfifo', [path]);
    // The list is opened twice; the first time, only two bytes are read, to detect compression. The test keeps a pipe
    // open in both directions, so that it has a reader and a writer all the time and no side hangs or fails.
    const end = await open(path, 'r+');
    jest.useFakeTimers({ doNotFake: ['Date', 'nextTick', 'performance', 'queueMicrotask', 'setImmediate'] });
    try {
      const job = pool.inspect({ ...list('a', ''), path }, []);
      // The text is larger than the buffer of a pipe, so when all of it is written, the list was opened for the second
      // time.
      await end.write(`??a.example\n${'#\n'.repeat(65_536)}`);
      // A job has two timers: one to check its CPU time, one for its deadline.
      const timers = (): number => jest.getTimerCount();
      await until('the job to begin', timers, (count) => count === 2);
      jest.advanceTimersByTime(30_000);
      await until('another check', timers, (count) => count === 2);
      await end.close();
      await expect(job).resolves.toMatchObject({ statistics: { rules: 1, fault: null } });
    } finally {
      jest.useRealTimers();
      await end.close();
    }
  });

  test('gives a job more time for larger lists', async () => {
    const patient = new CompilePool(undefined, { baseMs: 1, msPerMib: 1_000_000 });
    try {
      const large = list('large', 'a.example\n'.repeat(500_000));
      await expect(patient.inspect(large, [])).resolves.toMatchObject({ statistics: { rules: 500_000 } });
    } finally {
      await patient.close();
    }
  });

  test('rejects jobs after close()', async () => {
    await pool.close();
    await expect(compile([])).rejects.toMatchObject({ name: 'CompileError' });
  });
});
