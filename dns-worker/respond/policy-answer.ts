/**
 * The answer to a query that a rule decides, and its log fields: blocked services get NXDOMAIN, a rule that defines an
 * answer gets that answer, and all other rules follow `blocking.mode`.
 */
import { ExtendedError, RRType, Rcode } from '../../shared/dns/iana.ts';
import { QueryStatus } from '../../shared/query-log.ts';
import { RuleOrigin, type RuleOriginCode } from '../../shared/snapshot/rule-origin.ts';
import {
  INHERITED_KINDS,
  MANUAL_SUFFIX_KINDS,
  ManualKind,
  OWN_KINDS,
} from '../../shared/snapshot/rule-table.ts';
import type { OpenRewrite } from '../../shared/snapshot/special-matcher.ts';
import { type Query, StageResult, type StageResultCode } from '../query/query.ts';
import type { OpenSnapshot } from '../policy/open-snapshot.ts';
import { labelOf, originOf, type RuleMatch, ruleOf } from '../policy/rule-match-memo.ts';
import { NO_SPACE, QNAME_OFFSET, appendCname, followAlias } from './alias.ts';
import { answerBlocked, answerNegative, answerRecords } from './block-answer.ts';
import { finishReply, replyTruncated, replyWithRcode } from './reply.ts';

const SERVICE = ManualKind.SERVICE_EXACT | ManualKind.SERVICE_SUFFIX;

/** Status of a query whose qname is blocked by a rule, by `RuleOrigin`. */
const STATUS = [
  QueryStatus.BLOCKED_LIST,
  QueryStatus.BLOCKED_SERVICE,
  QueryStatus.BLOCKED_MANAGED,
  QueryStatus.BLOCKED_REGEX,
  QueryStatus.BLOCKED_LIST,
];

/**
 * Writes the answer for a blocking rule match of `name`, and sets the log fields. `name` is the query itself, or a name
 * or address in its answer. UNRESOLVED = the rule makes the qname an alias whose target must be resolved; CONTINUE =
 * the rule maps the qname to itself, so it is answered as usual.
 */
export function answerByPolicy(
  query: Query,
  name: Query,
  snapshot: OpenSnapshot,
  policyClass: number,
  match: RuleMatch,
): StageResultCode {
  const { policy } = snapshot;
  noteRule(query, name, snapshot, policyClass, match);
  const origin = originOf(match);
  if (origin === RuleOrigin.SERVICE) {
    query.extendedError = ExtendedError.FILTERED;
    answerNegative(query, Rcode.NXDOMAIN, policy.blockingTtlSecs);
    return StageResult.ANSWERED;
  }
  const rewrite = rewriteOf(snapshot, origin, ruleOf(match));
  if (rewrite !== null && (rewrite.host === null || name === query))
    return answerRewrite(query, rewrite, [rewrite], policy.blockingTtlSecs);
  answerBlocked(query, policy, ExtendedError.BLOCKED);
  return StageResult.ANSWERED;
}

/**
 * Answers with a rewrite of the qname; `rules` are all rules whose records are merged, including the rule of `match`.
 */
export function answerByRewrites(
  query: Query,
  snapshot: OpenSnapshot,
  policyClass: number,
  match: RuleMatch,
  rules: readonly number[],
): StageResultCode {
  const { policy, special } = snapshot;
  noteRule(query, query, snapshot, policyClass, match);
  const merged = rules.map((rule) => special.rewrite(rule)!);
  return answerRewrite(query, special.rewrite(ruleOf(match))!, merged, policy.blockingTtlSecs);
}

/** Sets the log fields of the deciding rule. */
function noteRule(
  query: Query,
  name: Query,
  snapshot: OpenSnapshot,
  policyClass: number,
  match: RuleMatch,
): void {
  const origin = originOf(match);
  const rule = ruleOf(match);
  // A rule matches an address itself or a prefix of it, never a parent domain.
  const label = name.isAddress ? 0 : labelOf(match);
  query.status = name === query || name.isAddress ? STATUS[origin]! : QueryStatus.BLOCKED_CNAME;
  query.ruleOrigin = origin;
  query.ruleAttribute = rule + 1;
  query.ruleNameOffset = name.isAddress ? 0 : name.labelAt[label]!;
  query.ruleKind = kindsOf(snapshot, policyClass, origin, rule, label);
  query.replyFlags = 0;
}

