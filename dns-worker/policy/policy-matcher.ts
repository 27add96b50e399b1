/**
 * Verdict of policy on a name: blocked services, managed domains, regex filters, then the lists, in the order of the
 * contract. Within the lists, allowlists outrank rewrites of the qname, then come `$important` rules, and allow
 * outranks block. One function serves the qname, names in answers, and explanations. Results are cached in a memo.
 */
import {
  INHERITED_KINDS,
  MANUAL_SUFFIX_KINDS,
  ManualKind,
  OWN_KINDS,
  RuleKind,
} from '../../shared/snapshot/rule-table.ts';
import { RuleOrigin, type RuleOriginCode } from '../../shared/snapshot/rule-origin.ts';
import type { PolicyTable } from '../../shared/snapshot/policy-table.ts';
import type { SpecialMatcher } from '../../shared/snapshot/special-matcher.ts';
import { writePrefixName } from './address-name.ts';
import { hasAsker, isFor } from './asker-condition.ts';
import { MatchedRewrites } from './matched-rewrites.ts';
import { hashSuffixes } from '../query/parse-query.ts';
import { Query } from '../query/query.ts';
import type { OpenSnapshot } from './open-snapshot.ts';
import {
  ALLOWED,
  ALLOWED_BY_LIST,
  CONDITIONAL,
  MAX_RULE,
  NOT_BLOCKED,
  UNKNOWN,
  RuleMatchMemo,
  blockedBy,
  type RuleMatch,
} from './rule-match-memo.ts';

const BLOCK = RuleKind.BLOCK_EXACT | RuleKind.BLOCK_SUFFIX | RuleKind.BLOCK_BELOW;
const ALLOW = RuleKind.ALLOW_EXACT | RuleKind.ALLOW_SUFFIX | RuleKind.ALLOW_BELOW;
const ANY_ALLOW = ALLOW | RuleKind.IMPORTANT_ALLOW_SUFFIX;
const SERVICE = ManualKind.SERVICE_EXACT | ManualKind.SERVICE_SUFFIX;
const MANAGED_ALLOW = ManualKind.ALLOW_EXACT | ManualKind.ALLOW_SUFFIX;
const MANAGED_DENY = ManualKind.DENY_EXACT | ManualKind.DENY_SUFFIX;
const IPV4_SIZE = 4;
/** Separates addresses from names with the same text in the memo. */
const ADDRESS_MARK = 0x6a09e667;

/** Called for every rule that matches a name, for explanations. */
export interface MatchRecorder {
  /**
   * `label` is the index of the label in the checked `name` at which the rule's name starts, see `labelOf`; -1 = a
   * pattern.
   */
  met(origin: RuleOriginCode, rule: number, kinds: number, name: Query, label: number): void;
}

/** Applies policy to names. Each thread has one. */
export class PolicyMatcher {
  /** Receives matches while it is set. */
  recorder: MatchRecorder | null = null;
  private readonly memo = new RuleMatchMemo();
  private isConditional = false;
  /** The prefix of an address that is currently looked up. */
  private readonly prefix = new Query();
  /** Inputs and results of evaluating special rules; fields, so that the callbacks are created once. */
  private snapshot!: OpenSnapshot;
  private policyClass = 0;
  private asker!: Query;
  private name!: Query;
  private manualAllow = false;
  private manualDeny = -1;
  private union = 0;
  private isAllowlisted = false;
  private special = -1;
  private importantSpecial = -1;
  /** Results for the last name; `rules` are the rules whose records are merged. */
  readonly rewritten = new MatchedRewrites();

  /** Releases replaced tables, so that they can be garbage-collected. */
  releaseTables(next: OpenSnapshot): void {
    this.snapshot = next;
  }

  /**
   * The rule match of `name` for `asker`, whose client is used for conditions: NOT_BLOCKED, ALLOWED, ALLOWED_BY_LIST,
   * or the rule that blocks or rewrites. If `name` is a different object from `asker`, it is a name in an answer, and
   * its `qtype` is the type of its record: rewrites do not apply to this name. Addresses of an answer match only
   * address patterns and regular expressions.
   */
  match(name: Query, asker: Query, snapshot: OpenSnapshot, policyClass: number): RuleMatch {
    const low = name.hashLow[0]!;
    const high = name.hashHigh[0]! ^ (name.isAddress ? ADDRESS_MARK : 0);
    const { version } = snapshot;
    if (this.recorder === null) {
      const known = this.memo.find(low, high, version, policyClass);
      if (known !== UNKNOWN && known !== CONDITIONAL) {
        this.isConditional = false;
        return known;
      }
    }
    this.snapshot = snapshot;
    this.policyClass = policyClass;
    this.asker = asker;
    this.name = name;
    this.clearMatches();
    const match = this.matchUncached(name);
    this.memo.remember(low, high, version, policyClass, this.isConditional ? CONDITIONAL : match);
    return match;
  }

