/** The rule by which one policy of a simulation decides a question: the one that blocks or allows it. */
import type { SimulatedDecision } from '../../shared/threads/simulation-messages.ts';
import type { ExplainedRule } from '../../shared/threads/explanation.ts';
import { RuleOrigin, type RuleOriginCode } from '../../shared/snapshot/rule-origin.ts';
import { ManualKind, RuleKind } from '../../shared/snapshot/rule-table.ts';
import type { MatchRecorder } from '../policy/policy-matcher.ts';
import { matchedName, type Query } from '../query/query.ts';
import type { SimulatedQuestion, SimulatedSide } from './simulated-side.ts';

const ALLOW =
  RuleKind.ALLOW_EXACT | RuleKind.ALLOW_SUFFIX | RuleKind.ALLOW_BELOW | RuleKind.IMPORTANT_ALLOW_SUFFIX;
const MANAGED_ALLOW = ManualKind.ALLOW_EXACT | ManualKind.ALLOW_SUFFIX;
/** Order of precedence of rules that allow a name: manual rules outrank those of lists. */
const RANKS: readonly RuleOriginCode[] = [
  RuleOrigin.MANAGED,
  RuleOrigin.REGEX,
  RuleOrigin.SPECIAL,
  RuleOrigin.LIST,
];

/** Decides the question again and returns the deciding rule. */
export function explainDecision(side: SimulatedSide, question: SimulatedQuestion): SimulatedDecision {
  const allowing = new AllowingRules();
  const { matcher } = side.pipeline;
  matcher.recorder = allowing;
  try {
    const status = side.decide(question);
    const { query } = side;
    const blocking = blockingRule(query);
    const rule = blocking ?? (query.isAllowed ? allowing.first() : null);
    return { status, groupId: query.groupId, rule };
  } finally {
    matcher.recorder = null;
  }
}

/** The blocking rule in the form of the log. */
function blockingRule(query: Query): ExplainedRule | null {
  if (query.ruleAttribute === 0) return null;
  const judged = matchedName(query);
  const isText = query.ruleOrigin === RuleOrigin.REGEX || query.ruleOrigin === RuleOrigin.SPECIAL;
  return {
    origin: query.ruleOrigin,
    index: query.ruleAttribute - 1,
    kinds: query.ruleKind,
    judged,
    name: isText ? new Uint8Array(0) : judged.slice(query.ruleNameOffset),
  };
}

/** The rules that allow the name of a question. */
class AllowingRules implements MatchRecorder {
  private readonly rules: ExplainedRule[] = [];

  met(origin: RuleOriginCode, index: number, kinds: number, name: Query, label: number): void {
    const allows =
      origin === RuleOrigin.MANAGED
        ? kinds & MANAGED_ALLOW
        : origin === RuleOrigin.SERVICE
          ? 0
          : kinds & ALLOW;
    if (allows === 0) return;
    const judged = name.qname.slice(0, name.qnameLength);
    const standsAt = label < 0 || name.isAddress ? new Uint8Array(0) : judged.slice(name.labelAt[label]);
    this.rules.push({ origin, index, kinds: allows, judged, name: standsAt });
  }

  first(): ExplainedRule | null {
    for (const rank of RANKS) {
      const rule = this.rules.find(({ origin }) => origin === rank);
      if (rule !== undefined) return rule;
    }
    return null;
  }
}
