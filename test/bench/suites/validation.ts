// Cost of DNSSEC validation compared with other servers: runs `npm run bench -- validation` as a row of the suite.
import { measureSecureAnswers, missingTools } from '../../lab/dnssec/secure-answers.ts';
import { alignColumns } from '../report/table.ts';
import type { RowResult } from './measured-rows.ts';

/** Runs the row; reports if the servers and tools of the lab are missing. */
export async function measureValidation(): Promise<RowResult> {
  const missing = missingTools();
  if (missing !== null) return { table: `not measured: ${missing}`, goals: [], figures: null };
  const figures = await measureSecureAnswers();
  const lines = figures.map((row) => [
    row.server,
    row.keys,
    `${row.secure} of ${row.asked}`,
    row.perCpuSecond.toFixed(0),
    row.ofUnbound.map((ratio) => ratio.toFixed(2)).join(' / '),
    row.perSecond.toFixed(0),
  ]);
  const table = alignColumns([
    ['server', 'keys', 'secure', 'per CPU second', 'of unbound', 'per second'],
    ...lines,
  ]);
  const wrong = figures.reduce((sum, { asked, secure }) => sum + asked - secure, 0);
  return {
    table,
    goals: [{ what: 'signed answers not secure', measured: wrong, unit: '', atMost: 0 }],
    figures,
  };
}
