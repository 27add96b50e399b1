/**
 * Statistics of a list after it was read: counts, the first unused lines, and the reason if the whole list cannot be
 * used.
 */
import type { LineReason } from '../../../../shared/policy/reasons/line-reasons.ts';

/**
 * Version of the list parser; it is increased when a change makes the same text give different rules, so that lists are compiled
 * again.
 */
export const LIST_READING = 2;

/** Syntax of most rules of a list. */
export type ListFormat =
  'hosts' | 'domains' | 'wildcard' | 'adblock' | 'regex' | 'dnsmasq' | 'unbound' | 'rpz' | 'unknown';

/** Reason why a line gives no rule: unknown syntax, or a rule that does not apply or is not supported here. */
export interface UnusedLine {
  readonly invalid: boolean;
  readonly reason: LineReason;
}

/** A line without a rule. */
export interface LineSample {
  /** Line number, starting at 1. */
  readonly line: number;
  readonly reason: LineReason;
  /** The first `SAMPLE_TEXT_LENGTH` bytes of the line. */
  readonly text: string;
}

/** Reason why a list as a whole cannot be used. */
export interface ListFault {
  readonly code: 'not_a_list' | 'empty' | 'no_rules' | 'unreadable';
  readonly message: string;
}

/** Counts of one list. A hosts line with nine names is one line and nine rules. */
export interface ListStatistics {
  /** The value of `LIST_READING` in the release that read the list. */
  readonly reading: number;
  readonly lines: number;
  readonly rules: number;
  /** Number of rules that also cover subdomains. */
  readonly wildcardRules: number;
  readonly invalidLines: number;
  readonly skippedLines: number;
  readonly format: ListFormat;
  /** Number of patterns and regular expressions. */
  readonly textRules: number;
  /** Number of rules that match an address or a prefix in answers. */
  readonly addressRules: number;
  /** Share of the address space that address rules cover, 0 to 1. */
  readonly addressShare: number;
  /** Prefix lengths of address rules, as the words of `PrefixLengths`. */
  readonly prefixLengths: readonly number[];
  /** Clients that rules identify by MAC or by name. */
  readonly clientNames: readonly string[];
  /** Names of the rules that `$badfilter` rules of the list disable; absent if there are too many. */
  readonly takenBackNames?: readonly string[];
  /** Whether at least one rule is in Adblock style. */
  readonly hasAdblockRules: boolean;
  /** The first samples of each kind, at most `MAX_SAMPLES`. */
  readonly invalidSamples: readonly LineSample[];
  readonly skippedSamples: readonly LineSample[];
  readonly fault: ListFault | null;
}

/** Maximum number of samples of each kind. */
export const MAX_SAMPLES = 100;
/** Maximum length of the text of a sample in bytes. */
export const SAMPLE_TEXT_LENGTH = 120;

/** The statistics of a list that could not be read to its end. */
export function unreadableList(message: string): ListStatistics {
  return {
    reading: LIST_READING,
    lines: 0,
    rules: 0,
    wildcardRules: 0,
    invalidLines: 0,
    skippedLines: 0,
    format: 'unknown',
    textRules: 0,
    addressRules: 0,
    addressShare: 0,
    clientNames: [],
    prefixLengths: [],
    hasAdblockRules: false,
    invalidSamples: [],
    skippedSamples: [],
    fault: { code: 'unreadable', message },
  };
}
