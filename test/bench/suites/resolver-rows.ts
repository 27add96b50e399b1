// The suite `resolver`: parts of the slow path, measured separately: answer cache, validation, faulty upstreams.
import { faultTable, measureAllFaults } from '../../lab/upstream-faults.ts';
import { measureHitRatio } from './hit-ratio.ts';
import type { RowResult, SuiteRow } from './measured-rows.ts';
import { measureValidation } from './validation.ts';

/** The rows of the suite. */
export const RESOLVER_ROWS: readonly SuiteRow[] = [
  {
    name: 'hit-ratio',
    about: 'a cache with space for a tenth of the questions, compared with an LRU',
    run: measureHitRatio,
  },
  { name: 'validation', about: 'secure answers with and without cached keys', run: measureValidation },
  { name: 'upstream-faults', about: 'one faulty upstream of two, by strategy', run: measureFaults },
];

async function measureFaults(): Promise<RowResult> {
  const figures = await measureAllFaults();
  const failures = figures.reduce((sum, row) => sum + row.failures, 0);
  const goals = [
    { what: 'failed questions while one upstream works', measured: failures, unit: '', atMost: 0 },
  ];
  return { table: faultTable(figures), goals, figures };
}
