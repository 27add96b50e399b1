// The workload `cached-mix` for the scaling rows, with another name and another number of queries in flight.
import type { Bench } from '../bench.ts';
import type { Material } from '../material/material.ts';
import type { PreparedWorkload } from '../prepared-workload.ts';
import { prepareWorkload } from '../prepared-workload.ts';
import type { Workload } from '../workload.ts';
import { readWorkloads } from '../workload.ts';

const BASE = 'cached-mix';

/** The mix, taken from `material`, at saturation unless `load` has a rate. */
export function saturatedMix(
  bench: Bench,
  material: Material,
  name: string,
  load: Partial<Workload['load']> = {},
  questions?: Workload['questions'],
): PreparedWorkload {
  const base = readWorkloads().find((workload) => workload.name === BASE)!;
  const workload: Workload = {
    ...base,
    name,
    load: { ...base.load, ...load },
    questions: questions ?? base.questions,
  };
  return prepareWorkload(workload, material, bench.options.seed, bench.dir, bench.options.secs);
}
