/** What an import tells of itself. Pure. */
import type { ImportReport } from '../../../shared/api/imports-api.ts';
import { configurationText } from './configuration-text.ts';
import type { ImportRun } from './planned-state.ts';

/** One line for the revision. */
export function summaryOf(run: ImportRun): string {
  const { counts } = reportOf(run, false, null);
  return `settings of ${run.plan.format}: imported, ${counts.done} new, ${counts.changed} changed`;
}

/** The answer. */
export function reportOf(run: ImportRun, isDryRun: boolean, revision: number | null): ImportReport {
  const items = run.items();
  const counts = { done: 0, changed: 0, skipped: 0, not_mapped: 0 };
  for (const { result } of items) counts[result]++;
  const configuration = configurationText(run.plan.keys);
  return { format: run.plan.format, dry_run: isDryRun, revision, counts, items, configuration };
}
