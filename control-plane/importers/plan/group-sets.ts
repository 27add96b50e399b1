/**
 * Clients of several groups. A client of Weir has one group, so each distinct set of groups that clients have becomes a
 * group of its own, which gets the rules of all of them. A client without any gets a group without rules. Pure.
 */
import { DEFAULT_GROUP } from './import-plan.ts';
import type { PlanBuilder } from './plan-builder.ts';

/** Groups of the other program, by its own keys. */
export class GroupSets<Key> {
  private readonly builder: PlanBuilder;
  private readonly unfilteredName: string;
  /** Names in Weir of the groups that count. */
  private readonly names = new Map<Key, string>();
  /** Names in Weir of groups that are switched off: their members are elsewhere, but their rules are kept. */
  private readonly idle = new Map<Key, string>();
  private readonly sets = new Map<string, { readonly keys: ReadonlySet<Key>; readonly name: string }>();

  constructor(builder: PlanBuilder, unfilteredName: string) {
    this.builder = builder;
    this.unfilteredName = unfilteredName;
  }

  /** Makes a group known under its name in Weir. */
  add(key: Key, name: string, isEnabled: boolean): void {
    (isEnabled ? this.names : this.idle).set(key, name);
  }

  /** The group for a client of these groups; makes it if need be. */
  groupOf(keys: readonly Key[]): string {
    const known = [...new Set(keys)].filter((key) => this.names.has(key));
    if (known.length === 1) return this.names.get(known[0]!)!;
    const named = known.map((key) => this.names.get(key)!).sort();
    const id = JSON.stringify(named);
    const before = this.sets.get(id);
    if (before !== undefined) return before.name;
    const name = this.make(named);
    this.sets.set(id, { keys: new Set(known), name });
    return name;
  }

  /** The groups in Weir that a rule of these groups is for. */
  groupsOf(keys: readonly Key[]): string[] {
    const own = keys.flatMap((key) => this.names.get(key) ?? this.idle.get(key) ?? []);
    const sets = [...this.sets.values()].filter((set) => keys.some((key) => set.keys.has(key)));
    return [...new Set([...own, ...sets.map(({ name }) => name)])];
  }

  private make(named: readonly string[]): string {
    const shown = named.map((name) => (name === DEFAULT_GROUP ? 'Default' : name));
    const joined = named.length === 0 ? this.unfilteredName : shown.join(' + ');
    const reason =
      named.length === 0
        ? 'made for clients without an enabled group, which are not filtered'
        : `made for clients of ${shown.length} groups, as a client has one group in Weir`;
    const item = this.builder.item('group', joined, reason);
    return this.builder.group(joined, { enabled: true, comment: reason }, item);
  }
}
