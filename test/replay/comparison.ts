/**
 * Comparison of a server with a reference, name by name, with the kind of each difference. The reference applies plain
 * rules; an exception or an inexact rule that covers a name can explain why a server that applies every rule decides
 * differently.
 */
import { isIP } from 'node:net';

/** A name with an unexpected decision. */
export interface Difference {
  readonly name: string;
  /** Number of queries. */
  readonly asked: number;
  /** Lists that should have blocked the name; empty if it should have been allowed. */
  readonly expectedBy: readonly string[];
  readonly kind: string;
  /** A list line that explains the difference; null without one. */
  readonly because: string | null;
}

/** Observed decisions: for each name, how often it was blocked and how often not. */
export type Observations = ReadonlyMap<string, { readonly blocked: number; readonly allowed: number }>;

/** The list lines that affect names, except plain rules. */
export class Explanations {
  private readonly exceptions: ReadonlyMap<string, string>;
  private readonly others: readonly (readonly [RegExp, string])[];
  private readonly modified: ReadonlyMap<string, string>;

  /** Reads the lines of all lists that contain `@@`, patterns or modifiers. */
  constructor(lines: Iterable<string>) {
    const exceptions = new Map<string, string>();
    const modified = new Map<string, string>();
    const others: (readonly [RegExp, string])[] = [];
    for (const line of lines) {
      const exception = /^@@\|{1,2}([a-z0-9._-]+)\^?/.exec(line);
      const withModifier = /^\|\|([a-z0-9._-]+)\^?\$/.exec(line);
      if (exception !== null) exceptions.set(exception[1]!, line);
      else if (withModifier !== null) modified.set(withModifier[1]!, line);
      else if (/^[^!#@]*\*/.test(line) || /^\|\|[a-z0-9._-]+$/.test(line) || /^(\.|-|:\/\/)/.test(line))
        others.push([patternOf(line), line]);
    }
    this.exceptions = exceptions;
    this.modified = modified;
    this.others = others;
  }

  /** The exception for a name or one of its parents. */
  exceptionFor(name: string): string | null {
    return ofParents(name, this.exceptions);
  }

  /** A rule with a modifier for a name or one of its parents. */
  modifiedRuleFor(name: string): string | null {
    return ofParents(name, this.modified);
  }

  /** A pattern that matches a name. */
  patternFor(name: string): string | null {
    return this.others.find(([pattern]) => pattern.test(name))?.[1] ?? null;
  }
}

/** Every difference, the most queried names first. `expected` has names in lower case. */
export function differences(
  observations: Observations,
  expected: ReadonlyMap<string, readonly string[]>,
  explanations: Explanations,
): Difference[] {
  const found: Difference[] = [];
  for (const [name, { blocked, allowed }] of observations) {
    const expectedBy = expected.get(name) ?? [];
    const asked = blocked + allowed;
    if (blocked > 0 && allowed > 0)
      found.push({ name, asked, expectedBy, kind: 'decided inconsistently', because: null });
    else if (allowed > 0 && expectedBy.length > 0)
      found.push({ name, asked, expectedBy, ...whyAllowed(name, explanations) });
    else if (blocked > 0 && expectedBy.length === 0)
      found.push({ name, asked, expectedBy, ...whyBlocked(name, explanations) });
  }
  return found.sort((a, b) => b.asked - a.asked);
}

function whyAllowed(name: string, explanations: Explanations): Pick<Difference, 'kind' | 'because'> {
  if (isIP(name) !== 0) return { kind: 'allowed, because an address in a list is not a name', because: null };
  const because = explanations.exceptionFor(name);
  return { kind: because === null ? 'allowed, unexplained' : 'allowed by an exception (@@)', because };
}

function whyBlocked(name: string, explanations: Explanations): Pick<Difference, 'kind' | 'because'> {
  const modified = explanations.modifiedRuleFor(name);
  if (modified !== null) return { kind: 'blocked by a rule with a modifier', because: modified };
  const pattern = explanations.patternFor(name);
  if (pattern !== null) return { kind: 'blocked by a pattern', because: pattern };
  return { kind: 'blocked, unexplained', because: null };
}

function ofParents(name: string, rules: ReadonlyMap<string, string>): string | null {
  for (let rest = name; rest !== '';) {
    const rule = rules.get(rest);
    if (rule !== undefined) return rule;
    const dot = rest.indexOf('.');
    rest = dot < 0 ? '' : rest.slice(dot + 1);
  }
  return null;
}

/** A rough interpretation of an adblock pattern, good enough to find the likely rule. */
function patternOf(line: string): RegExp {
  const body = line.replace(/\$.*$/, '');
  const isAnchored = body.startsWith('||');
  const escaped = body
    .replace(/^\|{1,2}|^:\/\//, '')
    .replace(/[.+?^${}()|[\]\\]/g, '\\$&')
    .replace(/\*/g, '.*')
    .replace(/\\\^$|\\\|$/, '$');
  return new RegExp(isAnchored ? `(^|\\.)${escaped}` : escaped);
}
