/**
 * All offsets in the shared memory of policy. The buffers are little-endian u32 words unless stated as bytes; rule
 * tables and special rules have the same form on disk.
 */

/** First word of each kind of memory: "WRUL", "WPOL", "WSPC", "WLOC", "WCLI". */
export const RULE_TABLE_MAGIC = 0x4c555257;
export const POLICY_TABLE_MAGIC = 0x4c4f5057;
export const SPECIAL_RULES_MAGIC = 0x43505357;
export const LOCAL_NAMES_MAGIC = 0x434f4c57;
export const CLIENT_TABLE_MAGIC = 0x494c4357;
/** Increased with each change of a layout; a file with another version is rebuilt, never read. */
export const LAYOUT_VERSION = 7;

/**
 * Rule table: a header, then buckets of 64 bytes (one cache line). A bucket contains five names: five low lanes, five
 * high lanes, five attribute ids plus one (0 = free), and a word with bit (high lane mod 32) set for each name that is
 * in the next bucket because this bucket was full, so that a lookup of an unlisted name rarely reads another bucket. A
 * full table needs 12.8 bytes per name; tables are built with a load of 0.78 to 0.9, which needs 14.2 to 16.4.
 */
export const RuleTableLayout = {
  MAGIC_WORD: 0,
  VERSION_WORD: 1,
  BUCKET_COUNT_WORD: 2,
  NAME_COUNT_WORD: 3,
  ATTRIBUTE_COUNT_WORD: 4,
  SEED_LOW_WORD: 5,
  SEED_HIGH_WORD: 6,
  /** Checksum over all words after the header, see `checksumWords`. */
  CHECKSUM_WORD: 7,
  /** Random number of the compilation, by which tables with equal content are distinguished. */
  BUILD_WORD: 8,
  /** Number of names that are addresses, because their rules are for addresses in answers. */
  ADDRESS_COUNT_WORD: 9,
  /**
   * Bit n: there are rules for IPv4 prefixes of n bits, whose names have the form `a.b.c.d/n`. The next four words
   * contain such bits for IPv6.
   */
  IPV4_PREFIXES_WORD: 10,
  IPV6_PREFIXES_WORD: 11,
  HEADER_WORDS: 16,
  BUCKET_WORDS: 16,
  /** log2 of BUCKET_WORDS. */
  BUCKET_SHIFT: 4,
  NAMES_PER_BUCKET: 5,
  LOW_AT: 0,
  HIGH_AT: 5,
  ATTRIBUTE_AT: 10,
  OVERFLOW_AT: 15,
} as const;

/** Bytes of a rule table with this many buckets. */
export function ruleTableBytes(bucketCount: number): number {
  return (RuleTableLayout.HEADER_WORDS + bucketCount * RuleTableLayout.BUCKET_WORDS) * 4;
}

/**
 * Special rules: a header, then sections, each at the word offset in the header.
 *
 * offsets for each rule the byte at which its text starts, then the end of the last one rules for each rule its source,
 * and the word at which its own automaton starts (0 = none) names slots of four words for rules with a name: both hash
 * lanes, index of the rule plus one (0 = free), code of `SpecialMatch`; a name's first slot is its low lane, then the
 * next grams for each slot of three letters its first candidate; one more word for the end candidates four words: the
 * three letters, index of the rule, byte at which its literal starts, and the literal's length (upper half) and the
 * offset of the letters in it (lower half) always words at which the automata that read every name start address words
 * at which the automata that read every address start automata see `AutomatonLayout` bytes the rules as JSON, then the
 * literals
 */
export const SpecialRulesLayout = {
  MAGIC_WORD: 0,
  VERSION_WORD: 1,
  /** Checksum over all words after this word. */
  CHECKSUM_WORD: 2,
  RULE_COUNT_WORD: 3,
  /** Number of patterns and regular expressions among the rules. */
  TEXT_RULE_COUNT_WORD: 4,
  /**
   * Number of rules that can match an address: those in the section `address`, and those with an address as their name.
   */
  ADDRESS_RULE_COUNT_WORD: 5,
  OFFSETS_WORD: 6,
  /** All numbers of slots are powers of two, or 0. */
  NAME_SLOTS_WORD: 7,
  NAMES_WORD: 8,
  GRAM_SLOTS_WORD: 9,
  GRAMS_WORD: 10,
  CANDIDATES_WORD: 11,
  ALWAYS_COUNT_WORD: 12,
  ALWAYS_WORD: 13,
  ADDRESS_COUNT_WORD: 14,
  ADDRESS_WORD: 15,
  RULES_WORD: 16,
  AUTOMATA_WORD: 17,
  HEADER_WORDS: 18,
  NAME_SLOT_WORDS: 4,
  CANDIDATE_WORDS: 4,
  RULE_WORDS: 2,
  RULE_SOURCE: 0,
  RULE_AUTOMATON: 1,
} as const;

/**
 * An automaton, see `shared/automata/automaton.ts`: a header, the index of the rule of each bit, the masks in use, the
 * class of each byte value (256 bytes), then a table of 16-bit entries. A row is a state: for each class, the start of
 * the next state's row; then the mask of rules found in the state, and the mask of rules found if the name ends in it.
 * A row is identified by the index of its first entry. The first row is the state from which nothing more can be found,
 * followed by the states that find something, so that one comparison detects both.
 */
