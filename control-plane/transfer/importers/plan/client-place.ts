/** Identifiers of clients (address, network, MAC or key), and reports of entries for clients that overlap. Pure. */
import { type ImportReason, importReason } from '../../../../shared/policy/reasons/import-reasons.ts';
import { networkContains, networkFromText } from '../../../../shared/net/cidr.ts';
import { addressFromText } from '../../../../shared/net/ip.ts';
import { canonicalMac } from '../../../../shared/net/mac.ts';
import type { PlanBuilder } from './plan-builder.ts';

/** An identifier of a client. */
export interface ClientPlace {
  readonly kind: 'ip' | 'subnet' | 'mac' | 'key';
  readonly text: string;
}

/** A client of the plan, as written in the file. */
export interface PlacedClient {
  readonly shown: string;
  readonly place: ClientPlace;
  readonly group: string;
}

/** Other settings of a client in a file. */
interface PlacedDetails {
  readonly name: string | null;
  /** Comment on the client's item. */
  readonly remark?: ImportReason | null;
  readonly excludeFromLog?: boolean;
  readonly excludeFromStats?: boolean;
}

/** Reads an address, a network or a MAC; null for anything else. */
export function placeOf(text: string): ClientPlace | null {
  if (text.includes('/')) return networkFromText(text) === null ? null : { kind: 'subnet', text };
  if (!text.includes('%') && addressFromText(text) !== null) return { kind: 'ip', text };
  const mac = canonicalMac(text);
  return mac === null ? null : { kind: 'mac', text: mac };
}

/** Adds a client, or a network of clients. */
export function addPlacedClient(
  builder: PlanBuilder,
  { shown, place, group }: PlacedClient,
  { name, remark = null, excludeFromLog = false, excludeFromStats = false }: PlacedDetails,
): void {
  const { kind, text } = place;
  const isExcluded = excludeFromLog || excludeFromStats;
  if (kind === 'subnet') {
    if (isExcluded) builder.notMapped('subnet', shown, importReason('excluded_network'));
    return builder.subnet({ cidr: text, group, comment: name ?? '' }, builder.item('subnet', shown, remark));
  }
  const known = { mac: null, ip: null, key: null, [kind]: text };
  builder.client(
    { ...known, name, group, excludeFromLog, excludeFromStats },
    builder.item('client', shown, remark),
  );
}

/** Whether a network contains an address, or an identifier is that address. */
export function holdsAddress({ kind, text }: ClientPlace, address: string): boolean {
  const bytes = addressFromText(address);
  const network = kind === 'mac' ? null : networkFromText(text);
  return bytes !== null && network !== null && networkContains(network, bytes);
}

/**
 * Weir identifies clients by MAC first, most programs by address: an entry for the address of a device becomes an entry
 * for its MAC. Clients that get a different group than their network are reported.
 */
export function reportOverlaps(
  builder: PlanBuilder,
  program: string,
  clients: readonly PlacedClient[],
  devices: readonly { readonly mac: string; readonly address: string }[],
): void {
  for (const { mac, address } of devices) {
    const known = canonicalMac(mac);
    if (known !== null) builder.device(known, address);
  }
  for (const { shown, place, group } of clients) {
    if (place.kind !== 'mac') continue;
    const addresses = devices
      .filter(({ mac }) => canonicalMac(mac) === place.text)
      .map(({ address }) => address);
    const other = clients.find(
      (rival) =>
        rival.place.kind === 'subnet' &&
        rival.group !== group &&
        addresses.some((at) => holdsAddress(rival.place, at)),
    );
    if (other === undefined) continue;
    const reason = importReason('other_group_by_address', {
      program,
      other: other.group,
      shown: other.shown,
      group,
    });
    builder.differs('client', shown, reason, []);
  }
}
