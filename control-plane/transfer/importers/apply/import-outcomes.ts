/** The result of an import for each item of the file, and its report. */
import { codedAction, codedSubject } from '../../../../shared/policy/changes/change-codes.ts';
import {
  type ImportReason,
  importReason,
  joinReasons,
  plainReason,
} from '../../../../shared/policy/reasons/import-reasons.ts';
import type { CodedChange } from '../../../../shared/policy/changes/change-codes.ts';
import type {
  ImportItem,
  ImportItemKind,
  ImportItemResult,
  ImportQuestion,
  ImportReport,
} from '../../../../shared/api/imports-api.ts';
import type { MergedThing } from '../../backup/merge-items.ts';
import { type ChosenSetting, toImportSetting } from '../choices/chosen-settings.ts';
import { differencesOf, type QueriesByName } from '../choices/differences.ts';
import type { ImportPlan, PlanItem, PlannedKey } from '../plan/import-plan.ts';
import { configurationText, keyText } from './configuration-text.ts';

type Outcome = MergedThing['outcome'];

/** Kinds that have the same action for all of their names. */
const ACTIONS: Readonly<Partial<Record<ImportItemKind, 'allow' | 'deny'>>> = {
  allowlist: 'allow',
  blocklist: 'deny',
  service: 'deny',
};

/** Collects the outcomes of one run. */
export class ImportOutcomes {
  private readonly plan: ImportPlan;
  private readonly settings: readonly ChosenSetting[];
  private readonly rows: PlanItem[];
  private readonly questions: ImportQuestion[] = [];
  private readonly differing = new Set<number>();
  private readonly outcomes = new Map<number, Outcome[]>();
  private readonly refusals = new Map<number, ImportReason[]>();
  private readonly remarks = new Map<number, ImportReason[]>();

  constructor(plan: ImportPlan, settings: readonly ChosenSetting[], same: readonly PlannedKey[]) {
    this.plan = plan;
    this.rows = [...plan.items];
    this.settings = settings;
    for (const { items } of same) this.note(items, 'same');
    for (const setting of settings) this.noteSetting(setting);
  }

  /** Adds an item that is not in the file. */
  add(item: PlanItem): number {
    return this.rows.push(item) - 1;
  }

  /** Adds a question for the user. */
  ask(question: ImportQuestion): void {
    this.questions.push(question);
  }

  /** Records the outcome of an object that was made from these items. */
  note(items: readonly number[], outcome: Outcome): void {
    for (const item of items) push(this.outcomes, item, outcome);
  }

  /** Records that an object cannot be created. */
  refuse(items: readonly number[], reason: ImportReason): void {
    for (const item of items) push(this.refusals, item, reason);
  }

  /** Adds a comment on an object. */
  remark(items: readonly number[], remark: ImportReason): void {
    for (const item of items) push(this.remarks, item, remark);
  }

  /** Description of the revision; null if nothing was created or changed. */
  summary(): CodedChange | null {
    const hasChanged = [...this.outcomes.values()].some((of) => of.some((outcome) => outcome !== 'same'));
    if (!hasChanged) return null;
    const results = this.items().map(({ result }) => result);
    const countOf = (wanted: ImportItemResult): number => results.filter((one) => one === wanted).length;
    const subject = codedSubject('imported_settings', { format: this.plan.format });
    const counts = { created: countOf('done'), changed: countOf('changed') };
    return { subject, action: codedAction('imported', counts) };
  }

  /** The report. */
  report(isDryRun: boolean, revision: number | null, queries: QueriesByName): ImportReport {
    const items = this.items();
    const counts = { done: 0, changed: 0, skipped: 0, not_mapped: 0, differs: 0 };
    for (const { result } of items) counts[result]++;
    const differing = items.flatMap((item, at) =>
      item.result === 'differs' ? [{ ...this.rows[at]!, reason: item.reason }] : [],
    );
    return {
      format: this.plan.format,
      dry_run: isDryRun,
      revision,
      counts,
      items,
      settings: this.settings.map(toImportSetting),
      questions: this.questions,
      differences: differencesOf(differing, queries),
      configuration: configurationText(this.settings.filter(({ isOwn }) => isOwn !== true)),
    };
  }

  private noteSetting(setting: ChosenSetting): void {
    const { items, isSelected, isOwn = false, reason } = setting;
    if (isSelected) {
      this.note(items, 'changed');
      this.remark(items, plainReason(keyText(setting)));
      if (reason !== null) this.remark(items, reason);
    } else if (isOwn) {
      for (const item of items) this.differing.add(item);
      if (reason !== null) this.remark(items, reason);
    } else {
      const refusal = importReason('not_selected', { setting: keyText(setting) });
      this.refuse(items, reason === null ? refusal : joinReasons(refusal, reason));
    }
  }

  /** Items in the order of the file. */
  private items(): ImportItem[] {
    return this.rows.map(({ kind, name, result, reason, action = null }, index) => {
      const refusals = this.refusals.get(index) ?? [];
      const outcome = result ?? this.resultOf(index);
      const already = result === null && outcome === 'skipped' ? [importReason('already_there')] : [];
      const reasons = [reason, ...already, ...refusals, ...(this.remarks.get(index) ?? [])];
      const texts = [...new Set(reasons.flatMap((one) => (one === null || one.length === 0 ? [] : [one])))];
      return {
        kind,
        name,
        action: action ?? ACTIONS[kind] ?? null,
        result: outcome,
        reason: texts.length === 0 ? null : joinReasons(...texts),
      };
    });
  }

  private resultOf(index: number): ImportItemResult {
    const outcomes = this.outcomes.get(index) ?? [];
    if (this.differing.has(index)) return 'differs';
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
