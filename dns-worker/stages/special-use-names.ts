/**
 * Answers queries that must not leave this network, or that only test it: names reserved by RFC 6761, RFC 6303 and
 * similar documents, PTR of private addresses, single-label names, and the canary names with which browsers and systems
 * check whether they may use their own resolvers. A local record or a forward zone for such a name outranks this stage.
 * Each kind has its own flag (`QuestionFlag`); a grant or schedule that allows everything disables the blocks (private
 * PTR, single labels, canaries); reserved names are still answered here.
 */
import { ExtendedError, Rcode, RRType } from '../../shared/dns/iana.ts';
import { nameFromText } from '../../shared/dns/name.ts';
import { Header } from '../../shared/dns/wire.ts';
import { QueryStatus, type QueryStatusCode } from '../../shared/query-log.ts';
import { QuestionFlag } from '../../shared/snapshot/policy-table.ts';
import { type Query, StageResult, type StageResultCode } from '../query/query.ts';
import { answerNegative, answerRecord } from '../respond/block-answer.ts';
import type { ServerIdentity } from '../policy/server-identity.ts';
import type { OpenSnapshot } from '../policy/open-snapshot.ts';
import { isFreed } from '../policy/freed-query.ts';
import { designate } from '../respond/ddr-answer.ts';
import {
  answerInZone,
  apexOffset,
  HOME_ARPA,
  isBelow,
  LOCAL_ZONE_TTL_SECS,
  LOCALHOST,
  type LocalZone,
  NO_SUCH_ZONES,
  noData,
  noSuchName,
  PRIVATE_ZONES,
  RESERVED_REVERSE_ZONES,
  RESOLVER_ARPA,
  zoneOf,
} from '../respond/local-zones.ts';
import { answerInOwnZone, isInOwnZone } from '../respond/own-zone.ts';

const LOOPBACK_V4 = Uint8Array.from([127, 0, 0, 1]);
const LOOPBACK_V6 = Uint8Array.from({ length: 16 }, (_, i) => (i === 15 ? 1 : 0));

const name = (text: string): Uint8Array => nameFromText(text)!;

const LOCALHOST_V4 = name('1.0.0.127.in-addr.arpa');
const LOCALHOST_V6 = name(`1.${'0.'.repeat(31)}ip6.arpa`);
const DNS_RESOLVER_ARPA = name('_dns.resolver.arpa');
const IN_ADDR_ARPA = name('in-addr.arpa');
const IP6_ARPA = name('ip6.arpa');
const ARPA = name('arpa');
/** Canary with which Firefox checks whether it may use its own DNS over HTTPS. */
const DOH_CANARY = name('use-application-dns.net');
/** Canaries with which Apple's systems check whether they may use Private Relay. */
const PRIVATE_RELAY_CANARIES = ['mask.icloud.com', 'mask-h2.icloud.com'].map(name);
const CANARY_TLD_LENGTH = 3;

/** Flags of names that are blocked, not answered here. */
const BLOCKING_FLAGS =
  QuestionFlag.BLOCK_PRIVATE_PTR |
  QuestionFlag.BLOCK_NON_FQDN |
  QuestionFlag.DOH_CANARY |
  QuestionFlag.PRIVATE_RELAY_CANARY;

/** Answers a query for a special-use name or in a zone without servers; other forward zones outrank this stage. */
export function specialUseNamesStage(
  query: Query,
  snapshot: OpenSnapshot,
  identity: ServerIdentity,
): StageResultCode {
  const { policy } = snapshot;
  if (query.zoneIndex >= 0)
    return isInOwnZone(query, snapshot) ? answerInOwnZone(query, snapshot) : StageResult.CONTINUE;
  let flags = policy.questionFlags;
  if (flags === 0 || query.labelCount === 0) return StageResult.CONTINUE;
  if (isFreed(query, policy)) flags &= ~BLOCKING_FLAGS;
  if (query.labelCount === 1) return checkSingleLabel(query, snapshot, flags);
  const { qname, labelAt, labelCount } = query;
  const tld = qname[labelAt[labelCount - 1]!]!;
  if (isBelow(query, ARPA)) {
    const isAsking = is(query, DNS_RESOLVER_ARPA) && query.qtype === RRType.SVCB;
    if (isAsking && (flags & QuestionFlag.SPECIAL_NAMES) !== 0) return designate(query, snapshot, identity);
    return checkArpa(query, flags, policy.questionFlags);
  }
  if (tld === CANARY_TLD_LENGTH) return checkCanaries(query, flags);
  return (flags & QuestionFlag.SPECIAL_NAMES) === 0 ? StageResult.CONTINUE : checkReserved(query);
}

/**
 * Names without a dot belong to the local network; queries for NS, SOA, DS and DNSKEY are forwarded, because resolvers
 * need them for top-level domains.
 */
function checkSingleLabel(query: Query, { local }: OpenSnapshot, flags: number): StageResultCode {
  if ((flags & QuestionFlag.SPECIAL_NAMES) !== 0) {
    const result = checkReserved(query);
    if (result !== StageResult.CONTINUE) return result;
  }
  const { qtype } = query;
  if (qtype === RRType.NS || qtype === RRType.SOA || qtype === RRType.DS || qtype === RRType.DNSKEY)
    return StageResult.CONTINUE;
  const isBlocked = (flags & QuestionFlag.BLOCK_NON_FQDN) !== 0;
  if (!isBlocked && (flags & QuestionFlag.NEVER_FORWARD_NON_FQDN) === 0) return StageResult.CONTINUE;
  // NODATA, not NXDOMAIN: NXDOMAIN would deny the local records below the domain (RFC 8020).
  if (local.find(query.hashLow[0]!, query.hashHigh[0]!, query.qname, 0, query.qnameLength) !== 0)
    return noDataHere(query);
  return isBlocked ? blocked(query, QueryStatus.BLOCKED_NON_FQDN) : noSuchHost(query);
}

