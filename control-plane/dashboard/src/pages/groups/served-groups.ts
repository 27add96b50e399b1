/** Which groups a list serves: those that it names, or every group where it names none. */

/** Whether a list serves a group. */
export function servesGroup(groupIds: readonly number[], groupId: number): boolean {
  return groupIds.length === 0 || groupIds.includes(groupId);
}

/**
 * The groups that a list names once it serves this one, or no more. Null where that cannot be said: a list that named no
 * group would serve every group. Where it comes to serve every group there is, it names none, and serves later ones too.
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
