/** Groups that a list applies to: the groups that the list names, or every group if it names none. */

/** Whether a list applies to a group. */
export function servesGroup(groupIds: readonly number[], groupId: number): boolean {
  return groupIds.length === 0 || groupIds.includes(groupId);
}

/**
 * The groups that a list names after this group is added or removed. Null if no group would be left, because a list
 * that names no group applies to every group. If the list would name all existing groups, the result is empty, so that
 * the list also applies to groups created later.
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
