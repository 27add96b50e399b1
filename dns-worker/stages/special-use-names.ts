/**
 * Answers questions that must not leave this network, or that only probe it: names that RFC 6761, RFC 6303 and their
 * like reserve, PTR of private addresses, names of one label, and the canary names by which browsers and systems ask
 * whether their own resolvers may be used. A local record or a forward zone for such a name outranks all of this. Each
 * kind has its switch (`QuestionFlag`); a grant or a schedule that allows all lifts the blocks (private PTR, single labels,
 * canaries), while reserved names are still answered here.
 */
import { ExtendedError, Rcode, RRType } from '../../shared/dns/iana.ts';
import { nameFromText } from '../../shared/dns/name.ts';
import { QueryStatus, type QueryStatusCode } from '../../shared/query-log.ts';
import { QuestionFlag } from '../../shared/snapshot/policy-table.ts';
import { type Query, StageResult, type StageResultCode } from '../query/query.ts';
import { answerNegative, answerRecord, answerRecords } from '../respond/block-answer.ts';
import type { ServerIdentity } from '../policy/server-identity.ts';
import type { OpenSnapshot } from '../policy/open-snapshot.ts';
import { isFreed } from '../policy/freed-query.ts';

/** TTL of these answers, seconds. */
const TTL_SECS = 300;

const LOOPBACK_V4 = Uint8Array.from([127, 0, 0, 1]);
const LOOPBACK_V6 = Uint8Array.from({ length: 16 }, (_, i) => (i === 15 ? 1 : 0));

const name = (text: string): Uint8Array => nameFromText(text)!;

const LOCALHOST = name('localhost');
const LOCALHOST_V4 = name('1.0.0.127.in-addr.arpa');
const LOCALHOST_V6 = name(`1.${'0.'.repeat(31)}ip6.arpa`);
const HOME_ARPA = name('home.arpa');
const RESOLVER_ARPA = name('resolver.arpa');
const DNS_RESOLVER_ARPA = name('_dns.resolver.arpa');
const IN_ADDR_ARPA = name('in-addr.arpa');
const IP6_ARPA = name('ip6.arpa');
const ARPA = name('arpa');
/** Never to be looked up: RFC 6761 sections 6.2 and 6.4, RFC 7686, RFC 6762 section 22.1. */
const NO_SUCH_ZONES = ['test', 'invalid', 'onion', 'local'].map(name);
/** RFC 1918, and unique local addresses as their kin (RFC 4193). */
const PRIVATE_ZONES = [
  '10.in-addr.arpa',
  '168.192.in-addr.arpa',
  ...Array.from({ length: 16 }, (_, i) => `${16 + i}.172.in-addr.arpa`),
  'c.f.ip6.arpa',
  'd.f.ip6.arpa',
].map(name);
/** RFC 6303 section 4 without those, and RFC 7793 (shared address space). */
const RESERVED_REVERSE_ZONES = [
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
  '8.e.f.ip6.arpa',
  '9.e.f.ip6.arpa',
  'a.e.f.ip6.arpa',
  'b.e.f.ip6.arpa',
  '8.b.d.0.1.0.0.2.ip6.arpa',
].map(name);
/** Canary by which Firefox checks whether it may use its own DNS over HTTPS. */
const DOH_CANARY = name('use-application-dns.net');
/** Canaries by which Apple's systems check whether they may use Private Relay. */
const PRIVATE_RELAY_CANARIES = ['mask.icloud.com', 'mask-h2.icloud.com'].map(name);
const CANARY_TLD_LENGTH = 3;

/** Flags that block, as opposed to those that answer here. */
const BLOCKING_FLAGS =
  QuestionFlag.BLOCK_PRIVATE_PTR |
  QuestionFlag.BLOCK_NON_FQDN |
  QuestionFlag.DOH_CANARY |
  QuestionFlag.PRIVATE_RELAY_CANARY;

