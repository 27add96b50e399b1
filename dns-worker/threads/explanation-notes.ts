/** The record of an explanation: the stages that a query passed, the rules that matched, and the deciding rule. */
import {
  DNSSEC_STATUS_NAMES,
  DnssecStatus,
  QueryStatus,
  type QueryStatusCode,
} from '../../shared/query-log.ts';
import { RuleOrigin, type RuleOriginCode } from '../../shared/snapshot/rule-origin.ts';
import type {
  ContainingRule,
  ExplainedRule,
  ExplainedServers,
  ExplainedStage,
  ExplainedStageName,
  Explanation,
} from '../../shared/threads/explanation.ts';
import type { PipelineRecorder } from '../pipeline.ts';
import { writePrefixName } from '../policy/address-name.ts';
import type { OpenSnapshot } from '../policy/open-snapshot.ts';
import { matchedName, Query, StageResult, type StageResultCode } from '../query/query.ts';
import { INHERITED_KINDS, OWN_KINDS } from '../../shared/snapshot/rule-table.ts';

const RESULTS = ['continue', 'answered', 'dropped', 'unresolved'] as const;

/** The record of the stages of a query. */
export class ExplanationNotes implements PipelineRecorder {
  readonly snapshotVersion: number;
  private readonly stages: ExplainedStage[] = [];
  /** Rules matched since the last stage. */
  private rules: ExplainedRule[] = [];
  private status: QueryStatusCode = QueryStatus.ALLOWED;
  private decidedBy: ExplainedRule | null = null;
  private containing: readonly ContainingRule[] = [];
  private servers: ExplainedServers | null = null;
  private readonly asGroupId: number;

  /** `asGroupId`: the group whose policy is explained, 0 = the client's group. */
  constructor(snapshotVersion: number, asGroupId = 0) {
    this.snapshotVersion = snapshotVersion;
    this.asGroupId = asGroupId;
  }

  placeInGroup(query: Query, { policy }: OpenSnapshot): boolean {
    if (this.asGroupId === 0) return false;
    for (let index = 0; index < policy.groupCount; index++) {
      if (policy.groupId(index) !== this.asGroupId) continue;
      query.groupIndex = index;
      query.groupId = this.asGroupId;
      return true;
    }
    return false;
  }

  /** Records the lists that contain the qname, and the servers that would be queried. */
  read(query: Query, snapshot: OpenSnapshot): void {
    this.containing = rulesContaining(query, snapshot);
    if (!this.stages.some(({ stage }) => stage === 'cache')) return;
    const zone = snapshot.zones[query.zoneIndex];
    const servers = zone?.servers.map(({ address }) => address) ?? [];
    this.servers = { zone: zone?.zone ?? null, servers, answeredBy: 0 };
  }

  met(origin: RuleOriginCode, index: number, kinds: number, judged: Query, label: number): void {
    const wire = judged.qname.slice(0, judged.qnameLength);
    const name = label < 0 ? new Uint8Array(0) : nameOfRule(judged, label);
    this.rules.push({ origin, index, kinds, judged: wire, name });
  }

  passed(stage: ExplainedStageName, result: StageResultCode, detail?: string): void {
    // If no service blocks the name, the matched rules belong to the policy stage.
    const leavesRules = stage === 'services' && result === StageResult.CONTINUE;
    const isOwn = ({ origin }: ExplainedRule): boolean => !leavesRules || origin === RuleOrigin.SERVICE;
    const rules = this.rules.filter(isOwn);
    this.stages.push({ stage, result: RESULTS[result], rules, detail: detail ?? null });
    this.rules = this.rules.filter((rule) => !isOwn(rule));
  }

  /** Copies the fields that the log would contain. */
  answered(query: Query): void {
    this.status = query.status;
    if (this.servers !== null) this.servers = { ...this.servers, answeredBy: query.upstream };
    // Answers that fail validation are not checked against policy, so no stage has recorded the validation result.
    if (query.dnssec === DnssecStatus.bogus)
      this.passed('dnssec', StageResult.ANSWERED, DNSSEC_STATUS_NAMES[query.dnssec]);
    if (query.ruleAttribute === 0) return;
    const isText = query.ruleOrigin === RuleOrigin.REGEX || query.ruleOrigin === RuleOrigin.SPECIAL;
    const judged = matchedName(query);
    this.decidedBy = {
      origin: query.ruleOrigin,
      index: query.ruleAttribute - 1,
      kinds: query.ruleKind,
      judged,
      name: isText ? new Uint8Array(0) : judged.slice(query.ruleNameOffset),
    };
  }

  explanation(groupId: number, answer: Uint8Array): Explanation {
    const { snapshotVersion, stages, status, decidedBy, containing, servers } = this;
    return { snapshotVersion, groupId, stages, status, decidedBy, containing, servers, answer };
  }
}

/** The name of a matching rule: a suffix of the checked name, or a prefix of the checked address. */
function nameOfRule(judged: Query, label: number): Uint8Array {
  if (!judged.isAddress || label === 0) return judged.qname.slice(judged.labelAt[label], judged.qnameLength);
  const prefix = new Query();
  writePrefixName(judged, label, prefix);
  return prefix.qname.slice(0, prefix.qnameLength);
}

/** Maximum number of patterns and conditional rules in one explanation. */
const MAX_SPECIAL = 50;

/**
 * The rules of all lists that match a name, even if the lists are not for the client's group: first rules for the qname
 * and its parents, longest name first, then patterns. The caller evaluates conditions on the client or type, and
 * `$badfilter`.
 */
export function rulesContaining(query: Query, { rules, special, policy }: OpenSnapshot): ContainingRule[] {
  const found: ContainingRule[] = [];
  for (let label = 0; label < query.labelCount; label++) {
    const index = rules.find(query.hashLow[label]!, query.hashHigh[label]!);
    if (index < 0) continue;
    const kinds = label === 0 ? OWN_KINDS : INHERITED_KINDS;
    const name = query.qname.slice(query.labelAt[label], query.qnameLength);
    found.push({ origin: RuleOrigin.LIST, index, kinds, name });
  }
  if (special.ruleCount === 0) return found;
  let left = MAX_SPECIAL;
  const allSources = new Uint8Array(policy.sourcesOf(0).length).fill(1);
  special.forEachMatch(query, allSources, (index) => {
    if (left-- <= 0) return;
    const { kind: kinds } = special.rule(index);
    found.push({ origin: RuleOrigin.SPECIAL, index, kinds, name: new Uint8Array(0) });
  });
  return found;
}
