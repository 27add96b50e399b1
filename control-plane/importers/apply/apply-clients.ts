/** Writes the clients and subnets of a plan. */
import { changedRow } from '../../clients/client-change.ts';
import type { StoredClient } from '../../clients/client-record.ts';
import { insertClient, readClients, updateClient } from '../../clients/client-store.ts';
import { deleteSubnet, insertSubnet, listSubnets } from '../../clients/client-subnet-store.ts';
import type { ChangedRow } from '../../policy/change.ts';
import type { PlannedClient } from '../plan/import-plan.ts';
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
  const byMac = new Map(
    stored.flatMap((client) => (client.mac === null ? [] : [[client.mac, client] as const])),
  );
  const byIp = new Map(
    stored.flatMap((client) =>
      client.mac === null && client.ip !== null ? [[client.ip, client] as const] : [],
    ),
  );
  const written: WrittenClient[] = [];
  for (const client of clients) {
    const before = client.mac === null ? byIp.get(client.ip ?? '') : byMac.get(client.mac);
    const after = await applyClient(run, client, before);
    if (after !== null) written.push({ client: after, rows: changedRow(before ?? null, after) });
  }
  return written;
}

async function applyClient(
  run: ImportRun,
  client: PlannedClient,
  before: StoredClient | undefined,
): Promise<StoredClient | null> {
  const { mac, ip, name } = client;
  const groupId = client.group === null ? null : run.groupId(client.group);
  if (before === undefined) {
    run.note(client, 'done');
    return insertClient(run.tx, { mac_address: mac, ip_address: ip, name, group_id: groupId });
  }
  const wanted = { name: name ?? before.name, groupId: client.group === null ? before.groupId : groupId };
  if (sameFields(before, wanted)) {
    run.note(client, null);
    return null;
  }
  run.note(client, 'changed');
  return updateClient(run.tx, before.id, { name: wanted.name, group_id: wanted.groupId });
}

/** Writes subnets. */
export async function applySubnets(run: ImportRun): Promise<void> {
  const known = new Map((await listSubnets(run.tx)).map((subnet) => [subnet.subnet_cidr, subnet]));
  for (const subnet of run.plan.subnets) {
    const { cidr, comment } = subnet;
    const groupId = run.groupId(subnet.group);
    const before = known.get(cidr);
    if (before?.group_id === groupId) {
      run.note(subnet, null);
      continue;
    }
    if (before !== undefined) await deleteSubnet(run.tx, before.id);
    await insertSubnet(run.tx, {
      subnet_cidr: cidr,
      group_id: groupId,
      comment: comment || (before?.comment ?? ''),
    });
    run.note(subnet, before === undefined ? 'done' : 'changed');
  }
}
