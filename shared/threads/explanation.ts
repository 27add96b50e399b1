/** A worker's explanation of one question, see `dns-worker/threads/question-explainer.ts`. */
import type { QueryStatusCode } from '../query-log.ts';
import type { RuleOriginCode } from '../snapshot/rule-origin.ts';

/** Stages in the order in which a query passes through them. */
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

/** A rule that matches a name; `control-plane/policy/snapshot/rule-names/rule-history.ts` converts it to text. */
export interface ExplainedRule {
  readonly origin: RuleOriginCode;
  /** Attribute id, or index of a special rule, from 0 on. */
  readonly index: number;
  /** `RuleKind` or `ManualKind` bits that applied. */
  readonly kinds: number;
  /** The checked name, and the name of the rule (empty for patterns), in wire form. */
  readonly judged: Uint8Array;
  readonly name: Uint8Array;
}

/**
 * A rule of a list for the question's name or a parent of it, whether or not the list is active for the client's group.
 */
export type ContainingRule = Omit<ExplainedRule, 'judged'>;

/** The servers that are queried for the name. */
export interface ExplainedServers {
  /** The forward zone of the name; null = the pools. */
  readonly zone: string | null;
  /** Addresses of the zone's servers; empty for the pools, which are not in a snapshot. */
  readonly servers: readonly string[];
  /** Number, as in log records, of the server that answered; 0 = none. */
  readonly answeredBy: number;
}

/** A stage that the query passed. */
export interface ExplainedStage {
  readonly stage: ExplainedStageName;
  /** `answered` ends the query; `unresolved` means that it needs the upstreams. */
  readonly result: 'continue' | 'answered' | 'dropped' | 'unresolved';
  readonly rules: readonly ExplainedRule[];
  /** Finding of the stage if it is not a rule, e.g. `subnet 192.0.2.0/24`. */
  readonly detail: string | null;
}

/** The stages of a question, and its answer. */
export interface Explanation {
  /** Version of the snapshot that decided; `ExplainedRule` is valid within it. */
  readonly snapshotVersion: number;
  readonly groupId: number;
  readonly stages: readonly ExplainedStage[];
  /** Status for the log. */
  readonly status: QueryStatusCode;
  /** The deciding rule, if any. */
  readonly decidedBy: ExplainedRule | null;
  /** All rules of lists that match the question's name. */
  readonly containing: readonly ContainingRule[];
  /** The servers for the name; null if the query did not reach the cache. */
  readonly servers: ExplainedServers | null;
  /** The message that would be sent; empty if no message is sent, or if only upstreams know the answer. */
  readonly answer: Uint8Array;
}
