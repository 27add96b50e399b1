// The suite `scaling`: Weir compared with itself as workers, groups, names and cached answers grow, while snapshots are
// replaced and lists compiled, and when idle.
import { measureColdStart } from './cold-start.ts';
import { measureDisturbances } from './disturbances.ts';
import { measureFootprint } from './footprint.ts';
import { measureHome } from './home.ts';
import { growCache, growGroups, growNames } from './growth.ts';
import { measureLists } from './lists.ts';
import { measurePolicyChanges } from './policy-change.ts';
import { growPolicy } from './policy-row.ts';
import type { SuiteRow } from './measured-rows.ts';
import { growWorkers } from './workers.ts';

/** The rows of the suite. */
export const SCALING_ROWS: readonly SuiteRow[] = [
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
  { name: 'lists', about: 'a large list: memory, start, and rebuilds under load', run: measureLists },
  { name: 'footprint', about: 'CPU at rest, and memory', run: measureFootprint },
  {
    name: 'cold-start',
    about: 'from a start to the first answer, on an existing data directory',
    run: measureColdStart,
  },
  { name: 'home', about: 'memory and CPU of a home node after ten minutes', run: measureHome },
  {
    name: 'disturbances',
    about: 'snapshots swapped and lists compiled under load',
    run: measureDisturbances,
  },
];