/** Whether a match is a rewrite to an alias or records, and not to a response code. */
export function isOfRecords({ special }: OpenSnapshot, match: RuleMatch): boolean {
  if (originOf(match) !== RuleOrigin.SPECIAL) return false;
  const rewrite = special.rewrite(ruleOf(match));
  return rewrite !== null && (rewrite.host !== null || rewrite.type !== 0);
}

/** The answer of the rule itself: `$dnsrewrite` of a list, `;reply=` of a regex filter; null for other rules. */
function rewriteOf(
  { special, manualSpecial }: OpenSnapshot,
  origin: RuleOriginCode,
  rule: number,
): OpenRewrite | null {
  if (origin === RuleOrigin.SPECIAL) return special.rewrite(rule);
  return origin === RuleOrigin.REGEX ? manualSpecial.rewrite(rule) : null;
}

/** Answers with a CNAME; the resolve thread resolves its target. */
function answerAlias(query: Query, host: Uint8Array, ttlSecs: number): StageResultCode {
  if (isQname(query, host)) {
    query.ruleAttribute = 0;
    query.isAllowed = true;
    query.isAllowedByList = true;
    return StageResult.CONTINUE;
  }
  const { status } = query;
  if (appendCname(query, QNAME_OFFSET, host, 0, ttlSecs) === NO_SPACE) {
    replyTruncated(query, Rcode.NOERROR);
    return StageResult.ANSWERED;
  }
  query.extendedError = ExtendedError.FORGED_ANSWER;
  if (query.qtype !== RRType.CNAME) return followAlias(query, host, 0, status);
  finishReply(query, Rcode.NOERROR, query.answersAt + query.answersLength);
  return StageResult.ANSWERED;
}

/** Whether a blocking rule only rewrites a query's name to itself, which allows the query. */
export function isRewrittenToItself(query: Query, { special }: OpenSnapshot, match: RuleMatch): boolean {
  if (originOf(match) !== RuleOrigin.SPECIAL) return false;
  const host = special.rewrite(ruleOf(match))?.host ?? null;
  return host !== null && isQname(query, host);
}

function isQname({ qname, qnameLength }: Query, host: Uint8Array): boolean {
  if (host.length !== qnameLength) return false;
  for (let at = 0; at < qnameLength; at++) if (qname[at] !== host[at]) return false;
  return true;
}

function kindsOf(
  { policy, special }: OpenSnapshot,
  policyClass: number,
  origin: RuleOriginCode,
  rule: number,
  label: number,
): number {
  switch (origin) {
    case RuleOrigin.LIST:
      return policy.kindsOf(policyClass, rule) & (label === 0 ? OWN_KINDS : INHERITED_KINDS);
    case RuleOrigin.SERVICE:
      return policy.manualKindsOf(policyClass, rule) & SERVICE;
    case RuleOrigin.MANAGED:
      return policy.manualKindsOf(policyClass, rule) & ~SERVICE & (label === 0 ? 0xff : MANUAL_SUFFIX_KINDS);
    default:
      return origin === RuleOrigin.SPECIAL ? special.rule(rule).kind : 0;
  }
}

/** Answers with an alias, an rcode, or the records of all merged rules that have the qtype. */
function answerRewrite(
  query: Query,
  { host, rcode, type }: OpenRewrite,
  merged: readonly OpenRewrite[],
  ttlSecs: number,
): StageResultCode {
  // A rewrite of a list is local data; the reply of a regex filter is a form of blocking.
  const isData = query.ruleOrigin === RuleOrigin.SPECIAL && (host !== null || type !== 0);
  if (isData) query.status = QueryStatus.LOCAL;
  if (host !== null) return answerAlias(query, host, ttlSecs);
  query.extendedError = ExtendedError.FORGED_ANSWER;
  const isCode = rcode !== Rcode.NOERROR;
  const fitting = isCode ? [] : merged.filter((rewrite) => rewrite.type === query.qtype);
  if (isCode && rcode !== Rcode.NXDOMAIN) replyWithRcode(query, rcode);
  else if (fitting.length === 0) answerNegative(query, rcode, ttlSecs);
  else
    answerRecords(
      query,
      fitting.map(({ rdata }) => rdata),
      ttlSecs,
      [],
    );
  return StageResult.ANSWERED;
}