/** Answers a question of a special form, unless there is a forward zone for its name. */
export function specialUseNamesStage(
  query: Query,
  { policy }: OpenSnapshot,
  identity: ServerIdentity,
): StageResultCode {
  if (query.zoneIndex >= 0) return StageResult.CONTINUE;
  let flags = policy.questionFlags;
  if (flags === 0 || query.labelCount === 0) return StageResult.CONTINUE;
  if (isFreed(query, policy)) flags &= ~BLOCKING_FLAGS;
  if (query.labelCount === 1) return checkSingleLabel(query, flags);
  const { qname, labelAt, labelCount } = query;
  const tld = qname[labelAt[labelCount - 1]!]!;
  if (endsWith(query, ARPA)) {
    const isAsking = is(query, DNS_RESOLVER_ARPA) && query.qtype === RRType.SVCB;
    if (isAsking && (flags & QuestionFlag.SPECIAL_NAMES) !== 0) return designate(query, identity);
    return checkArpa(query, flags, policy.questionFlags);
  }
  if (tld === CANARY_TLD_LENGTH) return checkCanaries(query, flags);
  return (flags & QuestionFlag.SPECIAL_NAMES) === 0 ? StageResult.CONTINUE : checkReserved(query);
}

/** Names without a dot belong to the local network; resolvers ask the root's zones for other types. */
function checkSingleLabel(query: Query, flags: number): StageResultCode {
  if ((flags & QuestionFlag.SPECIAL_NAMES) !== 0) {
    const result = checkReserved(query);
    if (result !== StageResult.CONTINUE) return result;
  }
  const { qtype } = query;
  if (qtype === RRType.NS || qtype === RRType.SOA || qtype === RRType.DS || qtype === RRType.DNSKEY)
    return StageResult.CONTINUE;
  if ((flags & QuestionFlag.BLOCK_NON_FQDN) !== 0) return blocked(query, QueryStatus.BLOCKED_NON_FQDN);
  return (flags & QuestionFlag.NEVER_FORWARD_NON_FQDN) === 0 ? StageResult.CONTINUE : noSuchName(query);
}

function checkReserved(query: Query): StageResultCode {
  if (endsWith(query, LOCALHOST)) return answerLocalhost(query);
  for (let i = 0; i < NO_SUCH_ZONES.length; i++)
    if (endsWith(query, NO_SUCH_ZONES[i]!)) return noSuchName(query);
  return StageResult.CONTINUE;
}

/** `configured` are the flags before a schedule lifted any. */
function checkArpa(query: Query, flags: number, configured: number): StageResultCode {
  const isReserving = (flags & QuestionFlag.SPECIAL_NAMES) !== 0;
  if (isReserving) {
    if (is(query, LOCALHOST_V4) || is(query, LOCALHOST_V6)) return answerReverseLocalhost(query);
    if (endsWith(query, HOME_ARPA)) return checkHomeArpa(query);
    if (endsWith(query, RESOLVER_ARPA)) return checkResolverArpa(query);
  }
  if (!endsWith(query, IN_ADDR_ARPA) && !endsWith(query, IP6_ARPA)) return StageResult.CONTINUE;
  if (isInOneOf(query, PRIVATE_ZONES)) {
    const isPtr = query.qtype === RRType.PTR;
    if (isPtr && (flags & QuestionFlag.BLOCK_PRIVATE_PTR) !== 0)
      return blocked(query, QueryStatus.BLOCKED_PTR);
    // choice: an operator who forwards private PTR has a server for these zones, which answers their other types, too.
    if (!isPtr && isReserving && (configured & QuestionFlag.BLOCK_PRIVATE_PTR) !== 0)
      return noSuchName(query);
  } else if (isReserving && isInOneOf(query, RESERVED_REVERSE_ZONES)) return noSuchName(query);
  const staysHere = (flags & QuestionFlag.NEVER_FORWARD_REVERSE) !== 0 && query.qtype === RRType.PTR;
  return staysHere ? noSuchName(query) : StageResult.CONTINUE;
}

