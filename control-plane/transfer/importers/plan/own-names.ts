/** Names that users denied or allowed: managed domains, or rules of a generated list if there are thousands. Pure. */
import { itemName } from '../../../../shared/policy/reasons/item-names.ts';
import { importReason } from '../../../../shared/policy/reasons/import-reasons.ts';
import type { GeneratedLists } from './generated-lists.ts';
import type { PlanBuilder } from './plan-builder.ts';

/** A name; with a leading `*.`, it also covers all names below. */
export interface OwnName {
  readonly name: string;
  readonly action: 'allow' | 'deny';
  readonly groups: readonly string[] | null;
  readonly enabled?: boolean;
}

/**
 * Maximum number of managed domains that an import creates from such names, because users read and edit managed domains
 * one by one.
 */
const MAX_MANAGED = 2000;

/** Collects names. */
export class OwnNames {
  private readonly builder: PlanBuilder;
  private readonly lists: GeneratedLists;
  private readonly names: OwnName[] = [];

  constructor(builder: PlanBuilder, lists: GeneratedLists) {
    this.builder = builder;
    this.lists = lists;
  }

  add(name: OwnName): void {
    this.names.push(name);
  }

  /** Adds the names to the plan, before the generated lists are finished. */
  finish(): void {
    if (this.names.length > MAX_MANAGED) return this.addToList();
    for (const { name, action, groups, enabled = true } of this.names) {
      const item = this.builder.item('managed_domain', action === 'allow' ? `${name} (allowed)` : name);
      this.builder.rule({ table: 'managed_domains', text: name, action, groups, comment: '', enabled }, item);
    }
  }

  private addToList(): void {
    const remark = importReason('many_names', { count: MAX_MANAGED });
    const item = this.builder.item('list_rule', itemName('name_count', { count: this.names.length }), remark);
    for (const { name, action, groups, enabled = true } of this.names) {
      const place = name.startsWith('*.') ? `||${name.slice(2)}^` : `|${name}^`;
      this.lists.add(action === 'allow' ? `@@${place}` : place, groups, item, enabled);
    }
  }
}
