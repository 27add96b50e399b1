/** HTTP routes for acknowledging new clients. */
import { codedAction, codedSubject } from '../../../../shared/policy/changes/change-codes.ts';
import { AcknowledgedClients, ClientIdsBody } from '../../../../shared/api/policy/clients-api.ts';
import { authorOf, route } from '../../../api/route.ts';
import type { Route } from '../../../api/route.ts';
import { recordAudit } from '../../../policy/audit/audit-store.ts';
import type { Database } from '../../../storage/db/database.ts';
import type { ClientDirectory } from '../client-directory.ts';
import { labelOf } from '../client-view.ts';
import { acknowledgeClients } from '../client-store.ts';

/** The routes of new clients. */
export function newDeviceRoutes(context: { database: Database; clients: ClientDirectory }): Route[] {
  const { database, clients } = context;
  const acknowledge = route({
    method: 'POST',
    path: '/clients/acknowledge',
    access: 'admin',
    tag: 'Clients',
    summary: 'Acknowledge clients, so that they are no longer shown as new',
    body: ClientIdsBody,
    answer: AcknowledgedClients,
    handle: async (request) => {
      const stored = await database.transaction(async (tx) => {
        const found = await acknowledgeClients(tx, request.body.client_ids);
        const [first] = found;
        if (first !== undefined) {
          const subject =
            found.length === 1
              ? codedSubject('client', { name: labelOf(first) })
              : codedSubject('several_clients', { count: found.length });
          await recordAudit(tx, { actor: authorOf(request), subject, action: codedAction('acknowledged') });
        }
        return found;
      });
      for (const client of stored) clients.put(client);
      return { acknowledged: stored.length };
    },
  });
  return [acknowledge];
}