function checkReserved(query: Query): StageResultCode {
  if (isBelow(query, LOCALHOST.wire)) return answerLocalhost(query);
  const zone = zoneOf(query, NO_SUCH_ZONES);
  return zone === null ? StageResult.CONTINUE : noSuchName(query, zone);
}

/** `configured` contains the flags before the exceptions of a grant or schedule. */
function checkArpa(query: Query, flags: number, configured: number): StageResultCode {
  const isReserving = (flags & QuestionFlag.SPECIAL_NAMES) !== 0;
  if (isReserving) {
    if (query.qtype === RRType.PTR && (is(query, LOCALHOST_V4) || is(query, LOCALHOST_V6)))
      return answerReverseLocalhost(query);
    if (isBelow(query, HOME_ARPA.wire)) return answerInZone(query, HOME_ARPA);
    if (is(query, DNS_RESOLVER_ARPA)) return noData(query, RESOLVER_ARPA);
    if (isBelow(query, RESOLVER_ARPA.wire)) return answerInZone(query, RESOLVER_ARPA);
  }
  if (!isBelow(query, IN_ADDR_ARPA) && !isBelow(query, IP6_ARPA)) return StageResult.CONTINUE;
  const privateZone = zoneOf(query, PRIVATE_ZONES);
  if (privateZone !== null) return checkPrivate(query, privateZone, flags, configured);
  const zone = isReserving ? zoneOf(query, RESERVED_REVERSE_ZONES) : null;
  if (zone !== null) return is(query, LOCALHOST_V4) ? noData(query, zone) : answerInZone(query, zone);
  return checkReverse(query, flags);
}

function checkPrivate(query: Query, zone: LocalZone, flags: number, configured: number): StageResultCode {
  if (query.qtype === RRType.PTR) {
    if ((flags & QuestionFlag.BLOCK_PRIVATE_PTR) === 0) return checkReverse(query, flags);
    // The apex itself does not stand for an address, so it gets NODATA: NXDOMAIN would deny all names below it (RFC
    // 8020).
    if (is(query, zone.wire)) return noData(query, zone);
    return blocked(query, QueryStatus.BLOCKED_PTR, apexOffset(query, zone));
  }
  // choice: if private PTR queries are forwarded, a server for these zones exists, which also answers other types.
  const isHere =
    (flags & QuestionFlag.SPECIAL_NAMES) !== 0 && (configured & QuestionFlag.BLOCK_PRIVATE_PTR) !== 0;
  return isHere ? answerInZone(query, zone) : StageResult.CONTINUE;
}

function checkReverse(query: Query, flags: number): StageResultCode {
  const staysHere = (flags & QuestionFlag.NEVER_FORWARD_REVERSE) !== 0 && query.qtype === RRType.PTR;
  return staysHere ? noSuchHost(query) : StageResult.CONTINUE;
}

function checkCanaries(query: Query, flags: number): StageResultCode {
  const isCanary =
    ((flags & QuestionFlag.DOH_CANARY) !== 0 && is(query, DOH_CANARY)) ||
    ((flags & QuestionFlag.PRIVATE_RELAY_CANARY) !== 0 &&
      (is(query, PRIVATE_RELAY_CANARIES[0]!) || is(query, PRIVATE_RELAY_CANARIES[1]!)));
  return isCanary ? blocked(query, QueryStatus.LOCAL) : StageResult.CONTINUE;
}

/** Answers with the loopback address, for the name and all names below it (RFC 6761 section 6.3). */
function answerLocalhost(query: Query): StageResultCode {
  query.status = QueryStatus.LOCAL;
  if (query.qtype === RRType.A) answerRecord(query, LOOPBACK_V4, LOCAL_ZONE_TTL_SECS);
  else if (query.qtype === RRType.AAAA) answerRecord(query, LOOPBACK_V6, LOCAL_ZONE_TTL_SECS);
  else return noData(query, LOCALHOST);
  return StageResult.ANSWERED;
}

function answerReverseLocalhost(query: Query): StageResultCode {
  query.status = QueryStatus.LOCAL;
  answerRecord(query, LOCALHOST.wire, LOCAL_ZONE_TTL_SECS);
  return StageResult.ANSWERED;
}

/** NODATA for a domain outside any known zone, with local names below it. */
function noDataHere(query: Query): StageResultCode {
  query.status = QueryStatus.LOCAL;
  answerNegative(query, Rcode.NOERROR, LOCAL_ZONE_TTL_SECS);
  return StageResult.ANSWERED;
}

/** NXDOMAIN for a name outside any known zone. */
function noSuchHost(query: Query): StageResultCode {
  query.status = QueryStatus.LOCAL;
  answerNegative(query, Rcode.NXDOMAIN, LOCAL_ZONE_TTL_SECS);
  return StageResult.ANSWERED;
}

function blocked(query: Query, status: QueryStatusCode, owner: number = Header.SIZE): StageResultCode {
  query.status = status;
  query.extendedError = ExtendedError.BLOCKED;
  answerNegative(query, Rcode.NXDOMAIN, LOCAL_ZONE_TTL_SECS, owner);
  return StageResult.ANSWERED;
}

function is(query: Query, wire: Uint8Array): boolean {
  return query.qnameLength === wire.length && isBelow(query, wire);
}
