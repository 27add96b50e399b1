/**
 * One client per device: Weir identifies clients by MAC before address, so an entry for an address whose device has a
 * known MAC becomes an entry for that MAC. If the entries for one device have two groups, the user is asked one
 * question about the device.
 */
import { type ImportReason, importReason } from '../../../../shared/policy/reasons/import-reasons.ts';
import type { ImportQuestion } from '../../../../shared/api/imports-api.ts';
import type { Queryable } from '../../../storage/db/database.ts';
import type { Item } from '../../backup/backup-kind.ts';
import type { KnownDevice } from '../plan/import-plan.ts';

/** A client of the plan, and the items of the file from which it was made. */
interface PlannedClient {
  readonly item: Item;
  readonly origin: readonly number[];
}

/** The clients of a plan, one for each device. */
export interface OneDeviceEach {
  readonly clients: readonly PlannedClient[];
  readonly questions: readonly ImportQuestion[];
  readonly remarks: readonly { readonly items: readonly number[]; readonly text: ImportReason }[];
}

/** Data for assigning entries to devices. */
interface KnownClients {
  /** MACs by address. */
  readonly macs: ReadonlyMap<string, string>;
  /** Clients that users have configured in Weir. */
  readonly stored: readonly Item[];
  readonly answers: ReadonlyMap<string, string>;
}

/** MACs of the devices to which these addresses belong: as last seen by Weir in this site, or according to the file. */
export async function macsOf(
  tx: Queryable,
  addresses: readonly string[],
  { site, devices }: { readonly site: string; readonly devices: readonly KnownDevice[] },
): Promise<ReadonlyMap<string, string>> {
  const macs = new Map(devices.map(({ mac, address }) => [address, mac]));
  const { rows } = await tx.query<{ address: string; mac: string }>(
    `SELECT DISTINCT ON (a.address) host(a.address) AS address, c.mac_address::text AS mac
     FROM unnest($1::inet[]) AS a(address) JOIN clients c ON c.site = $2 AND c.mac_address IS NOT NULL
       AND (c.ip_address = a.address OR a.address = ANY (c.addresses))
     ORDER BY a.address, c.last_seen DESC NULLS LAST`,
    [addresses, site],
  );
  for (const { address, mac } of rows) macs.set(address, mac);
  return macs;
}

/** Merges the entries of each device. */
export function oneDeviceEach(
  planned: readonly PlannedClient[],
  { macs, stored, answers }: KnownClients,
): OneDeviceEach {
  const questions: ImportQuestion[] = [];
  const remarks: { items: readonly number[]; text: ImportReason }[] = [];
  const clients = new Map<string, PlannedClient>();
  for (const client of planned) clients.set(keyOf(client.item), client);
  for (const { item: entry, origin } of planned) {
    const address = entry['ip_address'];
    const mac = entry['mac_address'] === null && typeof address === 'string' ? macs.get(address) : undefined;
    if (mac === undefined) continue;
    clients.delete(keyOf(entry));
    const other = clients.get(mac);
    const here = stored.find(({ mac_address: known }) => known === mac);
    const device = other?.item ?? here;
    const ofAddress = textOf(entry['group']);
    const ofDevice = textOf(device?.['group']);
    const name = textOf(device?.['name']) ?? textOf(entry['name']);
    let group = ofAddress ?? ofDevice;
    const id = `device.${mac.replaceAll(':', '')}`;
    // The answer for one address of a device applies to its other addresses.
    if (questions.some((question) => question.id === id)) group = ofDevice;
    else if (ofAddress !== null && ofDevice !== null && ofAddress.toLowerCase() !== ofDevice.toLowerCase()) {
      const given = answers.get(id);
      const choice = given === 'device' ? 'device' : 'address';
      group = choice === 'device' ? ofDevice : ofAddress;
      questions.push({
        id,
        kind: 'device_group',
        name: [name, String(address), mac].filter((part) => part !== null).join(', '),
        choices: [
          { id: 'address', text: ofAddress },
          { id: 'device', text: ofDevice },
        ],
        choice,
      });
    }
    const merged = {
      ...entry,
      ip_address: null,
      mac_address: mac,
      client_key: entry['client_key'] ?? other?.item['client_key'] ?? null,
      name,
      group,
      ...either(['exclude_from_log', 'exclude_from_stats'], entry, other?.item),
    };
    const origins = [...(other?.origin ?? []), ...origin];
    clients.set(mac, { item: merged, origin: origins });
    remarks.push({
      items: origin,
      text: importReason('same_device', { mac }),
    });
  }
  return { clients: [...clients.values()], questions, remarks };
}

function keyOf({ mac_address: mac, ip_address: ip, client_key: key }: Item): string {
  return textOf(mac) ?? textOf(ip) ?? `key ${String(key)}`;
}

/** Flags that are set in either item. */
function either(names: readonly string[], a: Item, b: Item | undefined): Item {
  return Object.fromEntries(names.map((name) => [name, a[name] === true || b?.[name] === true]));
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