export const AutomatonLayout = {
  /** Source of the automaton's rules. */
  SOURCE: 0,
  RULE_COUNT: 1,
  /** The mask of all rules; once all of them are found, matching can end. */
  ALL_RULES: 2,
  CLASS_COUNT: 3,
  START_ROW: 4,
  /** The first row after the rows that find something; all lower rows find something, except row 0. */
  QUIET_ROW: 5,
  /** Offset in words from the automaton's start. */
  MASKS: 6,
  CLASSES: 7,
  TABLE: 8,
  RULES: 9,
  CLASS_MAP_WORDS: 64,
} as const;

/**
 * Local names: a header, then hash slots of two words (low lane of the name, word at which its node starts; 0 = free),
 * then nodes, record sets and record data in any order. A node: high lane, bytes of its name, flags, node of the
 * wildcard directly below it (0 = none), number of record sets, word at which each of them starts, then the name in
 * wire form. A record set: type, TTL in seconds, index among all record sets, source and id of its first record, node
 * of a CNAME's target (0 = not a local name), number of records, its own node, word at which each record starts. A
 * record: length of its RDATA in bytes, then the RDATA.
 */
export const LocalNamesLayout = {
  MAGIC_WORD: 0,
  VERSION_WORD: 1,
  /** Number of hash slots, a power of two, minus one. */
  SLOT_MASK_WORD: 2,
  NODE_COUNT_WORD: 3,
  SET_COUNT_WORD: 4,
  /** Maximum number of labels that a name has. */
  MAX_LABELS_WORD: 5,
  /** 1 = the table contains wildcards. */
  HAS_WILDCARDS_WORD: 6,
  HEADER_WORDS: 8,
  SLOT_WORDS: 2,
  NODE_HIGH: 0,
  NODE_NAME_BYTES: 1,
  NODE_FLAGS: 2,
  NODE_WILDCARD: 3,
  NODE_SET_COUNT: 4,
  NODE_SETS: 5,
  SET_TYPE: 0,
  SET_TTL_SECS: 1,
  SET_INDEX: 2,
  SET_SOURCE: 3,
  SET_RECORD_ID: 4,
  SET_TARGET: 5,
  SET_COUNT: 6,
  SET_NODE: 7,
  SET_RECORDS: 8,
} as const;

/** Bits of a node's flags. EMPTY: the name is known to exist, but has no records; the answer is NODATA. */
export const LocalNodeFlag = { EMPTY: 1 } as const;

/**
 * Policy table: a header, then one row of four words per group (id, policy class, `GroupOverride`, Unix seconds of its
 * next change or 0), then bytes: for each (class, attribute) of the lists' table the union of the `RuleKind` bits of
 * the sources that are active for the class; for each (class, source) 1 if the source is active for the class; then
 * both parts for the manual table, whose bits are `ManualKind` and whose owners are sets of groups; then the first two
 * parts for allowlists alone.
 */
export const PolicyTableLayout = {
  MAGIC_WORD: 0,
  VERSION_WORD: 1,
  SNAPSHOT_VERSION_WORD: 2,
  GROUP_COUNT_WORD: 3,
  CLASS_COUNT_WORD: 4,
  ATTRIBUTE_COUNT_WORD: 5,
  /** 1 = blocking is enabled. */
  BLOCKING_ENABLED_WORD: 6,
  /** `BlockingMode`. */
  BLOCKING_MODE_WORD: 7,
  BLOCKING_TTL_SECS_WORD: 8,
  /** Custom addresses in answers to blocked queries, in network byte order. */
  CUSTOM_IPV4_BYTE: 36,
  CUSTOM_IPV6_BYTE: 40,
  CHECKSUM_WORD: 14,
  SOURCE_COUNT_WORD: 15,
  MANUAL_ATTRIBUTE_COUNT_WORD: 16,
  MANUAL_OWNER_COUNT_WORD: 17,
  /** `QuestionFlag` bits. */
  QUESTION_FLAGS_WORD: 18,
  /** Families for which blocked queries are answered with an address: 1 = IPv4, 2 = IPv6. */
  ADDRESS_FAMILIES_WORD: 19,
  HEADER_WORDS: 20,
  GROUP_ROW_WORDS: 4,
} as const;

/**
 * Client table: a header, the records that give clients their groups, then for each address family the ranges of
 * addresses without gaps or overlaps: all starts in ascending order, then the word of each range. A word of a start is
 * four bytes of the address, first byte highest, with the sign bit inverted, so that signed words compare like
 * addresses. Record 0 is for clients without a record.
 */
export const ClientTableLayout = {
  MAGIC_WORD: 0,
  VERSION_WORD: 1,
  RECORD_COUNT_WORD: 2,
  IPV4_RANGE_COUNT_WORD: 3,
  IPV6_RANGE_COUNT_WORD: 4,
  HEADER_WORDS: 8,
  /**
   * A record: group index, `ClientGroupSource` times 256 plus the length of the prefix, four words of address. Records
   * of clients that are identified by a key come first, and have the client's id in the last word.
   */
  RECORD_WORDS: 6,
  IPV4_WORDS: 1,
  IPV6_WORDS: 4,
  /** The word of a range: the index of its record, and whether its clients are admitted; see `ClientTable.find`. */
  RECORD_MASK: 0xff_ffff,
  /** Position of the `Exclusion` bits for queries of the range's clients. */
  EXCLUSION_SHIFT: 26,
  BLOCKED_BIT: 1 << 29,
  ADMITTED_BIT: 1 << 30,
} as const;

/** Order-dependent sum of the words from `from` on: detects incomplete and damaged files, but not forgeries. */
export function checksumWords(words: Uint32Array, from: number): number {
  let sum = 0x811c9dc5;
  for (let at = from; at < words.length; at++) sum = Math.imul(sum ^ words[at]!, 0x01000193) ^ (sum >>> 15);
  return sum >>> 0;
}
