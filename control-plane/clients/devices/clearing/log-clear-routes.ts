/** HTTP routes of `{api}/queries/clears`. */
import { codedAction, codedSubject } from '../../../../shared/policy/changes/change-codes.ts';
import {
  QueryLogClear,
  QueryLogClearBody,
  QueryLogClears,
} from '../../../../shared/api/clearing/query-log-clears-api.ts';
import type { Clock } from '../../../../shared/clock.ts';
import type { Logger } from '../../../../shared/log.ts';
import { invalid, unknownReference } from '../../../api/api-error.ts';
import { authorOf, route } from '../../../api/route.ts';
import type { Route } from '../../../api/route.ts';
import { recordAudit } from '../../../policy/audit/audit-store.ts';
import type { Database } from '../../../storage/db/database.ts';
import { insertClear, readClears, type WantedClear } from '../../../query-log/clearing/clear-store.ts';
import type { LogClearing } from '../../../query-log/clearing/log-clearing.ts';

/** The clients whose queries can be cleared. */
export interface ClearedClients {
  /** All known addresses of a client; undefined if the client does not exist. */
  placesOf(id: number): readonly string[] | undefined;
  /** Ids of all clients of the same device. */
  idsOf(id: number): readonly number[];
  get(
    id: number,
  ): { name: string | null; hostname: string | null; mac: string | null; ip: string | null } | undefined;
}

/** The routes for clearing parts of the query log. */
export function logClearRoutes(context: {
  database: Database;
  clock: Clock;
  logger: Logger;
  clients: ClearedClients;
  logClearing: Pick<LogClearing, 'wake'>;
}): Route[] {
  return [listClears(context.database), clearLog(context)];
}

function listClears(database: Database): Route {
  return route({
    method: 'GET',
    path: '/queries/clears',
    access: 'viewer',
    tag: 'Statistics',
    summary: 'Clears of the query log, newest first',
    answer: QueryLogClears,
    handle: () => readClears(database),
  });
}

function clearLog({
  database,
  clock,
  logger,
  clients,
  logClearing,
}: Parameters<typeof logClearRoutes>[0]): Route {
  return route({
    method: 'POST',
    path: '/queries/clears',
    access: 'admin',
    tag: 'Statistics',
    summary: 'Remove rows from the query log of all nodes: all rows, or those of a client or a period',
    body: QueryLogClearBody,
    status: 202,
    answer: QueryLogClear,
    waits: false, // No need to wait for other nodes: one node clears the log for all.
    handle: async (request) => {
      const { client_id: id, ...period } = request.body;
      const actor = authorOf(request);
      const wanted = { by: actor.name, ...clearedSpan(period, clock.nowMs()), client: clientOf(clients, id) };
      const clear = await database.transaction(async (tx) => {
        const after = { ...request.body, client: wanted.client?.name };
        const change = { subject: codedSubject('query_log'), action: codedAction('cleared') };
        await recordAudit(tx, { actor, ...change, after });
        return insertClear(tx, wanted);
      });
      logger.info('started to clear the query log', {
        id: clear.id,
        from: clear.from,
        to: clear.to,
        client: id ?? null,
      });
      logClearing.wake();
      return clear;
    },
  });
}

function clearedSpan(
  { from, to }: { readonly from?: string | undefined; readonly to?: string | undefined },
  nowMs: number,
): Pick<WantedClear, 'from' | 'to'> {
  const toMs = Math.min(to === undefined ? nowMs : Date.parse(to), nowMs);
  if (from === undefined) return { from: null, to: new Date(toMs) };
  const fromMs = Date.parse(from);
  if (to !== undefined && fromMs >= Date.parse(to))
    throw invalid([{ path: 'to', message: 'expected a time after from' }]);
  if (fromMs >= nowMs) throw invalid([{ path: 'from', message: 'expected a time in the past' }]);
  return { from: new Date(fromMs), to: new Date(toMs) };
}

function clientOf(clients: ClearedClients, id: number | undefined): WantedClear['client'] {
  if (id === undefined) return null;
  const record = clients.get(id);
  const addresses = clients.placesOf(id);
  if (record === undefined || addresses === undefined) throw unknownReference('client_id', 'client');
  return {
    id,
    ids: clients.idsOf(id),
    name: record.name ?? record.hostname ?? record.mac ?? record.ip ?? String(id),
    addresses,
  };
}
