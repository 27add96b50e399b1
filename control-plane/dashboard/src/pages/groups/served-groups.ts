/** The groups that a list serves: those that it names, or every group if it names none. */

/** Whether a list serves a group. */
export function servesGroup(groupIds: readonly number[], groupId: number): boolean {
  return groupIds.length === 0 || groupIds.includes(groupId);
}

/**
 * The groups that a list names after this group is added or removed. Null if the result would name no group, as that
 * means every group. If the list serves all existing groups, it names none, and so also serves later ones.
 */
export function groupIdsAfter(
  groupIds: readonly number[],
  groupId: number,
  allIds: readonly number[],
  isServed: boolean,
): number[] | null {
  const named = groupIds.length === 0 ? allIds : groupIds;
  const others = named.filter((id) => id !== groupId);
  if (!isServed) return others.length === 0 ? null : others;
  const all = [...others, groupId].sort((one, other) => one - other);
  return allIds.every((id) => all.includes(id)) ? [] : all;
}
