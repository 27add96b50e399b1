/** HTTP routes of `{api}/explain`. */
import { ExplainAnswer, ExplainQuery } from '../../../shared/api/explain-api.ts';
import type { FieldProblem } from '../../../shared/api/problem-details.ts';
import { invalid, notFound } from '../../api/api-error.ts';
import { route } from '../../api/route.ts';
import type { Route } from '../../api/route.ts';
import type { ClientDirectory } from '../../clients/devices/client-directory.ts';
import type { Question } from './explainer.ts';
import { explainLogged, type LoggedExplainerParts } from './logged-explainer.ts';

type ClientGroups = Pick<ClientDirectory, 'get' | 'groupOf' | 'addressesOfMac'>;

const LOOPBACK = '127.0.0.1';

export function explainRoutes(context: LoggedExplainerParts & { clients: ClientGroups }): Route[] {
  const explain = route({
    method: 'GET',
    path: '/explain',
    access: 'viewer',
    tag: 'Lists',
    summary:
      'Explain the answer that a client would get: the decisive stage, and every matching rule, with its ' +
      'list and line. For a row of the query log: the answer that was given, under the policy that was ' +
      'active then, if it is still stored',
    query: ExplainQuery,
    answer: ExplainAnswer,
    errors: { 404: 'the client, or the row of the query log, does not exist' },
    handle: ({ query, gone }) => {
      const { query_id: id, domain, type = 'A' } = query;
      const faults = faultsOf(query);
      if (faults.length > 0) throw invalid(faults);
      if (id === undefined)
        return context.explainer.explain({ domain: domain!, type, ...askerOf(query, context.clients) });
      return explainLogged(context, id, gone);
    },
  });
  return [explain];
}

/** The client of the query: an address, a known client at its last address, or any client of a group. */
function askerOf(
  { client, client_key: clientKey = '', client_id: clientId, group_id: groupId }: ExplainQuery,
  clients: ClientGroups,
): Omit<Question, 'domain' | 'type'> {
  const asGroup = groupId === undefined ? {} : { groupId };
  if (clientId === undefined) return { client: client ?? LOOPBACK, clientKey, ...asGroup };
  const record = clients.get(clientId);
  if (record === undefined) throw notFound(`client ${clientId}`);
  const seen = record.ip ?? (record.mac === null ? undefined : clients.addressesOfMac(record.mac)[0]);
  if (seen !== undefined) return { client: seen, clientId, ...asGroup };
  // The client was never seen, but its group is known.
  return { client: LOOPBACK, clientId, groupId: groupId ?? clients.groupOf(record).groupId };
}

/** Errors in the parameters, which must contain either a row of the log, or a name with one client. */
function faultsOf({ query_id: id, ...question }: ExplainQuery): FieldProblem[] {
  if (id === undefined) {
    if (question.domain === undefined)
      return [{ path: 'domain', message: 'expected a domain name, or query_id' }];
    const both = question.client_id !== undefined && (question.client ?? question.client_key) !== undefined;
    return both ? [{ path: 'client_id', message: 'not allowed together with client and client_key' }] : [];
  }
  return Object.entries(question).flatMap(([path, value]) =>
    value === undefined
      ? []
      : { path, message: 'not allowed together with query_id, which already identifies the query' },
  );
}
