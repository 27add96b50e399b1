// The suite `resolver`: the parts of the slow way by themselves: the answer cache, validation, upstreams at fault.
import { faultTable, measureAllFaults } from '../../lab/upstream-faults.ts';
import { measureHitRatio } from './hit-ratio.ts';
import type { RowResult, SuiteRow } from './measured-rows.ts';
import { measureValidation } from './validation.ts';

/** The rows of the suite. */
export const RESOLVER_ROWS: readonly SuiteRow[] = [
  {
    name: 'hit-ratio',
    about: 'a cache with room for a tenth of the questions, beside an LRU',
    run: measureHitRatio,
  },
  { name: 'validation', about: 'secure answers with keys at hand and without', run: measureValidation },
  { name: 'upstream-faults', about: 'one upstream of two at fault, by strategy', run: measureFaults },
];

async function measureFaults(): Promise<RowResult> {
  const figures = await measureAllFaults();
  const failures = figures.reduce((sum, row) => sum + row.failures, 0);
  const goals = [
    { what: 'questions failed while one upstream is good', measured: failures, unit: '', atMost: 0 },
  ];
  return { table: faultTable(figures), goals, figures };
}
