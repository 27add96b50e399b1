/**
 * Pi-hole's regular expressions have the syntax of TRE (POSIX extended with additions), Weir's have that of RE2. Most
 * patterns are valid in both. Other patterns are rewritten if an exact equivalent exists, and are refused if not.
 * Follows tre-parse.c of Pi-hole FTL. Pure.
 */
import { type ImportReason, importReason } from '../../../../../shared/policy/reasons/import-reasons.ts';
import { readBracket } from './tre-bracket.ts';
import {
  anchor,
  character,
  EMPTY,
  joined,
  NoEquivalent,
  type Piece,
  type Range,
  repeated,
} from './tre-pieces.ts';

/** The equivalent pattern for RE2, or the reason why there is none. */
export type ReadPattern = { readonly pattern: string } | { readonly reason: ImportReason };

/** Escapes with the same meaning in TRE and RE2. */
const SHARED_ESCAPES = /[tnrfawWsSdD]/;
const ONLY_NAME = /^\(\\\.\|\^\)((?:[a-z0-9_-]|\\\.)+)\$$/i;
/** Maximum number of repetitions of a quantifier in TRE. */
const MAX_REPETITIONS = 255;

/** Rewrites a pattern; the caller must check whether it compiles. */
export function fromTre(pattern: string): ReadPattern {
  try {
    return { pattern: new TreReader(pattern).read() };
  } catch (error) {
    if (error instanceof NoEquivalent) return { reason: error.reason };
    throw error;
  }
}

/** Error for an expression that TRE refuses, and which is therefore not active in Pi-hole either. */
function refused(reason: ImportReason): NoEquivalent {
  return new NoEquivalent(importReason('pihole_rejected', { reason }));
}

/** Reads one pattern by recursive descent. */
class TreReader {
  private readonly text: string;
  private at = 0;
  private depth = 0;

  constructor(text: string) {
    this.text = text;
  }

  read(): string {
    return this.alternatives().text;
  }

  private get next(): string {
    return this.text[this.at] ?? '';
  }

  private alternatives(): Piece {
    const branches = [this.branch()];
    while (this.next === '|') {
      this.at++;
      branches.push(this.branch());
    }
    if (branches.length === 1) return branches[0]!;
    const nullable = branches.filter(({ isNullable }) => isNullable);
    const isAnchored = nullable.some((branch) => branch.isAnchored);
    // TRE uses only the first alternative that can match the empty string.
    if (nullable.length > 1 && isAnchored) throw new NoEquivalent(importReason('pihole_empty_alternatives'));
    return {
      text: branches.map(({ text }) => text).join('|'),
      isAtom: false,
      isNullable: nullable.length > 0,
      isAnchored,
      startsWord: branches.every(({ startsWord }) => startsWord),
      endsWord: branches.every(({ endsWord }) => endsWord),
    };
  }

  private branch(): Piece {
    const pieces: Piece[] = [];
    do pieces.push(this.piece());
    while (this.at < this.text.length && this.next !== '|' && !(this.next === ')' && this.depth > 0));
    return joined(pieces.filter((piece) => piece !== EMPTY));
  }

  private piece(): Piece {
    let piece = this.atom();
    for (;;) {
      const range = this.quantifier();
      if (range === null) return piece;
      piece = repeated(piece, range);
    }
  }

