/**
 * Rules that Weir has in lists only, such as those for some types of questions: one list for each set of groups. Pure.
 */
import type { PlanBuilder } from './plan-builder.ts';

interface CollectedList {
  readonly groups: readonly string[] | null;
  readonly lines: string[];
  readonly items: Set<number>;
}

/** Collects lines by the groups that they are for. */
export class GeneratedLists {
  private readonly builder: PlanBuilder;
  private readonly title: string;
  private readonly stem: string;
  private readonly byGroups = new Map<string, CollectedList>();

  /** `title` begins the names of the lists, `stem` those of their files. */
  constructor(builder: PlanBuilder, title: string, stem: string) {
    this.builder = builder;
    this.title = title;
    this.stem = stem;
  }

  /** Adds a rule; one that is off is kept as a comment. */
  add(line: string, groups: readonly string[] | null, item: number, isEnabled = true): void {
    const sorted = groups === null ? null : [...groups].sort();
    const key = JSON.stringify(sorted);
    const list = this.byGroups.get(key) ?? { groups: sorted, lines: [], items: new Set() };
    this.byGroups.set(key, list);
    list.lines.push(isEnabled ? line : `! ${line}`);
    list.items.add(item);
  }

  /** Adds the lists to the plan. */
  finish(): void {
    for (const [index, { groups, lines, items }] of [...this.byGroups.values()].entries()) {
      const number = this.byGroups.size === 1 ? '' : ` ${index + 1}`;
      const name = `${this.title}${number}`;
      const fileName = `${this.stem}${number.replace(' ', '-')}.txt`;
      const text = `! ${name}\n${lines.join('\n')}\n`;
      this.builder.list({ kind: 'block', fileName, text, name, enabled: true, subdomains: false, groups }, [
        ...items,
      ]);
    }
  }
}
