/**
 * Users' rules that must stay together in their order, or that only lists can contain, such as those for some query
 * types: they become custom rules, one text for each set of groups. Pure.
 */
import { TEXT_URL } from '../../../../shared/policy/source-kind.ts';
import type { PlanBuilder } from './plan-builder.ts';
import { actionOfRule } from './plan-text.ts';

interface CollectedList {
  readonly groups: readonly string[] | null;
  readonly lines: string[];
  readonly items: Set<number>;
}

/** Collects lines by the groups to which they apply. */
export class GeneratedLists {
  private readonly builder: PlanBuilder;
  private readonly title: string;
  private readonly stem: string;
  private readonly byGroups = new Map<string, CollectedList>();

  /** `title` begins the names of the lists; `stem` identifies them for the next import. */
  constructor(builder: PlanBuilder, title: string, stem: string) {
    this.builder = builder;
    this.title = title;
    this.stem = stem;
  }

  /** Adds a rule; a disabled one is kept as a comment. */
  add(line: string, groups: readonly string[] | null, item: number, isEnabled = true): void {
    const sorted = groups === null ? null : [...groups].sort();
    const key = JSON.stringify(sorted);
    const list = this.byGroups.get(key) ?? { groups: sorted, lines: [], items: new Set() };
    this.byGroups.set(key, list);
    list.lines.push(isEnabled ? line : `! ${line}`);
    list.items.add(item);
    this.builder.acts(item, actionOfRule(line));
  }

  /** Adds the lists to the plan. */
  finish(): void {
    for (const [index, { groups, lines, items }] of [...this.byGroups.values()].entries()) {
      const number = this.byGroups.size === 1 ? '' : ` ${index + 1}`;
      const name = `${this.title}${number}`;
      const text = `! ${name}\n${lines.join('\n')}\n`;
      const url = `${TEXT_URL}${this.stem}${number.replace(' ', '-')}`;
      this.builder.customRules({ kind: 'block', url, text, name, groups, enabled: true, subdomains: false }, [
        ...items,
      ]);
    }
  }
}
