/** Finds the built-in or custom service that a request names. */
import { unknownReference } from '../../api/api-error.ts';
import type { GrantedService } from '../../policy/change/rows.ts';
import type { Queryable } from '../../storage/db/database.ts';
import type { ServiceCatalog } from './service-catalog.ts';
import { findCustom } from './service-store.ts';

/** The service with an id. @throws {ApiError} 400 with an error for `service_id` if it does not exist */
export async function namedService(
  db: Queryable,
  catalog: Pick<ServiceCatalog, 'get'>,
  serviceId: string,
): Promise<GrantedService> {
  const builtIn = catalog.get(serviceId);
  if (builtIn !== undefined)
    return { serviceName: builtIn.name, domains: builtIn.domains, exact: builtIn.exact_domains };
  const custom = await findCustom(db, serviceId);
  if (custom === undefined) throw unknownReference('service_id', 'service');
  return { serviceName: custom.name, domains: custom.domains, exact: [] };
}
