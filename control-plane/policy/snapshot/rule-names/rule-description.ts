/** A deciding rule as text for users. */

/** The rule that decided a query. */
export interface RuleDescription {
  /** Name of the first list with the rule, or of the managed domain, filter or service. */
  readonly source: string;
  /** Names of all lists with the rule, in the order of their ids. */
  readonly sources: readonly string[];
  /** Ids of the rows behind `sources`. */
  readonly sourceIds: readonly (number | string)[];
  /** The rule in the syntax of its source. */
  readonly rule: string;
  /** Line in its list, if it is known without a search. */
  readonly line: number | null;
}
