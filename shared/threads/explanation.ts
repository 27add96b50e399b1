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

/** A rule that matches a name; `control-plane/policy/snapshot/rule-names/rule-history.ts` turns it into text. */
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

/** A rule of a list at the question's name or a parent of it, whether the list serves the client's group or not. */
export type ContainingRule = Omit<ExplainedRule, 'judged'>;

/** Whom the upstream side asks about the name. */
export interface ExplainedServers {
  /** The forward zone of the name; null = the pools. */
  readonly zone: string | null;
  /** Addresses of the zone's servers; empty for the pools, which no snapshot has. */
  readonly servers: readonly string[];
  /** Number of the server that answered, as log records have it; 0 = none has. */
  readonly answeredBy: number;
}

/** A stage that the query passed. */
export interface ExplainedStage {
  readonly stage: ExplainedStageName;
  /** `answered` ends the query; `unresolved` hands it to the upstreams. */
  readonly result: 'continue' | 'answered' | 'dropped' | 'unresolved';
  readonly rules: readonly ExplainedRule[];
  /** Finding of the stage other than a rule, e.g. `subnet 192.0.2.0/24`. */
  readonly detail: string | null;
}

/** The stages of a question, and its answer. */
export interface Explanation {
  /** Version of the snapshot that decided; gives `ExplainedRule` its meaning. */
  readonly snapshotVersion: number;
  readonly groupId: number;
  readonly stages: readonly ExplainedStage[];
  /** Status that would be logged. */
  readonly status: QueryStatusCode;
  /** The deciding rule, if one decided. */
  readonly decidedBy: ExplainedRule | null;
  /** All rules of lists that match the question's name. */
  readonly containing: readonly ContainingRule[];
  /** Null if the query never reached the cache. */
  readonly servers: ExplainedServers | null;
  /** The message that would be sent; empty if nothing is sent or only upstreams know the answer. */
  readonly answer: Uint8Array;
}
