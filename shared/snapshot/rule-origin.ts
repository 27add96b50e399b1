/** Origin of a deciding rule: a byte of a log record and of a rule match. */

/** Origins; the numbers are in shared memory only. */
export const RuleOrigin = {
  /** The rule table of all lists; the number is an attribute. */
  LIST: 0,
  /** A blocked service; attribute of the manual table. */
  SERVICE: 1,
  /** A managed domain; attribute of the manual table. */
  MANAGED: 2,
  /** A regex filter; its index among the manual special rules. */
  REGEX: 3,
  /** A pattern or conditional rule of a list; its index among the lists' special rules. */
  SPECIAL: 4,
  /** A local record; the word of its set in the table of local names. Never blocks. */
  LOCAL: 5,
  /** A grant; the id of its row. */
  GRANT: 6,
} as const;
export type RuleOriginCode = (typeof RuleOrigin)[keyof typeof RuleOrigin];
