/** A deciding rule as text for users. */

/** Description of the rule that determined the answer to a query. */
export interface RuleDescription {
  /** Name of the first list that contains the rule, or of the managed domain, filter or service. */
  readonly source: string;
  /** Names of all lists that contain the rule, in the order of their ids. */
  readonly sources: readonly string[];
  /** Ids of the database rows of `sources`. */
  readonly sourceIds: readonly (number | string)[];
  /** The rule in the syntax of its source. */
  readonly rule: string;
  /** Line in its list, if it is known without a search. */
  readonly line: number | null;
}
