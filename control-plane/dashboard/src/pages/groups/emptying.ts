/** What has to go before a group can be deleted, and what stands in the way of that. */
import { servesGroup } from './served-groups.ts';

interface Source {
  readonly id: number;
  readonly name: string;
  readonly group_ids: readonly number[];
}

interface Rule {
  readonly id: number;
  readonly group_id: number | null;
}

/** All that may refer to a group. */
export interface Referring {
  /** Clients of the group that have it by a choice of their own. */
  readonly clientIds: readonly number[];
  readonly subnets: readonly { readonly id: number; readonly group_id: number }[];
  readonly blocklists: readonly Source[];
  readonly allowlists: readonly Source[];
  readonly domains: readonly Rule[];
  readonly patterns: readonly Rule[];
}

/** What is done first. */
export interface Emptying {
  /** Get the group that their network gives, else Default. */
  readonly clientIds: readonly number[];
  readonly subnetIds: readonly number[];
  /** Serve the other groups that they name. */
  readonly blocklists: readonly { readonly id: number; readonly groupIds: readonly number[] }[];
  readonly allowlists: readonly { readonly id: number; readonly groupIds: readonly number[] }[];
  readonly domainIds: readonly number[];
  readonly patternIds: readonly number[];
  /** Names of lists for this group alone: without it they would serve every group, so a person has to decide. */
  readonly lastLists: readonly string[];
}

/** What refers to a group, and what becomes of it. */
export function emptyingOf(groupId: number, referring: Referring): Emptying {
  const naming = (sources: readonly Source[]): Source[] =>
    sources.filter(({ group_ids: ids }) => ids.length > 0 && servesGroup(ids, groupId));
  const others = (sources: readonly Source[]): { id: number; groupIds: number[] }[] =>
    naming(sources)
      .map(({ id, group_ids: ids }) => ({ id, groupIds: ids.filter((one) => one !== groupId) }))
      .filter(({ groupIds }) => groupIds.length > 0);
  const own = (rows: readonly { readonly id: number; readonly group_id: number | null }[]): number[] =>
    rows.filter((row) => row.group_id === groupId).map(({ id }) => id);
  return {
    clientIds: referring.clientIds,
    subnetIds: own(referring.subnets),
    blocklists: others(referring.blocklists),
    allowlists: others(referring.allowlists),
    domainIds: own(referring.domains),
    patternIds: own(referring.patterns),
    lastLists: naming([...referring.blocklists, ...referring.allowlists])
      .filter(({ group_ids: ids }) => ids.length === 1)
      .map(({ name }) => name),
  };
}