  /** Loads the memo entry of a name into the CPU cache, by the low lane of the name's hash. */
  touch(low: number, policyClass: number): number {
    return this.memo.touch(low, policyClass);
  }

  /** Whether the last rule match is valid only for this question or client. */
  get wasConditional(): boolean {
    return this.isConditional;
  }

  /** Verdict of the lists alone on the qname. */
  matchByLists(query: Query, snapshot: OpenSnapshot, policyClass: number): RuleMatch {
    this.snapshot = snapshot;
    this.policyClass = policyClass;
    this.asker = query;
    this.name = query;
    this.clearMatches();
    return this.matchListed(query);
  }

  /** Clears the results of the previous name. */
  private clearMatches(): void {
    this.isConditional = false;
    this.manualAllow = false;
    this.manualDeny = -1;
    this.union = 0;
    this.isAllowlisted = false;
    this.special = -1;
    this.importantSpecial = -1;
    this.rewritten.begin();
  }

  private matchUncached(name: Query): RuleMatch {
    const { snapshot } = this;
    const hasManual = snapshot.manual.nameCount > 0 || snapshot.manualSpecial.ruleCount > 0;
    const manual = hasManual ? this.matchManual(name) : NOT_BLOCKED;
    // An explanation also includes the lists' rules.
    if (manual !== NOT_BLOCKED && this.recorder === null) return manual;
    const listed = this.matchListed(name);
    return manual === NOT_BLOCKED ? listed : manual;
  }

  private matchManual(name: Query): RuleMatch {
    const { manual, manualSpecial, policy } = this.snapshot;
    let service = NOT_BLOCKED;
    let denied = NOT_BLOCKED;
    let isAllowed = false;
    for (let label = name.labelCount - 1; label >= 0; label--) {
      const attribute = manual.find(name.hashLow[label]!, name.hashHigh[label]!);
      if (attribute < 0) continue;
      let kinds = policy.manualKindsOf(this.policyClass, attribute);
      if (label !== 0) kinds &= MANUAL_SUFFIX_KINDS;
      if ((kinds & SERVICE) !== 0) service = blockedBy(RuleOrigin.SERVICE, attribute, label);
      if ((kinds & MANAGED_ALLOW) !== 0) isAllowed = true;
      if ((kinds & MANAGED_DENY) !== 0) denied = blockedBy(RuleOrigin.MANAGED, attribute, label);
      if ((kinds & SERVICE) !== 0)
        this.recorder?.met(RuleOrigin.SERVICE, attribute, kinds & SERVICE, name, label);
      if ((kinds & ~SERVICE) !== 0)
        this.recorder?.met(RuleOrigin.MANAGED, attribute, kinds & ~SERVICE, name, label);
    }
    const isDecided = service !== NOT_BLOCKED || isAllowed || denied !== NOT_BLOCKED;
    if (!isDecided || this.recorder !== null)
      this.matchSpecial(manualSpecial, name, policy.ownersOf(this.policyClass), this.metManual);
    if (service !== NOT_BLOCKED) return service;
    if (isAllowed) return ALLOWED;
    if (denied !== NOT_BLOCKED) return denied;
    if (this.manualAllow) return ALLOWED;
    return this.manualDeny < 0 ? NOT_BLOCKED : blockedBy(RuleOrigin.REGEX, this.manualDeny, 0);
  }

  private matchSpecial(
    rules: SpecialMatcher,
    name: Query,
    counts: Uint8Array,
    met: (index: number) => void,
  ): void {
    if (name.isAddress) rules.forEachAddressMatch(name, counts, met);
    else rules.forEachMatch(name, counts, met);
  }

  private readonly metManual = (index: number): void => {
    const rule = this.snapshot.manualSpecial.rule(index);
    if (hasAsker(rule)) {
      this.isConditional = true;
      if (!isFor(rule, this.name.qtype, this.asker, this.snapshot.namedClients)) return;
    }
    if (rule.kind === RuleKind.ALLOW_SUFFIX) this.manualAllow = true;
    else if (this.manualDeny < 0 || index < this.manualDeny) this.manualDeny = index;
    this.recorder?.met(RuleOrigin.REGEX, index, rule.kind, this.name, -1);
  };

