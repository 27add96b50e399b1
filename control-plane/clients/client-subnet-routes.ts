/** HTTP of `{api}/client-subnets`. A change is in the database and in force when the answer is sent. */
import type { ClientSubnet, ClientSubnetCreate } from '../../shared/api/policy/clients-api.ts';
import type { IdParams } from '../../shared/api/fields.ts';
import type { ApiContext } from '../api/api-context.ts';
import { authorOf } from '../api/route.ts';
import type { RouteRequest } from '../api/route.ts';
import * as store from './client-subnet-store.ts';

/** GET client-subnets */
export function listSubnets({ database }: ApiContext): Promise<ClientSubnet[]> {
  return store.listSubnets(database);
}

/** POST client-subnets */
export async function createSubnet(
  context: ApiContext,
  request: RouteRequest<unknown, unknown, ClientSubnetCreate>,
): Promise<ClientSubnet> {
  return context.policy.change(authorOf(request), async (tx) => {
    const result = await store.insertSubnet(tx, request.body);
    return { result, summary: `subnet ${result.subnet_cidr}: given to group ${result.group_name}` };
  });
}

/** DELETE client-subnets/{id} */
export async function deleteSubnet(context: ApiContext, request: RouteRequest<IdParams>): Promise<void> {
  await context.policy.change(authorOf(request), async (tx) => {
    const result = await store.deleteSubnet(tx, request.params.id);
    return { result, summary: `subnet ${result.subnet_cidr}: deleted` };
  });
}
