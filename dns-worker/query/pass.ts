/** The passes of the pipeline: which of its parts run for an occasion. */

/** One bit per part of a pass that some passes skip. */
export const Part = {
  /** Count the query: for its client, against its network's limit, as a cache hit or miss. */
  COUNTED: 1 << 0,
  /** Who asks, and the forward zone of the name. */
  ASKER: 1 << 1,
  QUESTION_CHECKS: 1 << 2,
  /** What blocks or frees the asker as a whole: grants and the schedule's override. */
  OVERRIDES: 1 << 3,
  /** Names that this server answers itself: local and special-use names. */
  OWN_NAMES: 1 << 4,
  POLICY: 1 << 5,
  CACHE: 1 << 6,
  ANSWER_NAMES: 1 << 7,
  REBINDING: 1 << 8,
  /** Whether the asker may ask: once for each query. */
  ACCESS: 1 << 9,
} as const;

/** Parts of a question that has waited. */
export const AGAIN = Part.OVERRIDES | Part.OWN_NAMES | Part.POLICY;
/** An answer that lies in the slot. */
export const ANSWER = Part.ANSWER_NAMES | Part.REBINDING;
/** A query to be explained, and a new one. */
export const EXPLAINED = Part.ASKER | Part.ACCESS | Part.QUESTION_CHECKS | AGAIN | Part.CACHE | ANSWER;
export const NEW = EXPLAINED | Part.COUNTED;
