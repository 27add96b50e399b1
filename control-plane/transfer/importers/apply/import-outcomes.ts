/** The result of an import for each item of the file, and its report. */
import type { ImportItem, ImportItemResult, ImportReport } from '../../../../shared/api/imports-api.ts';
import type { MergedThing } from '../../backup/merge-items.ts';
import type { ImportPlan } from '../plan/import-plan.ts';
import { configurationText } from './configuration-text.ts';

type Outcome = MergedThing['outcome'];

/** Collects the outcomes of one run. */
export class ImportOutcomes {
  private readonly plan: ImportPlan;
  private readonly outcomes = new Map<number, Outcome[]>();
  private readonly refusals = new Map<number, string[]>();
  private readonly remarks = new Map<number, string[]>();

  constructor(plan: ImportPlan) {
    this.plan = plan;
  }

  /** Notes what happened to a thing that is made of these items. */
  note(items: readonly number[], outcome: Outcome): void {
    for (const item of items) push(this.outcomes, item, outcome);
  }

  /** Notes that a thing cannot be made. */
  refuse(items: readonly number[], reason: string): void {
    for (const item of items) push(this.refusals, item, reason);
  }

  /** Notes something to know about a thing. */
  remark(items: readonly number[], remark: string): void {
    for (const item of items) push(this.remarks, item, remark);
  }

  /** One line for the revision; null if nothing was made or changed. */
  summary(): string | null {
    const hasChanged = [...this.outcomes.values()].some((of) => of.some((outcome) => outcome !== 'same'));
    if (!hasChanged) return null;
    const { counts } = this.report(false, null);
    return `settings of ${this.plan.format}: imported, ${counts.done} new, ${counts.changed} changed`;
  }

  /** The report. */
  report(isDryRun: boolean, revision: number | null): ImportReport {
    const items = this.items();
    const counts = { done: 0, changed: 0, skipped: 0, not_mapped: 0, differs: 0 };
    for (const { result } of items) counts[result]++;
    const { format, keys } = this.plan;
    return { format, dry_run: isDryRun, revision, counts, items, configuration: configurationText(keys) };
  }

  /** In the order of the file. */
  private items(): ImportItem[] {
    return this.plan.items.map(({ kind, name, result, reason }, index) => {
      const refusals = this.refusals.get(index) ?? [];
      const outcome = result ?? this.resultOf(index);
      const isThere = result === null && outcome === 'skipped' ? ['Weir has it already'] : [];
      const reasons = [reason, ...isThere, ...refusals, ...(this.remarks.get(index) ?? [])];
      const texts = [...new Set(reasons.filter((one) => one !== null))];
      return { kind, name, result: outcome, reason: texts.length === 0 ? null : texts.join('; ') };
    });
  }

  private resultOf(index: number): ImportItemResult {
    const outcomes = this.outcomes.get(index) ?? [];
    if (outcomes.includes('created')) return 'done';
    if (outcomes.includes('changed')) return 'changed';
    return outcomes.length === 0 ? 'not_mapped' : 'skipped';
  }
}

function push<T>(lists: Map<number, T[]>, key: number, value: T): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}
