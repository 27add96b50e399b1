/** The small numbers of `query_log` as the texts of the API, and back. */
import { Rcode, rcodeName, rrTypeName } from '../../../shared/dns/iana.ts';
import { DNSSEC_STATUS_NAMES, PROTOCOL_NAMES, QUERY_STATUS_NAMES } from '../../../shared/query-log.ts';
import type { DnssecStatusName, ProtocolName, QueryStatusName } from '../../../shared/query-log.ts';

/** Mnemonic of a stored type, which is the 16-bit qtype as a signed number. */
export function typeFromStored(stored: number): string {
  return rrTypeName(stored & 0xffff);
}

/** Mnemonic of a stored rcode. */
export function rcodeFromStored(stored: number): string {
  return rcodeName(stored);
}

/** Number of an rcode's mnemonic or `RCODEnn` in any case; null when it is neither. */
export function rcodeFromName(name: string): number | null {
  const upper = name.toUpperCase();
  const known = Object.entries(Rcode).find(([mnemonic]) => mnemonic === upper);
  if (known) return known[1];
  const generic = /^RCODE(\d{1,4})$/.exec(upper);
  return generic ? Number(generic[1]) : null;
}

/** Name of a stored status. A number of a later version of Weir shows as its likeliest meaning. */
export function statusFromStored(stored: number): QueryStatusName {
  return QUERY_STATUS_NAMES[stored] ?? 'ALLOWED';
}

/** Name of a stored protocol. */
export function protocolFromStored(stored: number): ProtocolName {
  return PROTOCOL_NAMES[stored] ?? 'udp';
}

/** Name of a stored DNSSEC state. */
export function dnssecFromStored(stored: number): DnssecStatusName {
  return DNSSEC_STATUS_NAMES[stored] ?? 'unchecked';
}
