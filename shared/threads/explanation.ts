/** A worker's explanation of one question, see `dns-worker/threads/question-explainer.ts`. */
import type { QueryStatusCode } from '../query-log.ts';
import type { RuleOriginCode } from '../snapshot/rule-origin.ts';

/** Stages in the order in which a query passes them. */
export type ExplainedStageName =
  | 'admission'
  | 'client_group'
  | 'access'
  | 'question_checks'
  | 'grants'
  | 'schedule_override'
  | 'local_names'
  | 'no_ipv6'
  | 'special_names'
  | 'services'
  | 'policy'
  | 'any_type'
  | 'safe_search'
  | 'cache'
  | 'forward'
  | 'dnssec'
  | 'answer_names'
  | 'rebinding';

/** A rule that matches a name; `control-plane/query-log/attribution/rule-history.ts` turns it into text. */
export interface ExplainedRule {
  readonly origin: RuleOriginCode;
  /** Attribute id, or index of a special rule; from 0. */
  readonly index: number;
  /** `RuleKind` or `ManualKind` bits that counted. */
  readonly kinds: number;
  /** The name that was judged, and the name at which the rule stands (empty for patterns), in wire form. */
  readonly judged: Uint8Array;
  readonly name: Uint8Array;
}

/** A stage that the query passed. */
export interface ExplainedStage {
  readonly stage: ExplainedStageName;
  /** `answered` ends the query; `unresolved` hands it to the upstreams. */
  readonly result: 'continue' | 'answered' | 'dropped' | 'unresolved';
  readonly rules: readonly ExplainedRule[];
  /** What the stage found besides rules, e.g. `subnet 192.0.2.0/24`. */
  readonly detail: string | null;
}

/** The stages of a question, and its answer. */
export interface Explanation {
  /** Version of the snapshot that decided; gives `ExplainedRule` its meaning. */
  readonly snapshotVersion: number;
  readonly groupId: number;
  readonly stages: readonly ExplainedStage[];
  /** What would be logged. */
  readonly status: QueryStatusCode;
  /** The deciding rule, if one decided. */
  readonly decidedBy: ExplainedRule | null;
  /** The message that would be sent; empty where nothing is sent. */
  readonly answer: Uint8Array;
}
