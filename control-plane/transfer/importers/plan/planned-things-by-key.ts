/** The objects of a kind in a plan, by their natural keys. Pure. */
import type { Thing } from './import-plan.ts';

/** Objects of a kind by their natural keys, with the items from which they were made. */
export type Things<T> = Map<string, { readonly value: T; readonly items: readonly number[] }>;

/** Sets the object of a key and adds `items` to its origins. */
export function put<T>(things: Things<T>, key: string, value: T, ...items: readonly number[]): void {
  things.set(key, { value, items: [...(things.get(key)?.items ?? []), ...items] });
}

/** Adds a rule. Of several duplicates, one is kept; it is enabled if any of them is enabled. */
export function putRule<T extends Thing<'managed_domains'> | Thing<'regex_filters'>>(
  things: Things<T>,
  rule: T,
  text: string,
  item: number,
): void {
  const key = JSON.stringify([text, rule.action, rule.group]);
  put(things, key, { ...rule, enabled: rule.enabled || things.get(key)?.value.enabled === true }, item);
}

/** The groups of both lists; empty = every group. */
export function joined(a: readonly string[], b: readonly string[]): string[] {
  return a.length === 0 || b.length === 0 ? [] : [...new Set([...a, ...b])];
}

export function valuesOf<T>(things: Things<T>): T[] {
  return [...things.values()].map(({ value }) => value);
}

export function originsOf(things: Things<unknown>): (readonly number[])[] {
  return [...things.values()].map(({ items }) => items);
}
