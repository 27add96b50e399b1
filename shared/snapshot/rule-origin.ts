/** Origin of a deciding rule: a byte of a log record and of a rule match. */

/** Origins, and for each the meaning of the rule's number. The codes are stored in shared memory only. */
export const RuleOrigin = {
  /** The rule table of all lists; the number is an attribute id. */
  LIST: 0,
  /** A blocked service; the number is an attribute id of the manual table. */
  SERVICE: 1,
  /** A managed domain; the number is an attribute id of the manual table. */
  MANAGED: 2,
  /** A regex filter; the number is its index among the manual special rules. */
  REGEX: 3,
  /** A pattern or conditional rule of a list; the number is its index among the lists' special rules. */
  SPECIAL: 4,
  /** A local record, which never blocks; the number is the word of its set in the table of local names. */
  LOCAL: 5,
  /** A grant; the number is the id of its row. */
  GRANT: 6,
} as const;
export type RuleOriginCode = (typeof RuleOrigin)[keyof typeof RuleOrigin];
