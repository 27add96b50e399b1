/**
 * HTTP route of the services that are blocked for one client. The route shows users of the role family which services
 * they can unblock for a linked client. It is answered from memory.
 */
import { IdParams } from '../../../shared/api/fields.ts';
import { ClientServiceList } from '../../../shared/api/policy/services-api.ts';
import { notFound } from '../../api/api-error.ts';
import { clientsOf } from '../../api/route-access.ts';
import { route } from '../../api/route.ts';
import type { Route } from '../../api/route.ts';
import type { ClientDirectory } from '../../clients/devices/client-directory.ts';
import type { PolicyRows } from '../../policy/change/rows.ts';
import { effectiveGroupId } from '../../policy/snapshot/build/policy-table-builder.ts';

export function clientServiceRoutes(context: {
  clients: Pick<ClientDirectory, 'get' | 'groupOf'>;
  policyRows: () => Pick<PolicyRows, 'groups' | 'blockedServices'>;
}): Route[] {
  const { clients, policyRows } = context;
  const listServices = route({
    method: 'GET',
    path: '/clients/{id}/services',
    access: 'member',
    tag: 'Clients',
    summary:
      'Services that are blocked for the group of a client; the role family can only read those of a ' +
      'linked client',
    params: IdParams,
    answer: ClientServiceList,
    handle: ({ params, caller }) => {
      const record = clientsOf(caller)?.has(params.id) === false ? undefined : clients.get(params.id);
      if (record === undefined) throw notFound(`client ${params.id}`);
      const { groups, blockedServices } = policyRows();
      const own = clients.groupOf(record).groupId;
      const groupId = effectiveGroupId(groups.find(({ id }) => id === own));
      return blockedServices
        .filter((service) => service.groupId === groupId)
        .map(({ serviceId, serviceName }) => ({ service_id: serviceId, name: serviceName }))
        .toSorted((one, other) => one.name.localeCompare(other.name));
    },
  });
  return [listServices];
}
