/** A deciding rule in the words that people know it by. */

/** The rule that decided a query. */
export interface RuleDescription {
  /** Name of the first list, or of the managed domain, filter or service, that says so. */
  readonly source: string;
  /** Names of all lists that say so, in the order of their ids. */
  readonly sources: readonly string[];
  /** Ids of the rows behind `sources`. */
  readonly sourceIds: readonly (number | string)[];
  /** The rule as its author would write it. */
  readonly rule: string;
  /** Line in its list where that is known without a search. */
  readonly line: number | null;
}
