/**
 * Applies policy to the targets in an answer: names (CNAME cloaking, HTTPS and SVCB targets), and addresses if any rule
 * applies to addresses. Each target is checked for the client's group, in cached and new answers. If an answer passes,
 * its position in the cache is remembered, so that the answer is checked once per snapshot and policy class. An allow
 * rule for the qname also allows the answer, except against rules that outrank it: a list's allow rule does not
 * override manual rules or blocked services.
 */
import { RRType } from '../../shared/dns/iana.ts';
import { Record, readU16, skipName } from '../../shared/dns/wire.ts';
import { QueryStatus } from '../../shared/query-log.ts';
import { RuleOrigin } from '../../shared/snapshot/rule-origin.ts';
import { writeAddressName, writePrefixName } from '../policy/address-name.ts';
import { AddressHint, nextAddressHint, readTarget, targetOffset } from '../cache/chain-names.ts';
import type { PolicyMatcher } from '../policy/policy-matcher.ts';
import { hashSuffixes } from '../query/parse-query.ts';
import { Query, StageResult, type StageResultCode } from '../query/query.ts';
import { answerByPolicy } from '../respond/policy-answer.ts';
import type { OpenSnapshot } from '../policy/open-snapshot.ts';
import {
  NOT_BLOCKED,
  RuleMatchMemo,
  isAllowing,
  labelOf,
  originOf,
  type RuleMatch,
} from '../policy/rule-match-memo.ts';

const IPV4_SIZE = 4;
const IPV6_SIZE = 16;
/** Separates cache entries of answers that passed because an allow rule matched the qname from other entries. */
const ALLOWED_MARK = 0x3c6e_f372;

/** Whether the answer in the slot contains names or addresses that policy may block. */
export function needsCheck(query: Query, snapshot: OpenSnapshot): boolean {
  // The operator chose the target of a local alias.
  if (query.isUnfiltered || query.status === QueryStatus.LOCAL) return false;
  return query.hasTargets || (snapshot.checksAddresses && query.answersCount > 0);
}

/** Applies policy to names and addresses in answers. Each thread has one. */
export class AnswerNames {
  private readonly matcher: PolicyMatcher;
  private readonly target = new Query();
  /** Cache entries that passed. */
  private readonly passed = new RuleMatchMemo();
  /** The context of the current answer; fields, so that methods need not pass it as arguments. */
  private query!: Query;
  private snapshot!: OpenSnapshot;
  private policyClass = 0;
  private isConditional = false;

  constructor(matcher: PolicyMatcher) {
    this.matcher = matcher;
  }

  /** Releases replaced tables, so that they can be garbage-collected. */
  releaseTables(next: OpenSnapshot): void {
    this.snapshot = next;
  }

  /** Checks the answer in the slot, if `needsCheck` is true; ANSWERED = it was replaced by a blocking answer. */
  check(query: Query, snapshot: OpenSnapshot): StageResultCode {
    const { policy } = snapshot;
    if (query.isAllowed && !query.isAllowedByList) return StageResult.CONTINUE;
    const policyClass = policy.groupClass(query.groupIndex);
    const low = query.hashLow[0]! ^ query.cacheReference;
    // An answer that passes because a list allows the qname might not pass without that rule.
    const high = query.hashHigh[0]! ^ query.qtype ^ (query.isAllowedByList ? ALLOWED_MARK : 0);
    const isCached = query.cacheReference !== 0 && this.matcher.recorder === null;
    if (isCached && this.passed.find(low, high, snapshot.version, policyClass) === NOT_BLOCKED)
      return StageResult.CONTINUE;
    this.query = query;
    this.snapshot = snapshot;
    this.policyClass = policyClass;
    this.begin();
    if (this.checkRecords()) return StageResult.ANSWERED;
    // Truncated answers have not been checked completely.
    if (isCached && !this.isConditional && query.answersCount > 0)
      this.passed.remember(low, high, snapshot.version, policyClass, NOT_BLOCKED);
    return StageResult.CONTINUE;
  }

  private begin(): void {
    this.isConditional = false;
  }

  /** Checks all records; true if a record was blocked and the answer was replaced. */
  private checkRecords(): boolean {
    const { query, snapshot } = this;
    const { bytes } = query;
    let at = query.at + query.answersAt;
    const end = at + query.answersLength;
    for (let left = query.answersCount; left > 0; left--) {
      const fields = skipName(bytes, at, end);
      if (fields < 0 || fields + Record.RDATA > end) break;
      const type = readU16(bytes, fields + Record.TYPE);
      const rdata = fields + Record.RDATA;
      at = rdata + readU16(bytes, fields + Record.RDLENGTH);
      const offset = targetOffset(type);
      this.target.qtype = type;
      if (offset >= 0 && this.blocksName(rdata + offset, at)) return true;
      if (snapshot.checksAddresses && this.blocksAddresses(type, rdata, at)) return true;
    }
    return false;
  }

  private blocksName(at: number, end: number): boolean {
    const { query, target } = this;
    if (!readTarget(query.bytes, query.at, at, end, target) || target.labelCount === 0) return false;
    return this.blocksTarget();
  }

  private blocksAddresses(type: number, rdata: number, end: number): boolean {
    if (type === RRType.A) return end - rdata === IPV4_SIZE && this.blocksAddress(rdata, IPV4_SIZE);
    if (type === RRType.AAAA) return end - rdata === IPV6_SIZE && this.blocksAddress(rdata, IPV6_SIZE);
    if (type !== RRType.HTTPS && type !== RRType.SVCB) return false;
    const { bytes } = this.query;
    let hint = nextAddressHint(bytes, rdata, end, 0);
    while (hint > 0) {
      const size = readU16(bytes, hint) === AddressHint.IPV4 ? IPV4_SIZE : IPV6_SIZE;
      const hintEnd = hint + 4 + readU16(bytes, hint + 2);
      for (let at = hint + 4; at + size <= hintEnd; at += size) if (this.blocksAddress(at, size)) return true;
      hint = nextAddressHint(bytes, rdata, end, hint);
    }
    return false;
  }

  private blocksAddress(at: number, size: number): boolean {
    writeAddressName(this.query.bytes, at, size, this.target);
    return this.blocksTarget();
  }

  /** Checks `target`, and replaces the answer if it is blocked. */
  private blocksTarget(): boolean {
    const { target, query, snapshot, policyClass, matcher } = this;
    hashSuffixes(target, snapshot.rules.seedLow, snapshot.rules.seedHigh);
    const match = matcher.match(target, query, snapshot, policyClass);
    if (match === NOT_BLOCKED || isAllowing(match) || (query.isAllowedByList && isOfList(match))) {
      this.isConditional ||= matcher.wasConditional;
      return false;
    }
    this.nameRule(labelOf(match));
    query.discardAnswer();
    answerByPolicy(query, target, snapshot, policyClass, match);
    return true;
  }

  /** Records the name that the deciding rule matched: the target, or a prefix of the address. */
  private nameRule(label: number): void {
    const { target, query } = this;
    if (target.isAddress && label > 0) writePrefixName(target, label, target);
    const length = target.qnameLength;
    for (let i = 0; i < length; i++) query.ruleName[i] = target.qname[i]!;
    query.ruleNameLength = length;
  }
}

/** Whether the deciding rule is in a list. */
function isOfList(match: RuleMatch): boolean {
  const origin = originOf(match);
  return origin === RuleOrigin.LIST || origin === RuleOrigin.SPECIAL;
}
