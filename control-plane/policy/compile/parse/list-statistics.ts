/** Statistics of a list after it was read: counts, the first unused lines, and its fault. */
import type { LineReason } from '../../../../shared/policy/reasons/line-reasons.ts';

/** Version of the list parser; raised when the same text gives other rules, so that lists are compiled again. */
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
  /** Start of the line, at most `SAMPLE_TEXT_LENGTH` bytes of it. */
  readonly text: string;
}

/** Reason why a list as a whole cannot be used. */
export interface ListFault {
  readonly code: 'not_a_list' | 'empty' | 'no_rules' | 'unreadable';
  readonly message: string;
}

/** Counts of one list. A hosts line with nine names is one line and nine rules. */
export interface ListStatistics {
  /** `LIST_READING` of the version that read the list. */
  readonly reading: number;
  readonly lines: number;
  readonly rules: number;
  /** Rules that also cover subdomains. */
  readonly wildcardRules: number;
  readonly invalidLines: number;
  readonly skippedLines: number;
  readonly format: ListFormat;
  /** Patterns and regular expressions. */
  readonly textRules: number;
  /** Rules that match an address or a prefix in answers. */
  readonly addressRules: number;
  /** Share of the address space that address rules cover, 0 to 1. */
  readonly addressShare: number;
  /** Prefix lengths of address rules, as the words of `PrefixLengths`. */
  readonly prefixLengths: readonly number[];
  /** Clients that rules identify by MAC or by name. */
  readonly clientNames: readonly string[];
  /** Names at which its `$badfilter` rules disable rules of lists; absent for a list with many of them. */
  readonly takenBackNames?: readonly string[];
  /** Whether some rules are in Adblock style, whatever syntax the others have. */
  readonly hasAdblockRules: boolean;
  /** The first samples of each kind, at most `MAX_SAMPLES`. */
  readonly invalidSamples: readonly LineSample[];
  readonly skippedSamples: readonly LineSample[];
  readonly fault: ListFault | null;
}

/** Maximum number of samples of each kind. */
export const MAX_SAMPLES = 100;
/** Longest text of a sample. */
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