/** RFC 8375 section 4: answered here, but for DS, which proves that the zone is not signed. */
function checkHomeArpa(query: Query): StageResultCode {
  if (!is(query, HOME_ARPA)) return noSuchName(query);
  return query.qtype === RRType.DS ? StageResult.CONTINUE : noData(query);
}

/** RFC 9462 section 4: the encrypted resolvers of this server, or nothing where there are none. */
function designate(query: Query, { designated }: ServerIdentity): StageResultCode {
  if (designated.length === 0) return noData(query);
  query.status = QueryStatus.LOCAL;
  answerRecords(query, designated, TTL_SECS);
  return StageResult.ANSWERED;
}

/** RFC 9462 section 6.4: answered here. */
function checkResolverArpa(query: Query): StageResultCode {
  return is(query, DNS_RESOLVER_ARPA) || is(query, RESOLVER_ARPA) ? noData(query) : noSuchName(query);
}

function checkCanaries(query: Query, flags: number): StageResultCode {
  const isCanary =
    ((flags & QuestionFlag.DOH_CANARY) !== 0 && is(query, DOH_CANARY)) ||
    ((flags & QuestionFlag.PRIVATE_RELAY_CANARY) !== 0 &&
      (is(query, PRIVATE_RELAY_CANARIES[0]!) || is(query, PRIVATE_RELAY_CANARIES[1]!)));
  return isCanary ? blocked(query, QueryStatus.LOCAL) : StageResult.CONTINUE;
}

/** RFC 6761 section 6.3: the loopback address for the name and all below it. */
function answerLocalhost(query: Query): StageResultCode {
  query.status = QueryStatus.LOCAL;
  if (query.qtype === RRType.A) answerRecord(query, LOOPBACK_V4, TTL_SECS);
  else if (query.qtype === RRType.AAAA) answerRecord(query, LOOPBACK_V6, TTL_SECS);
  else return noData(query);
  return StageResult.ANSWERED;
}

function answerReverseLocalhost(query: Query): StageResultCode {
  if (query.qtype !== RRType.PTR) return noData(query);
  query.status = QueryStatus.LOCAL;
  answerRecord(query, LOCALHOST, TTL_SECS);
  return StageResult.ANSWERED;
}

function noData(query: Query): StageResultCode {
  query.status = QueryStatus.LOCAL;
  answerNegative(query, Rcode.NOERROR, TTL_SECS);
  return StageResult.ANSWERED;
}

function noSuchName(query: Query): StageResultCode {
  query.status = QueryStatus.LOCAL;
  answerNegative(query, Rcode.NXDOMAIN, TTL_SECS);
  return StageResult.ANSWERED;
}

function blocked(query: Query, status: QueryStatusCode): StageResultCode {
  query.status = status;
  query.extendedError = ExtendedError.BLOCKED;
  answerNegative(query, Rcode.NXDOMAIN, TTL_SECS);
  return StageResult.ANSWERED;
}

function isInOneOf(query: Query, zones: readonly Uint8Array[]): boolean {
  for (let i = 0; i < zones.length; i++) if (endsWith(query, zones[i]!)) return true;
  return false;
}

function is(query: Query, wire: Uint8Array): boolean {
  return query.qnameLength === wire.length && endsWith(query, wire);
}

/** Whether the qname is this name or below it. */
function endsWith(query: Query, wire: Uint8Array): boolean {
  const { qname, qnameLength } = query;
  const start = qnameLength - wire.length;
  if (start < 0) return false;
  // From the end: most names differ in their last label.
  for (let i = wire.length - 1; i >= 0; i--) if (qname[start + i] !== wire[i]) return false;
  return startsLabel(query, start);
}

function startsLabel({ labelAt, labelCount }: Query, at: number): boolean {
  for (let label = 0; label < labelCount; label++) if (labelAt[label] === at) return true;
  return false;
}