  private matchListed(name: Query): RuleMatch {
    const { rules, special, policy } = this.snapshot;
    let union = 0;
    let blocking = NOT_BLOCKED;
    let important = NOT_BLOCKED;
    for (let label = name.labelCount - 1; label >= 0; label--) {
      const attribute = rules.find(name.hashLow[label]!, name.hashHigh[label]!);
      if (attribute < 0) continue;
      const counted = label === 0 ? OWN_KINDS : INHERITED_KINDS;
      const kinds = policy.kindsOf(this.policyClass, attribute) & counted;
      if (kinds === 0) continue;
      union |= kinds;
      if ((kinds & ANY_ALLOW & policy.allowlistKindsOf(this.policyClass, attribute)) !== 0)
        this.isAllowlisted = true;
      const number = attribute < MAX_RULE ? attribute : MAX_RULE;
      if ((kinds & BLOCK) !== 0) blocking = blockedBy(RuleOrigin.LIST, number, label);
      if ((kinds & RuleKind.IMPORTANT_BLOCK_SUFFIX) !== 0)
        important = blockedBy(RuleOrigin.LIST, number, label);
      this.recorder?.met(RuleOrigin.LIST, attribute, kinds, name, label);
    }
    if (name.isAddress) {
      this.union = union;
      blocking = this.matchPrefixes(name, blocking);
      union = this.union;
    }
    if (special.ruleCount > 0) {
      this.matchSpecial(special, name, policy.sourcesOf(this.policyClass), this.metSpecial);
      union |= this.union;
      blocking = preferred(this.special, blocking);
      important = preferred(this.importantSpecial, important);
    }
    if (this.isAllowlisted) return ALLOWED_BY_LIST;
    const rewrite = this.decideRewrite();
    if (rewrite !== NOT_BLOCKED) return rewrite;
    if ((union & RuleKind.IMPORTANT_ALLOW_SUFFIX) !== 0) return ALLOWED_BY_LIST;
    if ((union & RuleKind.IMPORTANT_BLOCK_SUFFIX) !== 0) return important;
    if ((union & ALLOW) !== 0) return ALLOWED_BY_LIST;
    return blocking;
  }

  /**
   * Matches the prefixes of an address against rules; reports the longest blocking prefix unless a rule is already
   * reported.
   */
  private matchPrefixes(address: Query, before: RuleMatch): RuleMatch {
    const { rules, policy } = this.snapshot;
    const lengths = address.addressSize === IPV4_SIZE ? rules.ipv4Prefixes : rules.ipv6Prefixes;
    let blocking = before;
    for (let index = 0; index < lengths.length; index++) {
      const bits = lengths[index]!;
      const attribute = this.findPrefix(address, bits);
      if (attribute < 0) continue;
      const kinds = policy.kindsOf(this.policyClass, attribute) & OWN_KINDS;
      if (kinds === 0) continue;
      this.union |= kinds;
      if ((kinds & BLOCK) !== 0 && blocking === NOT_BLOCKED)
        blocking = blockedBy(RuleOrigin.LIST, attribute < MAX_RULE ? attribute : MAX_RULE, bits);
      this.recorder?.met(RuleOrigin.LIST, attribute, kinds, address, bits);
    }
    return blocking;
  }

  /** Attribute of the rule at the prefix of an address with `bits` bits, or -1. */
  private findPrefix(address: Query, bits: number): number {
    const { prefix } = this;
    const { rules } = this.snapshot;
    writePrefixName(address, bits, prefix);
    hashSuffixes(prefix, rules.seedLow, rules.seedHigh);
    return rules.find(prefix.hashLow[0]!, prefix.hashHigh[0]!);
  }

  private readonly metSpecial = (index: number): void => {
    const { special, policy } = this.snapshot;
    const rule = special.rule(index);
    if (rule.takenBackBy !== undefined && isDisabled(rule.takenBackBy, policy, this.policyClass)) return;
    const isRewrite = rule.rewrite !== undefined;
    if (isRewrite || hasAsker(rule)) {
      // A rewrite applies to a qname, but not to the same name in an answer.
      this.isConditional = true;
      if (isRewrite && this.name !== this.asker) return;
      if (!isFor(rule, this.name.qtype, this.asker, this.snapshot.namedClients)) return;
    }
    this.recorder?.met(RuleOrigin.SPECIAL, index, rule.kind, this.name, -1);
    if (isRewrite) {
      this.rewritten.add(index, rule.kind);
      return;
    }
    this.union |= rule.kind;
    if ((rule.kind & ANY_ALLOW) !== 0 && policy.isAllowlist(this.policyClass, rule.source))
      this.isAllowlisted = true;
    if ((rule.kind & RuleKind.IMPORTANT_BLOCK_SUFFIX) !== 0)
      this.importantSpecial = first(this.importantSpecial, index);
    else if ((rule.kind & BLOCK) !== 0) this.special = first(this.special, index);
  };

  /** The match of the rewrites found so far. */
  private decideRewrite(): RuleMatch {
    const index = this.rewritten.decide(this.snapshot.special);
    return index < 0 ? NOT_BLOCKED : blockedBy(RuleOrigin.SPECIAL, index, 0);
  }
}

/** Whether one of the lists that disable the rule is active for the class. */
function isDisabled(by: readonly number[], policy: PolicyTable, policyClass: number): boolean {
  for (const source of by) if (policy.isServed(policyClass, source)) return true;
  return false;
}

/** The smaller of two rule indexes; `before` is -1 if no rule has been found yet. */
function first(before: number, now: number): number {
  return before < 0 || now < before ? now : before;
}

/** Chooses whether to report a special rule or a match in the table. */
function preferred(index: number, tabled: RuleMatch): RuleMatch {
  return index < 0 || tabled !== NOT_BLOCKED ? tabled : blockedBy(RuleOrigin.SPECIAL, index, 0);
}
