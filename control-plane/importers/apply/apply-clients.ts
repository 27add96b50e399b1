/** Writes the clients of a plan. */
import type { ClientCreate } from '../../../shared/api/policy/clients-api.ts';
import { changedRow } from '../../clients/client-change.ts';
import type { StoredClient } from '../../clients/client-record.ts';
import { insertClients, type KnownBy, readClients, updateClient } from '../../clients/client-store.ts';
import type { ChangedRow } from '../../policy/change.ts';
import type { PlannedClient } from '../plan/import-plan.ts';
import { CollectedRows } from './collected-rows.ts';
import type { ImportRun } from './planned-state.ts';
import { sameFields } from './same-fields.ts';

/** More than a node keeps in memory. */
const ALL = 1_000_000;

/** A client that was written, and its row for the audit log. */
export interface WrittenClient {
  readonly client: StoredClient;
  readonly rows: readonly ChangedRow[];
}

/** Writes clients; returns those that are new or changed. */
export async function applyClients(run: ImportRun): Promise<WrittenClient[]> {
  const { clients } = run.plan;
  if (clients.length === 0) return [];
  const stored = await readClients(run.tx, ALL);
  const known = {
    mac: new Map<string, StoredClient>(),
    ip: new Map<string, StoredClient>(),
    key: keyed(stored),
  };
  for (const client of stored) {
    const [knownBy, text] = knownAs(client);
    known[knownBy].set(text, client);
  }
  const written: WrittenClient[] = [];
  const added = { mac: newClients(run, 'mac'), ip: newClients(run, 'ip'), key: newClients(run, 'key') };
  for (const client of clients) {
    const { mac, ip, key, name } = client;
    const [knownBy, text] = knownAs(client);
    await added[knownBy].settle(text);
    const before = known[knownBy].get(text);
    if (before !== undefined) {
      const after = await changeClient(run, client, before);
      if (after !== null) written.push({ client: after, rows: changedRow(before, after) });
      continue;
    }
    run.note(client, 'done');
    const row = { mac_address: mac, ip_address: ip, client_key: key, name, group_id: groupOf(run, client) };
    await added[knownBy].add(text, row, (after) => {
      known[knownBy].set(text, after);
      written.push({ client: after, rows: changedRow(null, after) });
    });
  }
  for (const rows of [added.mac, added.ip, added.key]) await rows.flush();
  return written;
}

/** The first of MAC, address and key that a client has. */
function knownAs({ mac, ip, key }: Pick<StoredClient, 'mac' | 'ip' | 'key'>): [KnownBy, string] {
  if (mac !== null) return ['mac', mac];
  return ip === null ? ['key', key ?? ''] : ['ip', ip];
}

/** Whatever else they are known by: a key is of one client. */
function keyed(clients: readonly StoredClient[]): Map<string, StoredClient> {
  return new Map(clients.flatMap((client) => (client.key === null ? [] : [[client.key, client] as const])));
}

function newClients({ tx }: ImportRun, knownBy: KnownBy): CollectedRows<ClientCreate, StoredClient> {
  return new CollectedRows((clients) => insertClients(tx, clients, knownBy));
}

function groupOf(run: ImportRun, { group }: PlannedClient): number | null {
  return group === null ? null : run.groupId(group);
}

async function changeClient(
  run: ImportRun,
  client: PlannedClient,
  before: StoredClient,
): Promise<StoredClient | null> {
  const groupId = groupOf(run, client);
  const wanted = {
    name: client.name ?? before.name,
    groupId: client.group === null ? before.groupId : groupId,
  };
  if (sameFields(before, wanted)) {
    run.note(client, null);
    return null;
  }
  run.note(client, 'changed');
  return updateClient(run.tx, before.id, { name: wanted.name, group_id: wanted.groupId });
}