  private quantifier(): Range | null {
    const { next, at } = this;
    if (!/^[*+?{]$/.test(next)) return null;
    const range = next === '{' ? this.bounds() : QUANTIFIERS[next]!;
    if (next !== '{') this.at++;
    if (this.next === '?') this.at++;
    else if (this.next === '*' || this.next === '+') throw refused(importReason('pihole_two_quantifiers'));
    return { ...range, text: range.text ?? this.text.slice(at, this.at) };
  }

  private bounds(): Omit<Range, 'text'> & { readonly text?: string } {
    const [whole, content = ''] = /^\{([^}]*)\}/.exec(this.text.slice(this.at)) ?? [];
    if (whole === undefined) throw refused(importReason('pihole_open_brace'));
    this.at += whole.length;
    const numbers = /^(\d*)(?:(,)(\d*))?\s*$/.exec(content);
    if (numbers === null && /[~#+<-]/.test(content))
      throw new NoEquivalent(importReason('pihole_approximate'));
    if (numbers === null || content === '')
      throw refused(importReason('pihole_repetitions', { braces: `{${content}}` }));
    const [, minText = '', comma, maxText = ''] = numbers;
    const min = minText === '' ? 0 : Number(minText);
    const max = maxText === '' ? null : Number(maxText);
    const largest = comma === undefined ? min : (max ?? 0);
    if (largest > MAX_REPETITIONS || (max !== null && min > max))
      throw refused(importReason('pihole_repetitions', { braces: `{${content}}` }));
    if (comma === undefined) return { min, max: min };
    if (minText === '' && max === null) return { min: 1, max: 1 };
    // Without a lower bound, TRE counts the repetitions from -1.
    return minText === '' && max !== null ? { min: -1, max: max + 1, text: `{0,${max + 1}}` } : { min, max };
  }

  private atom(): Piece {
    const { next } = this;
    switch (next) {
      case '':
      case '|':
      case '*':
      case '+':
      case '?':
      case '{':
        return EMPTY;
      case ')':
        if (this.depth > 0) return EMPTY;
        this.at++;
        return character('\\)', false);
      case '(':
        return this.group();
      case '[':
        return this.bracket();
      case '\\':
        return this.escape();
      case '^':
      case '$':
        this.at++;
        return anchor(next);
      default:
        this.at++;
        return character(next, /\w/.test(next));
    }
  }

  private bracket(): Piece {
    const read = readBracket(this.text.slice(this.at));
    if ('reason' in read) throw refused(read.reason);
    this.at += read.length;
    return character(read.text, read.isWord);
  }

  private group(): Piece {
    if (this.text[this.at + 1] === '?') return this.flagged();
    this.at++;
    return this.groupAfter('(');
  }

  private groupAfter(start: string): Piece {
    this.depth++;
    const inner = this.alternatives();
    if (this.next !== ')') throw refused(importReason('pihole_open_parenthesis'));
    this.at++;
    this.depth--;
    return { ...inner, text: `${start}${inner.text})`, isAtom: true };
  }

  /** `(?flags:...)`, and `(?flags)` for the rest of the pattern. The flags n, r and U have no effect on names. */
  private flagged(): Piece {
    const comment = /^\(\?#[^)]*\)/.exec(this.text.slice(this.at))?.[0];
    const [whole, flags = '', end] = /^\(\?([inrU-]*)([:)])/.exec(this.text.slice(this.at)) ?? [];
    const start = comment ?? whole;
    if (start === undefined) throw refused(importReason('pihole_no_group_start'));
    const isCaseSensitive = /-.*i/.test(flags);
    this.at += start.length;
    if (end === ':') return this.groupAfter(isCaseSensitive ? '(?-i:' : '(?:');
    if (this.depth > 0) throw new NoEquivalent(importReason('pihole_inner_flags'));
    const isFirst = this.at === start.length;
    const rest = this.alternatives();
    if (isCaseSensitive) return { ...rest, text: `(?-i:${rest.text})`, isAtom: true };
    return isFirst || !rest.text.includes('|') ? rest : { ...rest, text: `(?:${rest.text})`, isAtom: true };
  }

  private escape(): Piece {
    const letter = this.text[this.at + 1];
    if (letter === undefined) throw refused(importReason('pihole_backslash_end'));
    if (letter === 'Q') return this.literal();
    if (letter === 'x') return this.octet();
    this.at += 2;
    if (/\d/.test(letter))
      throw new NoEquivalent(importReason('pihole_back_reference', { reference: `\\${letter}` }));
    if (letter === '<') return { ...anchor('\\b'), edge: 'start' };
    if (letter === '>') return { ...anchor('\\b'), edge: 'end' };
    // In TRE the start and the end of a name are always word boundaries.
    if (letter === 'b') return anchor('(?:\\b|^|$)');
    if (letter === 'B') throw new NoEquivalent(importReason('pihole_no_boundary'));
    if (SHARED_ESCAPES.test(letter)) return character(`\\${letter}`, letter === 'w' || letter === 'd');
    if (letter === 'e') return character('\\x1b', false);
    return character(/\w/.test(letter) ? letter : `\\${letter}`, /\w/.test(letter));
  }

  /** `\x2e` or `\x{2e}`. */
  private octet(): Piece {
    const found = /^\\x(?:\{([0-9a-f]*)\}|(?!\{)([0-9a-f]{0,2}))/i.exec(this.text.slice(this.at));
    if (found === null) throw refused(importReason('pihole_open_brace'));
    this.at += found[0].length;
    const code = (found[1] ?? found[2] ?? '').slice(-6);
    return character(`\\x{${code === '' ? '0' : code}}`, false);
  }

  /** `\Q` to `\E` or the end: literal text. */
  private literal(): Piece {
    const end = this.text.indexOf('\\E', this.at + 2);
    const text = this.text.slice(this.at + 2, end < 0 ? undefined : end);
    this.at = end < 0 ? this.text.length : end + 2;
    const pieces = Array.from(text, (letter) =>
      character(letter.replace(/[^\w-]/, '\\$&'), /\w/.test(letter)),
    );
    // A quantifier after an empty literal has nothing to repeat.
    return pieces.length === 0 ? EMPTY : { ...joined([...pieces, this.piece()]) };
  }
}

const QUANTIFIERS: Readonly<
  Record<string, { readonly min: number; readonly max: number | null; readonly text?: string }>
> = {
  '*': { min: 0, max: null },
  '+': { min: 1, max: null },
  '?': { min: 0, max: 1 },
};

/**
 * The name in a pattern that Pi-hole's web interface generates for a name and its subdomains; null for other patterns.
 */
export function wildcardName(pattern: string): string | null {
  const name = ONLY_NAME.exec(pattern)?.[1]?.replaceAll('\\.', '.');
  return name === undefined || name.startsWith('.') || name.endsWith('.') ? null : name;
}
