/** Differences in behaviour after an import, the most frequently queried names first. Pure. */
import type { ImportDifference } from '../../../../shared/api/imports-api.ts';
import type { PlanItem } from '../plan/import-plan.ts';

/** Queries by name; null without a log. */
export type QueriesByName = ReadonlyMap<string, number> | null;

/** A row of the report; `reason` as in the report. */
type DifferingItem = Pick<PlanItem, 'kind' | 'name' | 'domains'> & { readonly reason: string | null };

/** Sorts rows with differences by the number of affected queries. */
export function differencesOf(items: readonly DifferingItem[], queries: QueriesByName): ImportDifference[] {
  const wanted = new Map<string, number>();
  for (const { domains = [] } of items) for (const domain of domains) wanted.set(folded(domain), 0);
  for (const [name, count] of queries ?? [])
    for (const parent of parentsOf(name))
      if (wanted.has(parent)) wanted.set(parent, wanted.get(parent)! + count);
  const rows = items.map(({ kind, name, reason, domains = [] }) => ({
    kind,
    name,
    reason: reason ?? '',
    queries: queries === null ? null : sum([...new Set(domains.map(folded))].map((one) => wanted.get(one)!)),
  }));
  return rows.sort((a, b) => (b.queries ?? 0) - (a.queries ?? 0));
}

/** The domain in lower case, without a wildcard and a trailing dot. */
function folded(domain: string): string {
  return domain
    .toLowerCase()
    .replace(/^\*?\./, '')
    .replace(/\.$/, '');
}

/** The name and its parent domains. */
function parentsOf(name: string): string[] {
  const labels = name.split('.');
  return labels.map((_label, at) => labels.slice(at).join('.'));
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}
