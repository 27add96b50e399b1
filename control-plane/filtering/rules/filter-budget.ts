/** Finds regex filters that are not active because they exceed the budget of all filters. */
import type { Queryable } from '../../storage/db/database.ts';
import { type RefusedFilter, findRefusedFilters } from '../../policy/snapshot/build/manual-rules.ts';
import { listRules, REGEX_FILTERS } from './rule-store.ts';

/** The enabled filters that exceed the budget and are not in `before`. */
export async function newlyRefusedFilters(
  tx: Queryable,
  before: ReadonlySet<number>,
): Promise<readonly RefusedFilter[]> {
  const enabled = (await listRules(tx, REGEX_FILTERS)).filter((rule) => rule.enabled);
  const refused = findRefusedFilters(
    enabled.map(({ id, name, text, action, group_id: groupId }) => {
      return { id, name, pattern: text, action, groupId };
    }),
  );
  return refused.filter(({ id }) => !before.has(id));
}
