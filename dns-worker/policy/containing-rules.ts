/**
 * The rules of all lists that match a name, whichever groups the lists serve: what an explanation shows as "in these
 * lists". Conditions on the client or type, and `$badfilter`, are left to the judge.
 */
import { RuleOrigin } from '../../shared/snapshot/rule-origin.ts';
import { INHERITED_KINDS, OWN_KINDS } from '../../shared/snapshot/rule-table.ts';
import type { ContainingRule } from '../../shared/threads/explanation.ts';
import type { Query } from '../query/query.ts';
import type { OpenSnapshot } from './open-snapshot.ts';

/** Most patterns and conditional rules that one explanation names. */
const MAX_SPECIAL = 50;

/** The rules at the question's name and its parents, the longest name first, then patterns. */
export function rulesContaining(query: Query, { rules, special, policy }: OpenSnapshot): ContainingRule[] {
  const found: ContainingRule[] = [];
  for (let label = 0; label < query.labelCount; label++) {
    const index = rules.find(query.hashLow[label]!, query.hashHigh[label]!);
    if (index < 0) continue;
    const kinds = label === 0 ? OWN_KINDS : INHERITED_KINDS;
    const name = query.qname.slice(query.labelAt[label], query.qnameLength);
    found.push({ origin: RuleOrigin.LIST, index, kinds, name });
  }
  if (special.ruleCount === 0) return found;
  let left = MAX_SPECIAL;
  const allSources = new Uint8Array(policy.sourcesOf(0).length).fill(1);
  special.forEachMatch(query, allSources, (index) => {
    if (left-- <= 0) return;
    const { kind: kinds } = special.rule(index);
    found.push({ origin: RuleOrigin.SPECIAL, index, kinds, name: new Uint8Array(0) });
  });
  return found;
}
