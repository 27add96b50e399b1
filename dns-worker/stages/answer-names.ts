/**
 * Policy on the names that an answer leads to (CNAME cloaking): each target is judged for the group that
 * asks, on answers from the cache as on new ones. An answer whose names pass is remembered with its place in
 * the cache, so that it is judged once a snapshot and class. A qname that an allow rule lets pass brings its
 * answer along.
 */
import { Record, readU16 } from '../../shared/dns/wire.ts';
import { readTarget, skipName, targetOffset } from '../answer-names.ts';
import type { Judge } from '../judge.ts';
import { hashSuffixes } from '../parse-query.ts';
import { Query, Verdict, type VerdictCode } from '../query.ts';
import { answerByPolicy } from '../respond/policy-answer.ts';
import type { OpenSnapshot } from '../state.ts';
import { ALLOWED, NOT_BLOCKED, VerdictMemo, labelOf } from '../verdict-memo.ts';

/** Judges the names in answers. One a thread. */
export class AnswerNames {
  private readonly judge: Judge;
  private readonly target = new Query();
  /** Entries of the cache whose names all pass. */
  private readonly passed = new VerdictMemo();

  constructor(judge: Judge) {
    this.judge = judge;
  }

  /** Judges the answer in the slot; ANSWERED = it has been replaced by a blocking one. */
  check(query: Query, snapshot: OpenSnapshot): VerdictCode {
    const { policy } = snapshot;
    if (!query.hasTargets || query.isAllowed || query.isUnfiltered) return Verdict.CONTINUE;
    const policyClass = policy.groupClass(query.groupIndex);
    const low = query.hashLow[0]! ^ query.cacheReference;
    const high = query.hashHigh[0]! ^ query.qtype;
    const isCached = query.cacheReference !== 0 && this.judge.recorder === null;
    if (isCached && this.passed.recall(low, high, snapshot.version, policyClass) === NOT_BLOCKED)
      return Verdict.CONTINUE;
    let isConditional = false;
    let at = query.at + query.answersAt;
    const end = at + query.answersLength;
    for (let left = query.answersCount; left > 0; left--) {
      const fields = skipName(query.bytes, at, end);
      if (fields < 0 || fields + Record.RDATA > end) break;
      const rdata = fields + Record.RDATA;
      at = rdata + readU16(query.bytes, fields + Record.RDLENGTH);
      const offset = targetOffset(readU16(query.bytes, fields + Record.TYPE));
      if (offset < 0 || !this.read(query, rdata + offset, at, snapshot)) continue;
      const verdict = this.judge.judge(this.target, query, snapshot, policyClass);
      if (verdict === NOT_BLOCKED || verdict === ALLOWED) {
        isConditional ||= this.judge.wasConditional;
        continue;
      }
      this.block(query, snapshot, policyClass, verdict);
      return Verdict.ANSWERED;
    }
    // What was truncated has not been judged.
    if (isCached && !isConditional && query.answersCount > 0)
      this.passed.remember(low, high, snapshot.version, policyClass, NOT_BLOCKED);
    return Verdict.CONTINUE;
  }

  private read(query: Query, at: number, end: number, { rules }: OpenSnapshot): boolean {
    const { target } = this;
    if (!readTarget(query.bytes, query.at, at, end, target) || target.labelCount === 0) return false;
    hashSuffixes(target, rules.seedLow, rules.seedHigh);
    return true;
  }

  private block(query: Query, snapshot: OpenSnapshot, policyClass: number, verdict: number): void {
    const { target } = this;
    const nameAt = target.labelAt[labelOf(verdict)]!;
    const length = target.qnameLength - nameAt;
    for (let i = 0; i < length; i++) query.ruleName[i] = target.qname[nameAt + i]!;
    query.ruleNameLength = length;
    query.cached = 0;
    query.answersLength = 0;
    query.answersCount = 0;
    query.authorityCount = 0;
    answerByPolicy(query, target, snapshot, policyClass, verdict);
  }
}
