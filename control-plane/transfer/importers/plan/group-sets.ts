/**
 * Clients with several groups. In Weir a client has one group, so each distinct set of groups becomes one group, which
 * gets the rules of all groups in the set. A client without groups gets a group without rules. Pure.
 */
import { importReason } from '../../../../shared/policy/reasons/import-reasons.ts';
import { DEFAULT_GROUP } from './import-plan.ts';
import type { PlanBuilder } from './plan-builder.ts';

interface GroupSet<Key> {
  readonly keys: ReadonlySet<Key>;
  /** Name of the group in Weir. */
  readonly name: string;
}

/** The groups of the other program, by its own keys. */
export class GroupSets<Key> {
  private readonly builder: PlanBuilder;
  private readonly unfilteredName: string;
  /** Labels of enabled groups, used in the names of sets. */
  private readonly labels = new Map<Key, string>();
  /** Names in Weir of groups that become one group each, including disabled groups. */
  private readonly own = new Map<Key, string>();
  private readonly sets = new Map<string, GroupSet<Key>>();

  constructor(builder: PlanBuilder, unfilteredName: string) {
    this.builder = builder;
    this.unfilteredName = unfilteredName;
  }

  /** Registers a group that is called `name` in Weir. A disabled group keeps its rules, but not its clients. */
  add(key: Key, name: string, isEnabled: boolean): void {
    this.own.set(key, name);
    if (!isEnabled) return;
    this.label(key, name);
    this.assign([key], name);
  }

  /** Registers a group that becomes a group of Weir only if it has clients. */
  label(key: Key, label: string): void {
    this.labels.set(key, label);
  }

  /** Assigns clients of these groups to a group of Weir. */
  assign(keys: readonly Key[], name: string): void {
    const known = this.known(keys);
    this.sets.set(idOf(known, this.labels), { keys: new Set(known), name });
  }

  /** The group for a client of these groups; created if needed. */
  groupOf(keys: readonly Key[]): string {
    const known = this.known(keys);
    const before = this.sets.get(idOf(known, this.labels));
    if (before !== undefined) return before.name;
    const labels = known.map((key) => this.labels.get(key)!).sort();
    const name = this.make(labels);
    this.assign(known, name);
    return name;
  }

  /** The groups in Weir that a rule of these groups applies to. */
  groupsOf(keys: readonly Key[]): string[] {
    const own = keys.flatMap((key) => this.own.get(key) ?? []);
    const sets = [...this.sets.values()].filter((set) => keys.some((key) => set.keys.has(key)));
    return [...new Set([...own, ...sets.map(({ name }) => name)])];
  }

  private known(keys: readonly Key[]): Key[] {
    return [...new Set(keys)].filter((key) => this.labels.has(key));
  }

  private make(labels: readonly string[]): string {
    const others = labels.filter((label) => label !== DEFAULT_GROUP);
    const shown = others.length === labels.length ? others : [DEFAULT_GROUP, ...others];
    const joined = shown.length === 0 ? this.unfilteredName : shown.join(' + ');
    const reason =
      labels.length === 0
        ? importReason('group_of_unfiltered')
        : labels.length === 1
          ? importReason('group_of_clients')
          : importReason('group_of_several', { count: labels.length });
    const item = this.builder.item('group', joined, reason);
    return this.builder.group(joined, { enabled: true, comment: reason }, item);
  }
}

function idOf<Key>(keys: readonly Key[], labels: ReadonlyMap<Key, string>): string {
  return JSON.stringify(keys.map((key) => labels.get(key)!).sort());
}
