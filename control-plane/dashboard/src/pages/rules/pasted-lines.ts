/** Reads rules from pasted text: names, hosts lines, Adblock rules and URLs. Pure functions. */
import { ruleOfPasted } from '../../ui/policy/pasted-name.ts';
import type { ManagedDomain, RuleAction } from './rule-rows.ts';

/** Result for a name: new, a duplicate of a line above, already covered by a rule, or not a valid name. */
export type PastedState = 'new' | 'double' | 'there' | 'bad';

/** A name in the text. */
export interface PastedName {
  /** Line number, from 1. */
  readonly line: number;
  readonly text: string;
  /** The name in canonical form; the unchanged text if it is not a valid name. */
  readonly domain: string;
  readonly state: PastedState;
  /** Whether an existing rule for the same group does the opposite. */
  readonly isOpposed: boolean;
}

/** The rules to create for the names. */
export interface PasteTarget {
  readonly action: RuleAction;
  /** Whether rules include subdomains, even for names without `*.`. */
  readonly subdomains: boolean;
  readonly groupId: number | null;
  readonly existing: readonly ManagedDomain[];
}

const SINK = /^(?:0\.0\.0\.0|127\.0\.0\.1|::1?)$/;

/** All names in the text, in order; empty lines and comments are skipped. */
export function pastedNames(text: string, target: PasteTarget): PastedName[] {
  const { action, subdomains, groupId, existing } = target;
  const own = existing.filter((rule) => rule.group_id === groupId);
  const there = new Set(own.filter((rule) => rule.action === action).map(({ domain }) => domain));
  const opposed = new Set(own.filter((rule) => rule.action !== action).map(({ domain }) => domain));
  const seen = new Set<string>();
  return text.split(/\r?\n/).flatMap((line, place) =>
    namesOfLine(line).map((written) => {
      const domain = ruleOfPasted(written, subdomains);
      const base = { line: place + 1, text: written };
      if (domain === null) return { ...base, domain: written, state: 'bad', isOpposed: false };
      const state = there.has(domain) ? 'there' : seen.has(domain) ? 'double' : 'new';
      seen.add(domain);
      return { ...base, domain, state, isOpposed: state === 'new' && opposed.has(domain) };
    }),
  );
}

/** Number of names in each state, and number of names that an existing rule opposes. */
export function countsOf(names: readonly PastedName[]): Record<PastedState | 'opposed', number> {
  const counts = { new: 0, double: 0, there: 0, bad: 0, opposed: 0 };
  for (const { state, isOpposed } of names) {
    counts[state] += 1;
    if (isOpposed) counts.opposed += 1;
  }
  return counts;
}

function namesOfLine(line: string): string[] {
  const text = line.replace(/(?:^|\s)#.*$/, '').trim();
  if (text === '' || text.startsWith('!')) return [];
  const words = text.split(/[\s,;]+/).filter((word) => word !== '');
  if (SINK.test(words[0]!)) return words.slice(1);
  // A sentence counts as one invalid line, not as many single-label names.
  return words.length > 1 && !words.every((word) => word.includes('.')) ? [text] : words;
}
