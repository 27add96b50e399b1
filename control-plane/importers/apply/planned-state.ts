/** What the tables hold before and during an import, and what becomes of each item. */
import type { ImportItem, ImportItemResult } from '../../../shared/api/imports-api.ts';
import { DEFAULT_GROUP_ID } from '../../../shared/api/policy/groups-api.ts';
import type { Queryable } from '../../db/database.ts';
import { DEFAULT_GROUP, type ImportPlan } from '../plan/import-plan.ts';

/** What happened to one entity; null = Weir had it already. */
export type Outcome = 'done' | 'changed' | null;

/** One run of an import in its transaction. */
export class ImportRun {
  readonly tx: Queryable;
  readonly plan: ImportPlan;
  /** Ids by lower-case name. */
  readonly groupIds = new Map<string, number>([[DEFAULT_GROUP, DEFAULT_GROUP_ID]]);
  private readonly outcomes = new Map<number, Outcome[]>();
  private readonly refusals = new Map<number, string[]>();
  private readonly remarks = new Map<number, string[]>();

  constructor(tx: Queryable, plan: ImportPlan) {
    this.tx = tx;
    this.plan = plan;
  }

  /** Notes what happened to an entity. */
  note({ items }: { readonly items: readonly number[] }, outcome: Outcome): void {
    for (const item of items) push(this.outcomes, item, outcome);
  }

  /** Notes that an entity cannot be made. */
  refuse({ items }: { readonly items: readonly number[] }, reason: string): void {
    for (const item of items) push(this.refusals, item, reason);
  }

  /** Notes something to know about an entity. */
  remark({ items }: { readonly items: readonly number[] }, remark: string): void {
    for (const item of items) push(this.remarks, item, remark);
  }

  /** Id of a group of the plan. */
  groupId(name: string): number {
    const id = this.groupIds.get(name.toLowerCase());
    if (id === undefined) throw new Error(`import: the plan has no group ${name}`);
    return id;
  }

  /** Ids of groups, in order; null = every group. */
  groupIdsOf(names: readonly string[] | null): number[] {
    return [...new Set((names ?? []).map((name) => this.groupId(name)))].sort((a, b) => a - b);
  }

  /** Whether anything was made or changed. */
  hasChanged(): boolean {
    return [...this.outcomes.values()].some((outcomes) => outcomes.some((outcome) => outcome !== null));
  }

  /** The report's items, in the order of the file. */
  items(): ImportItem[] {
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
    if (outcomes.includes('done')) return 'done';
    if (outcomes.includes('changed')) return 'changed';
    return outcomes.length === 0 ? 'not_mapped' : 'skipped';
  }
}

function push<T>(lists: Map<number, T[]>, key: number, value: T): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}
