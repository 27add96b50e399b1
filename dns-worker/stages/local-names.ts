/**
 * Names that this server answers itself: records of the configuration, of the API and of DHCP leases. Aliases among
 * these names are followed here; the resolve thread follows an alias to any other name.
 */
import { Rcode, RRClass, RRType } from '../../shared/dns/iana.ts';
import { FlagsHigh, Record, writeU16, writeU32 } from '../../shared/dns/wire.ts';
import { QueryStatus } from '../../shared/query-log.ts';
import type { LocalNames } from '../../shared/snapshot/local-name-table.ts';
import { RuleOrigin } from '../../shared/snapshot/rule-origin.ts';
import type { MatchRecorder } from '../policy/policy-matcher.ts';
import { type NameTable, NOT_FOUND } from '../policy/name-table.ts';
import { type Query, StageResult, type StageResultCode } from '../query/query.ts';
import { appendCname, followAlias, NO_SPACE, QNAME_OFFSET } from '../respond/alias.ts';
import { answerNegative } from '../respond/block-answer.ts';
import { OWN_NEGATIVE_TTL_SECS } from '../respond/own-zone.ts';
import { finishReply, hasRoom, replyTruncated, replyWithRcode } from '../respond/reply.ts';
import type { OpenSnapshot } from '../policy/open-snapshot.ts';

/** Maximum number of aliases in a row; names from different sources can form loops. */
const MAX_HOPS = 8;
const POINTER = 0xc000;
const UNDERSCORE = 0x5f;

/** Answers a query for a local name; CONTINUE for other names. */
export function localNamesStage(
  query: Query,
  { local, zoneNames }: OpenSnapshot,
  recorder: MatchRecorder | null,
): StageResultCode {
  let node = findLocalNode(query, local, zoneNames);
  if (node === 0) return StageResult.CONTINUE;
  query.status = QueryStatus.LOCAL;
  query.replyFlags = FlagsHigh.AA;
  let owner: number = QNAME_OFFSET;
  for (let hops = 0; hops <= MAX_HOPS; hops++) {
    const set = local.setOf(node, query.qtype);
    if (set !== 0) {
      recorder?.met(RuleOrigin.LOCAL, set, 0, query, -1);
      return answerWithSet(query, local, set, owner);
    }
    const alias = local.setOf(node, RRType.CNAME);
    if (alias === 0) return answerEmpty(query, owner);
    recorder?.met(RuleOrigin.LOCAL, alias, 0, query, -1);
    const name = local.rdataAt(alias, 0);
    owner = appendCname(query, owner, local.bytes, name, local.ttlSecsOf(alias));
    if (owner === NO_SPACE) return truncate(query);
    node = local.targetOf(alias);
    if (node === 0) return followAlias(query, local.bytes, name, QueryStatus.LOCAL);
  }
  query.status = QueryStatus.SERVFAIL;
  replyWithRcode(query, Rcode.SERVFAIL);
  return StageResult.ANSWERED;
}

/**
 * The local name for the query, see `LocalNames`; 0 = none. A name without records is covered by the nearest wildcard
 * above it, unless a forward zone is nearer.
 */
function findLocalNode(query: Query, local: LocalNames, zoneNames: NameTable): number {
  if (local.nodeCount === 0) return 0;
  const { qname, qnameLength, labelAt, labelCount, hashLow, hashHigh } = query;
  let label = labelCount - local.maxLabels;
  let empty = 0;
  if (label <= 0) {
    const node = local.find(hashLow[0]!, hashHigh[0]!, qname, 0, qnameLength);
    if (node !== 0 && local.hasRecords(node)) return node;
    if (node !== 0 && local.exists(node)) empty = node;
    label = 1;
  }
  // Certificate authorities query _acme-challenge below names that are served here; a wildcard must not cover that
  // label.
  if (!local.hasWildcards || qname[1] === UNDERSCORE) return empty;
  for (; label < labelCount; label++) {
    const at = labelAt[label]!;
    const node = local.find(hashLow[label]!, hashHigh[label]!, qname, at, qnameLength - at);
    const wildcard = node === 0 ? 0 : local.wildcardBelow(node);
    if (wildcard !== 0) return zoneNames.findSuffix(query, 0, label) === NOT_FOUND ? wildcard : empty;
  }
  return empty;
}

/** All records of the set, rotated with each answer. */
function answerWithSet(query: Query, local: LocalNames, set: number, owner: number): StageResultCode {
  const { bytes } = query;
  const count = local.countOf(set);
  if (query.answersCount === 0) query.answersAt = query.questionEnd;
  let at = query.at + query.answersAt + query.answersLength;
  let index = local.nextTurn(set);
  for (let left = count; left > 0; left--) {
    const length = local.rdataLength(set, index);
    if (!hasRoom(query, at - query.at, 2 + Record.RDATA + length)) return truncate(query);
    writeU16(bytes, at, POINTER | owner);
    const fields = at + 2;
    writeU16(bytes, fields + Record.TYPE, local.typeOf(set));
    writeU16(bytes, fields + Record.CLASS, RRClass.IN);
    writeU32(bytes, fields + Record.TTL, local.ttlSecsOf(set));
    writeU16(bytes, fields + Record.RDLENGTH, length);
    const rdata = fields + Record.RDATA;
    const from = local.rdataAt(set, index);
    for (let i = 0; i < length; i++) bytes[rdata + i] = local.bytes[from + i]!;
    at = rdata + length;
    index = index + 1 === count ? 0 : index + 1;
  }
  query.answersCount += count;
  query.answersLength = at - query.at - query.answersAt;
  finishReply(query, Rcode.NOERROR, at - query.at);
  return StageResult.ANSWERED;
}

/** NODATA: the name exists, with records of other types or without records. */
function answerEmpty(query: Query, owner: number): StageResultCode {
  answerNegative(query, Rcode.NOERROR, OWN_NEGATIVE_TTL_SECS, owner);
  return StageResult.ANSWERED;
}

function truncate(query: Query): StageResultCode {
  replyTruncated(query, Rcode.NOERROR);
  return StageResult.ANSWERED;
}
