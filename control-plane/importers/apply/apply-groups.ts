/** Writes the groups of a plan. */
import { insertGroup, listGroups, updateGroup } from '../../groups/group-store.ts';
import type { ImportRun } from './planned-state.ts';
import { sameFields } from './same-fields.ts';

/** Writes groups; their ids are known from then on. */
export async function applyGroups(run: ImportRun): Promise<void> {
  const known = new Map((await listGroups(run.tx)).map((group) => [group.name.toLowerCase(), group]));
  for (const group of run.plan.groups) {
    const { name, enabled, comment } = group;
    const before = known.get(name.toLowerCase());
    const change = { enabled, ...(comment === '' ? {} : { comment }) };
    if (before === undefined) {
      run.groupIds.set(
        name.toLowerCase(),
        (await insertGroup(run.tx, { name, enabled, comment, no_ipv6: false })).id,
      );
      run.note(group, 'done');
      continue;
    }
    run.groupIds.set(name.toLowerCase(), before.id);
    const isSame = sameFields(before, before.is_default ? {} : change);
    if (!isSame) await updateGroup(run.tx, before.id, change);
    run.note(group, isSame ? null : 'changed');
  }
}
