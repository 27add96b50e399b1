/** HTTP routes for merging clients into one device, and for separating one of them again. */
import { codedAction, codedSubject } from '../../../../shared/policy/changes/change-codes.ts';
import type { CodedAction } from '../../../../shared/policy/changes/change-codes.ts';
import { IdParams } from '../../../../shared/api/fields.ts';
import { Client, ClientMergeBody } from '../../../../shared/api/policy/clients-api.ts';
import { authorOf, route } from '../../../api/route.ts';
import type { Route } from '../../../api/route.ts';
import type { Author } from '../../../api/caller.ts';
import type { Changed, PolicyChanges } from '../../../policy/change/change.ts';
import type { Queryable } from '../../../storage/db/database.ts';
import type { ClientChange } from '../client-change.ts';
import type { ClientDirectory } from '../client-directory.ts';
import { clientEntity } from '../client-entity.ts';
import { clientById, labelOf } from '../client-view.ts';
import { mergeClients, splitClient } from './merge-store.ts';

export function mergeRoutes(context: { policy: PolicyChanges; clients: ClientDirectory }): Route[] {
  const { policy, clients } = context;
  const merge = route({
    method: 'POST',
    path: '/clients/{id}/merge',
    access: 'admin',
    tag: 'Clients',
    summary:
      'Merge other clients into this one, which keeps its name, group and exclusions and takes over their ' +
      'temporary rules. The query log is not changed, but its rows of the other clients are shown as rows ' +
      'of this one',
    params: IdParams,
    body: ClientMergeBody,
    answer: Client,
    entity: clientEntity,
    errors: {
      409: 'one of the clients is part of a third client, or the device would consist of too many clients',
    },
    handle: (request) => {
      const { id } = request.params;
      const ids = [...new Set(request.body.client_ids)];
      return change(policy, clients, authorOf(request), id, async (tx) => {
        const changes = await mergeClients(tx, id, ids);
        return { changes, action: codedAction('merged', { clients: ids.join(', ') }) };
      });
    },
  });
  const split = route({
    method: 'POST',
    path: '/clients/{id}/split',
    access: 'admin',
    tag: 'Clients',
    summary: 'Make a client that was merged into another one a separate client again, in the same group',
    params: IdParams,
    answer: Client,
    entity: clientEntity,
    errors: { 409: 'the client is not part of another client' },
    handle: (request) => {
      const { id } = request.params;
      return change(policy, clients, authorOf(request), id, async (tx) => ({
        changes: await splitClient(tx, id),
        action: codedAction('split_off'),
      }));
    },
  });
  return [merge, split];
}

interface Done {
  readonly changes: readonly ClientChange[];
  readonly action: CodedAction;
}

/** Changes clients in the database, then in memory, then in the active policy. */
async function change(
  policy: PolicyChanges,
  clients: ClientDirectory,
  author: Author,
  id: number,
  work: (tx: Queryable) => Promise<Done>,
): Promise<Client> {
  const describe = async (tx: Queryable): Promise<Changed<readonly ClientChange[]>> => {
    const { changes, action } = await work(tx);
    const client = changes.find(({ before }) => before!.id === id)!.before!;
    const subject = codedSubject('client', { name: labelOf(client) });
    return { result: changes, summary: { subject, action } };
  };
  await policy.change(author, describe, (changes, apply) => {
    clients.takeOver({ clients: changes.flatMap(({ after }) => after ?? []), goneClients: [] });
    return apply();
  });
  return clientById(clients, id);
}
