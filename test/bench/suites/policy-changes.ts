// The kinds of change in the row `policy-change`. Each round undoes the additions of the previous round, so the policy
// keeps its size. Both adding and undoing are measured.
import { z } from 'zod';
import type { WeirApi } from '../servers/weir-api.ts';

/** Measures the time of an API call. */
export type Timed = (change: () => Promise<unknown>) => Promise<void>;

/** One kind of change. */
export interface PolicyChange {
  what: string;
  /** Makes the change for the `round`th time. */
  make: (api: WeirApi, round: number, timed: Timed) => Promise<void>;
}

const idSchema = z.object({ id: z.number() });
const listSchema = z.array(idSchema);
const clientsSchema = z.object({ data: z.array(idSchema.extend({ group_id: z.number() })) });

/** Selects clients, groups and services to change, and creates a schedule to assign. */
export async function preparePolicyChanges(api: WeirApi): Promise<readonly PolicyChange[]> {
  const groups = listSchema.parse(await api.call('GET', '/groups')).filter(({ id }) => id > 1);
  const clients = clientsSchema
    .parse(await api.call('GET', '/clients?limit=500'))
    .data.filter(({ group_id: group }) => group > 1);
  const schedule = { name: 'bench', timezone: 'Europe/Berlin' };
  const profile = idSchema.parse(await api.call('POST', '/schedule-profiles', schedule));
  const slot = { days: 127, start_time: '21:00', end_time: '06:00', action: 'block_all' };
  await api.call('POST', `/schedule-profiles/${profile.id}/slots`, slot);
  const groupAt = (round: number): number => groups[round % groups.length]!.id;
  return [
    {
      what: 'move a client',
      make: (_, round, timed) => {
        const { id } = clients[round % clients.length]!;
        return timed(() => api.call('PUT', `/clients/${id}/group`, { group_id: groupAt(round) }));
      },
    },
    added('subnet', '/client-subnets', (round) => ({
      subnet_cidr: `198.51.${100 + (round & 1)}.0/24`,
      group_id: groupAt(round),
    })),
    added('managed domain', '/managed-domains', (round) => ({ domain: `n${round}.managed.example.org` })),
    added('regex filter', '/regex-filters', (round) => ({ pattern: `^n${round}\\.regex\\.example\\.org$` })),
    added('local record', '/local-records', (round) => ({
      fqdn: `n${round}.local.example.org`,
      value: '192.0.2.1',
    })),
    {
      what: 'block, unblock a service',
      make: async (_, round, timed) => {
        // The policy distributes its blocked services over the groups in the same order, so this group does not block
        // the service yet.
        const group = groupAt(round + 1);
        const service = `custom-s${round % groups.length}`;
        await timed(() => api.call('POST', '/services', { service_id: service, group_id: group }));
        await timed(() => api.call('DELETE', `/services/${service}/groups/${group}`));
      },
    },
    {
      what: 'assign, remove a schedule',
      make: async (_, round, timed) => {
        const path = `/groups/${groupAt(round)}/schedule`;
        await timed(() => api.call('PUT', path, { profile_id: profile.id }));
        await timed(() => api.call('DELETE', path));
      },
    },
  ];
}

function added(noun: string, path: string, body: (round: number) => object): PolicyChange {
  return {
    what: `add, delete a ${noun}`,
    make: async (api, round, timed) => {
      let created: unknown;
      await timed(async () => {
        created = await api.call('POST', path, body(round));
      });
      await timed(() => api.call('DELETE', `${path}/${idSchema.parse(created).id}`));
    },
  };
}
