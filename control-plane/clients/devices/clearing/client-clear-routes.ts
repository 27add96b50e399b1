/** HTTP routes of `{api}/clients/clear`. */
import { codedAction, codedSubject } from '../../../../shared/policy/changes/change-codes.ts';
import { ClientClearBody, ClientsCleared } from '../../../../shared/api/clearing/client-clear-api.ts';
import type { Clock } from '../../../../shared/clock.ts';
import { invalid } from '../../../api/api-error.ts';
import { authorOf, route } from '../../../api/route.ts';
import type { Route } from '../../../api/route.ts';
import { recordAudit } from '../../../policy/audit/audit-store.ts';
import type { Database } from '../../../storage/db/database.ts';
import { countSeen, deleteSeen, type SeenSpan } from '../client-store.ts';

/** The route that clears clients. */
export function clientClearRoutes(context: {
  database: Database;
  clock: Clock;
  clients: { remove(id: number): void };
}): Route[] {
  const { database, clock, clients } = context;
  return [
    route({
      method: 'POST',
      path: '/clients/clear',
      access: 'admin',
      tag: 'Clients',
      summary:
        'Delete clients that no user has configured: those without a name, group, key, exclusion or grant',
      body: ClientClearBody,
      answer: ClientsCleared,
      waits: false, // No need to wait for other nodes: clients that were only seen are not part of the policy.
      handle: async (request) => {
        const { dry_run: isTrial, ...period } = request.body;
        const span = seenSpan(period, clock.nowMs());
        if (isTrial) return { deleted: 0, ...(await countSeen(database, span)) };
        const ids = await database.transaction(async (tx) => {
          const gone = await deleteSeen(tx, span);
          await recordAudit(tx, {
            actor: authorOf(request),
            subject: codedSubject('clients'),
            action: codedAction('cleared'),
            before: { ...period, clients: gone.length },
          });
          return gone;
        });
        for (const id of ids) clients.remove(id);
        return { deleted: ids.length, ...(await countSeen(database, span)) };
      },
    }),
  ];
}

function seenSpan(
  { from, to }: { readonly from?: string | undefined; readonly to?: string | undefined },
  nowMs: number,
): SeenSpan {
  if (from !== undefined && Date.parse(from) >= (to === undefined ? nowMs : Date.parse(to)))
    throw invalid([{ path: to === undefined ? 'from' : 'to', message: 'expected a period in the past' }]);
  return { from: from === undefined ? null : new Date(from), to: to === undefined ? null : new Date(to) };
}
