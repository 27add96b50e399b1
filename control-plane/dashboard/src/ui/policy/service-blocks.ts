/** Services that can be blocked, and the groups for which they are blocked. */
import { useMemo } from 'react';
import type { AnswerOf } from '../../../../../shared/api/client/typed-client.ts';
import { useAsk } from '../../api/use-ask.ts';
import { useChange } from '../../api/use-change.ts';
import { byPopularity } from './popular-services.ts';

/** A service of the catalog, or a custom service. */
export interface Service {
  readonly id: string;
  readonly name: string;
  readonly category: AnswerOf<'GET /services/catalog'>[number]['category'];
  readonly tags: NonNullable<AnswerOf<'GET /services/catalog'>[number]['tags']>;
  readonly domains: readonly string[];
  /** URL for the `src` of an `<img>`. */
  readonly icon: string | null;
  readonly isCustom: boolean;
}

/**
 * All services: custom services first, then popular services. Undefined while the services are loading, or if `enabled`
 * is false.
 */
export function useServices(enabled = true): readonly Service[] | undefined {
  const catalog = useAsk('GET /services/catalog', {}, { enabled });
  // Custom services are requested separately from the long catalog, because the catalog does not change.
  const custom = useAsk('GET /custom-services', {}, { enabled });
  return useMemo(() => {
    if (catalog.data === undefined || custom.data === undefined) return undefined;
    const shipped = catalog.data
      .filter(({ is_custom: isCustom }) => !isCustom)
      .map(({ id, name, category, tags = [], domains, exact_domains: exact, icon }): Service => {
        return { id, name, category, tags, domains: [...domains, ...exact], icon, isCustom: false };
      });
    const own = custom.data.map(({ service_id: id, name, category, domains }): Service => {
      return { id, name, category, tags: [], domains, icon: null, isCustom: true };
    });
    return [...own, ...shipped].sort(byPopularity);
  }, [catalog.data, custom.data]);
}

/** A service that is blocked for a group. */
export type ServiceBlock = AnswerOf<'GET /services'>[number];

/** Blocked services by group, and functions that change them. */
export interface ServiceBlocks {
  readonly isBlocked: (serviceId: string, groupId: number) => boolean;
  readonly blockedIn: (groupId: number) => readonly ServiceBlock[];
  /** Blocks that apply at the times of a schedule. */
  readonly timedBy: (profileId: number) => readonly ServiceBlock[];
  /** Whether a schedule is used only to block services, and not as the schedule of a group. */
  readonly isOnlyFor: (profile: { readonly id: number; readonly group_ids: readonly number[] }) => boolean;
  readonly set: (serviceId: string, groupId: number, isBlocked: boolean) => void;
  readonly isPending: boolean;
}

/** Blocked services of all groups. */
export function useServiceBlocks(): ServiceBlocks {
  const { data = [] } = useAsk('GET /services', { query: {} });
  const block = useChange('POST /services', { done: 'services.blocked', already: 409 });
  const unblock = useChange('DELETE /services/{service_id}/groups/{group_id}', {
    done: 'services.unblocked',
    already: 404,
  });
  return {
    isBlocked: (serviceId, groupId) =>
      data.some((row) => row.service_id === serviceId && row.group_id === groupId),
    blockedIn: (groupId) => data.filter((row) => row.group_id === groupId),
    timedBy: (profileId) => data.filter((row) => row.profile_id === profileId),
    isOnlyFor: ({ id, group_ids: groupIds }) =>
      groupIds.length === 0 && data.some((row) => row.profile_id === id),
    set: (serviceId, groupId, isBlocked) => {
      if (isBlocked) void block.run({ body: { service_id: serviceId, group_id: groupId } });
      else void unblock.run({ params: { service_id: serviceId, group_id: groupId } });
    },
    isPending: block.isPending || unblock.isPending,
  };
}
