import { describe, expect, test } from '@jest/globals';
import { parseWorkload, readWorkloads } from './workload.ts';

describe('workloads of a benchmark', () => {
  test('readWorkloads() finds the workloads of the repository, each named after its file', () => {
    const names = readWorkloads().map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['cached-mix', 'cached-mix-20k', 'uncached']));
    expect(new Set(names).size).toBe(names.length);
  });

  test('parseWorkload() reports the file and the invalid key', () => {
    const [workload] = readWorkloads();
    const text = JSON.stringify({ ...workload, settleMs: -1 });
    expect(() => parseWorkload(text, 'bad.json')).toThrow(/bad\.json[^]*settleMs/);
    expect(() => parseWorkload(JSON.stringify({ ...workload, extra: 1 }), 'bad.json')).toThrow(/extra/);
  });
});
