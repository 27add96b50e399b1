/** Writes the reason why an explanation of a logged query may be inexact, in English. */
import type { LoggedThen } from '../../../shared/api/explain-api.ts';
import type { revisionsAt } from '../../policy/change/revision-store.ts';

/** The reason as codes. */
export type Inexact = NonNullable<LoggedThen['inexact']>;
type Revisions = Pick<Awaited<ReturnType<typeof revisionsAt>>, 'then' | 'now'>;

export function inexactReason({ cause, missing, node }: Inexact, { then, now }: Revisions): string {
  const before = then === null ? 'the state before the first revision' : `revision ${then}`;
  const causes = {
    changed_since: `policy or lists have changed since: this explanation uses revision ${now}, not ${before}`,
    changed_while_explaining: 'policy changed while the query was being explained',
    change_in_progress: 'the query was answered while a change was being applied',
  };
  const gaps = {
    other_node: `only ${node}, the node that answered the query, may have stored the policy of that time`,
    not_stored: 'this node has not stored the policy of that time',
  };
  return `${causes[cause]}; ${gaps[missing]}`;
}
