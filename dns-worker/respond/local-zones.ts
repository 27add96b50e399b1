/**
 * Zones that this server answers itself, as described in RFC 6303 section 3: empty except for SOA and NS at the apex.
 * Queries for the DS of such a zone are forwarded to the parent, which proves that the zone is not signed.
 */
import { RRType, Rcode } from '../../shared/dns/iana.ts';
import { nameFromText } from '../../shared/dns/name.ts';
import { Header } from '../../shared/dns/wire.ts';
import { QueryStatus } from '../../shared/query-log.ts';
import { type Query, StageResult, type StageResultCode } from '../query/query.ts';
import { answerNegative, answerRecord, soaRdata } from './block-answer.ts';

/** TTL of the answers, seconds. */
export const LOCAL_ZONE_TTL_SECS = 300;

/** Names in wire form, and the content of the SOA at the apex. */
export interface LocalZone {
  readonly wire: Uint8Array;
  readonly soa: Uint8Array;
}

/** The zone of this name; throws if it is not a domain name. */
export function localZone(name: string): LocalZone {
  const wire = nameFromText(name)!;
  return { wire, soa: soaRdata(wire, LOCAL_ZONE_TTL_SECS) };
}

export const HOME_ARPA = localZone('home.arpa');
/** The zone of RFC 9462 section 6.4. */
export const RESOLVER_ARPA = localZone('resolver.arpa');
export const LOCALHOST = localZone('localhost');
/** Zones that must not be looked up: RFC 6761 sections 6.2 and 6.4, RFC 7686, RFC 6762 section 22.1. */
export const NO_SUCH_ZONES = ['test', 'invalid', 'onion', 'local'].map(localZone);
/** Reverse zones of the networks in RFC 1918. */
export const PRIVATE_ZONES = [
  '10.in-addr.arpa',
  '168.192.in-addr.arpa',
  ...Array.from({ length: 16 }, (_, i) => `${16 + i}.172.in-addr.arpa`),
].map(localZone);
/**
 * The zones of RFC 6303 section 4, except the zones for unique local addresses (RFC 4193); and the zones of RFC 7793
 * (shared address space).
 */
export const RESERVED_REVERSE_ZONES = [
  '0.in-addr.arpa',
  '127.in-addr.arpa',
  '254.169.in-addr.arpa',
  '2.0.192.in-addr.arpa',
  '100.51.198.in-addr.arpa',
  '113.0.203.in-addr.arpa',
  '255.255.255.255.in-addr.arpa',
  ...Array.from({ length: 64 }, (_, i) => `${64 + i}.100.in-addr.arpa`),
  `${'0.'.repeat(32)}ip6.arpa`,
  `1.${'0.'.repeat(31)}ip6.arpa`,
  'c.f.ip6.arpa',
  'd.f.ip6.arpa',
  '8.e.f.ip6.arpa',
  '9.e.f.ip6.arpa',
  'a.e.f.ip6.arpa',
  'b.e.f.ip6.arpa',
  '8.b.d.0.1.0.0.2.ip6.arpa',
].map(localZone);

/** The first of the zones that contains the qname; null = none. */
export function zoneOf(query: Query, zones: readonly LocalZone[]): LocalZone | null {
  for (let i = 0; i < zones.length; i++) if (isBelow(query, zones[i]!.wire)) return zones[i]!;
  return null;
}

/** Answers a query for a name in a local zone; CONTINUE for DS at the apex. */
export function answerInZone(query: Query, zone: LocalZone): StageResultCode {
  if (query.qnameLength !== zone.wire.length) return noSuchName(query, zone);
  if (query.qtype === RRType.DS) return StageResult.CONTINUE;
  query.status = QueryStatus.LOCAL;
  if (query.qtype === RRType.SOA) answerRecord(query, zone.soa, LOCAL_ZONE_TTL_SECS);
  else if (query.qtype === RRType.NS) answerRecord(query, zone.wire, LOCAL_ZONE_TTL_SECS);
  else return noData(query, zone);
  return StageResult.ANSWERED;
}

/** NODATA: the name exists, but has no records of the type. */
export function noData(query: Query, zone: LocalZone): StageResultCode {
  return answerEmpty(query, Rcode.NOERROR, zone);
}

export function noSuchName(query: Query, zone: LocalZone): StageResultCode {
  return answerEmpty(query, Rcode.NXDOMAIN, zone);
}

function answerEmpty(query: Query, rcode: number, zone: LocalZone): StageResultCode {
  query.status = QueryStatus.LOCAL;
  answerNegative(query, rcode, LOCAL_ZONE_TTL_SECS, apexOffset(query, zone));
  return StageResult.ANSWERED;
}

/** Offset of the zone's name in the message: the end of the qname. */
export function apexOffset({ qnameLength }: Query, { wire }: LocalZone): number {
  return Header.SIZE + qnameLength - wire.length;
}

/** Whether the qname is this name or below it. */
export function isBelow(query: Query, wire: Uint8Array): boolean {
  const { qname, qnameLength, labelAt, labelCount } = query;
  const start = qnameLength - wire.length;
  if (start < 0) return false;
  // Compare from the end, because most names differ in their last label.
  for (let i = wire.length - 1; i >= 0; i--) if (qname[start + i] !== wire[i]) return false;
  for (let label = 0; label < labelCount; label++) if (labelAt[label] === start) return true;
  return false;
}
