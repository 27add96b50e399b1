// The suite `scaling`: Weir alone, against itself, as workers, groups, names and cached answers grow, while snapshots
// are swapped and lists compiled, and at rest.
import type { Bench } from '../bench.ts';
import type { Material } from '../material/material.ts';
import type { Goal } from '../report/goal.ts';
import { goalTable } from '../report/goal.ts';
import { measureDisturbances } from './disturbances.ts';
import { measureFootprint } from './footprint.ts';
import { growCache, growGroups, growNames } from './growth.ts';
import { measurePolicyChanges } from './policy-change.ts';
import { growPolicy } from './policy.ts';
import { growWorkers } from './workers.ts';

/** One row of the suite. */
export interface ScalingResult {
  name: string;
  /** The table as it is printed. */
  table: string;
  goals: Goal[];
  /** Everything measured, for `latest.json`. */
  figures: unknown;
}

const ROWS: readonly {
  name: string;
  about: string;
  run: (bench: Bench, material: Material) => Promise<Omit<ScalingResult, 'name'>>;
}[] = [
  { name: 'workers', about: '1, 2 and 4 workers on both cores, saturated', run: growWorkers },
  { name: 'groups', about: '10 to 200 groups', run: growGroups },
  {
    name: 'policy',
    about: '200 groups, 20,000 clients and 10,000 subnets, against one group',
    run: growPolicy,
  },
  {
    name: 'policy-change',
    about: 'changes of that policy at 20,000 questions a second',
    run: measurePolicyChanges,
  },
  { name: 'names', about: 'a tenth of the list to five times as many names', run: growNames },
  { name: 'cache', about: 'few to many cached answers', run: growCache },
  { name: 'footprint', about: 'CPU at rest, and memory', run: measureFootprint },
  { name: 'disturbances', about: 'snapshots swapped and lists compiled meanwhile', run: measureDisturbances },
];

/** Runs the rows that are wanted, one after the other, and prints each. */
export async function runScaling(bench: Bench, material: Material): Promise<ScalingResult[]> {
  const wanted = bench.options.rows;
  const unknown = wanted.filter((name) => !ROWS.some((row) => row.name === name));
  if (unknown.length > 0)
    throw new Error(
      `read --row: no row ${unknown.join(', ')}; there are ${ROWS.map(({ name }) => name).join(', ')}`,
    );
  const results: ScalingResult[] = [];
  for (const { name, about, run } of ROWS.filter((row) => wanted.length === 0 || wanted.includes(row.name))) {
    console.log(`\n${name}: ${about}`);
    const result = { name, ...(await run(bench, material)) };
    console.log(`\n${result.table}\n\n${goalTable(result.goals)}`);
    results.push(result);
  }
  return results;
}
