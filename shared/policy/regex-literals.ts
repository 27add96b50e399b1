/**
 * Finds literals of a regular expression: a set of texts of which at least one occurs in every match, so that most
 * names can be skipped without matching. Parses the pattern without re2js and returns null in case of doubt, because a
 * wrong literal would cause missed matches.
 */

/** A set of literals, one of which must occur; null = unknown. */
type Required = readonly string[] | null;

/** Maximum number of literals in a set: a larger set excludes too few names. */
const MAX_SET = 32;
const MAX_DEPTH = 50;

class Unknown extends Error {
  override readonly name = 'Unknown';
}

/** Literals of which one occurs in each match of `pattern` (valid RE2 syntax), in lower case; or null. */
export function requiredLiterals(pattern: string): Required {
  try {
    const reader = new PatternReader(pattern);
    const required = reader.alternation(0);
    return reader.atEnd() ? required : null;
  } catch (error) {
    if (error instanceof Unknown) return null;
    throw error;
  }
}

class PatternReader {
  private readonly pattern: string;
  private at = 0;

  constructor(pattern: string) {
    this.pattern = pattern;
  }

  atEnd(): boolean {
    return this.at >= this.pattern.length;
  }

  /** `a|b|c`, up to a closing bracket or the end. */
  alternation(depth: number): Required {
    if (depth > MAX_DEPTH) throw new Unknown();
    let union: string[] | null = [];
    for (;;) {
      const branch = this.branch(depth);
      union = union === null || branch === null ? null : [...union, ...branch];
      if (this.pattern[this.at] !== '|') break;
      this.at++;
    }
    return union === null || union.length > MAX_SET ? null : union;
  }

  private branch(depth: number): Required {
    let best: Required = null;
    let run = '';
    const offer = (candidate: Required): void => {
      if (candidate !== null && weight(candidate) > weight(best)) best = candidate;
    };
    const endRun = (): void => {
      if (run !== '') offer([run]);
      run = '';
    };
    while (!this.atEnd() && this.pattern[this.at] !== '|' && this.pattern[this.at] !== ')') {
      const atom = this.atom(depth);
      const { optional, repeated } = this.quantifier();
      if (typeof atom === 'string' && !optional) {
        run += atom;
        if (repeated) endRun();
        continue;
      }
      endRun();
      if (typeof atom !== 'string' && !optional) offer(atom);
    }
    endRun();
    return best;
  }

  /** One character as text, or the literals that a group requires, or null for other syntax. */
  private atom(depth: number): string | Required {
    const { pattern } = this;
    const first = pattern[this.at++]!;
    switch (first) {
      case '(':
        return this.group(depth);
      case '[':
        this.skipClass();
        return null;
      case '\\':
        return this.escape();
      case '.':
      case '^':
      case '$':
        return null;
      default:
        if (first > '~' || first < ' ') throw new Unknown();
        return first.toLowerCase();
    }
  }

  private group(depth: number): Required {
    if (this.pattern[this.at] === '?') {
      // Accept only plain non-capturing groups and named groups: flags change the meaning of letters.
      const head = /^\?(?::|P?<\w+>)/.exec(this.pattern.slice(this.at, this.at + 80));
      if (head === null) throw new Unknown();
      this.at += head[0].length;
    }
    const required = this.alternation(depth + 1);
    if (this.pattern[this.at] !== ')') throw new Unknown();
    this.at++;
    return required;
  }

  private skipClass(): void {
    const { pattern } = this;
    if (pattern[this.at] === '^') this.at++;
    if (pattern[this.at] === ']') this.at++;
    while (pattern[this.at] !== ']') {
      if (this.at >= pattern.length) throw new Unknown();
      if (pattern[this.at] === '\\') this.at += 2;
      else if (pattern.startsWith('[:', this.at)) {
        const end = pattern.indexOf(':]', this.at);
        if (end < 0) throw new Unknown();
        this.at = end + 2;
      } else this.at++;
    }
    this.at++;
  }

  private escape(): string | null {
    const next = this.pattern[this.at++];
    if (next === undefined) throw new Unknown();
    if ('dDsSwWbBAz'.includes(next)) return null;
    if (/[A-Za-z0-9]/.test(next) || next > '~') throw new Unknown();
    return next;
  }

  private quantifier(): { optional: boolean; repeated: boolean } {
    const { pattern } = this;
    let optional = false;
    let repeated = false;
    for (;;) {
      const next = pattern[this.at];
      const braces = next === '{' ? /^\{(\d+)(?:,\d*)?\}/.exec(pattern.slice(this.at, this.at + 20)) : null;
      if (next === '{' && braces === null) throw new Unknown();
      if (braces !== null) {
        optional ||= Number(braces[1]) === 0;
        this.at += braces[0].length;
      } else if (next === '*' || next === '?') {
        optional = true;
        this.at++;
      } else if (next === '+') this.at++;
      else return { optional, repeated };
      repeated = true;
    }
  }
}

/** Measure of how many names a set excludes: a longer shortest literal and fewer literals are better. */
function weight(set: Required): number {
  if (set === null || set.length === 0) return 0;
  return Math.min(...set.map((literal) => literal.length)) * 64 - set.length;
}
