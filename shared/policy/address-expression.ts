/**
 * Decides by the text of a regular expression whether it is meant for the addresses in answers: it must be anchored at
 * both ends, and match four decimal groups or groups between colons. Any other expression is for names, even if it
 * consists of digits and dots: applied to addresses, it could block every answer.
 */

/** Separators in the texts that a part of an expression matches. */
interface Shape {
  readonly minDots: number;
  readonly maxDots: number;
  readonly minColons: number;
  /** Whether the text has digits and dots only. */
  readonly isDecimal: boolean;
}

const NOTHING: Shape = { minDots: 0, maxDots: 0, minColons: 0, isDecimal: true };
const DIGIT: Shape = NOTHING;
const HEXADECIMAL: Shape = { ...NOTHING, isDecimal: false };
const DOT: Shape = { ...NOTHING, minDots: 1, maxDots: 1 };
const COLON: Shape = { ...NOTHING, minColons: 1, isDecimal: false };

const ANCHORED = /^(?:\(\?[is]+\))?(?:\^|\\A)(.*)(?:\$|\\z)$/s;
const GROUP = /^\((?:\?(?:[is]*:|P?<\w+>))?/;
const QUANTIFIER = /^(?:[?*+]|\{(\d{1,4})(,?)(\d{0,4})\})\??/;
const DOT_CLASS = /^\[\\?\.\]/;
const DECIMAL_CLASS = /^\[(?:\d|\d-\d|\\d|\[:digit:\])+\]/;
const HEXADECIMAL_CLASS = /^\[(?:[\da-f.:]|\d-\d|[a-f]-[a-f]|\\[d.:]|\[:x?digit:\])+\]/i;

/** Whether a regular expression is matched against addresses. */
export function isAddressExpression(text: string): boolean {
  const body = ANCHORED.exec(text)?.[1];
  if (body === undefined) return false;
  const reader = new ShapeReader(body);
  // Reject alternatives outside parentheses: each would be anchored at one end only.
  const shape = reader.branch();
  if (shape === null || !reader.isAtEnd) return false;
  const { minDots, maxDots, minColons, isDecimal } = shape;
  return isDecimal ? minDots === 3 && maxDots === 3 : minColons > 0;
}

/** Reads the shape of an expression; null if it contains anything that is not part of an address. */
class ShapeReader {
  private rest: string;

  constructor(body: string) {
    this.rest = body;
  }

  get isAtEnd(): boolean {
    return this.rest === '';
  }

  branch(): Shape | null {
    let shape = NOTHING;
    while (this.rest !== '' && !/^[|)]/.test(this.rest)) {
      const atom = this.atom();
      if (atom === null) return null;
      shape = both(shape, this.repeated(atom));
    }
    return shape;
  }

  private alternation(): Shape | null {
    let joined: Shape | null = null;
    do {
      const branch = this.branch();
      if (branch === null) return null;
      joined = joined === null ? branch : either(joined, branch);
    } while (this.take('|'));
    return joined;
  }

  private atom(): Shape | null {
    const group = this.match(GROUP);
    if (group !== null) {
      const inner = this.alternation();
      return this.take(')') ? inner : null;
    }
    if (this.match(DOT_CLASS) !== null) return DOT;
    if (this.match(DECIMAL_CLASS) !== null) return DIGIT;
    if (this.match(HEXADECIMAL_CLASS) !== null) return HEXADECIMAL;
    if (this.match(/^\\\./) !== null) return DOT;
    if (this.match(/^(?:\\d|\d)/) !== null) return DIGIT;
    if (this.match(/^(?:[a-f.]|\\w)/i) !== null) return HEXADECIMAL;
    return this.match(/^\\?:/) === null ? null : COLON;
  }

  private repeated(atom: Shape): Shape {
    const quantifier = QUANTIFIER.exec(this.rest);
    if (quantifier === null) return atom;
    this.rest = this.rest.slice(quantifier[0].length);
    const [sign, min, comma, max] = quantifier;
    if (min === undefined)
      return times(atom, sign.startsWith('+') ? 1 : 0, sign.startsWith('?') ? 1 : Infinity);
    return times(atom, Number(min), comma === '' ? Number(min) : max === '' ? Infinity : Number(max));
  }

  private match(pattern: RegExp): string | null {
    const found = pattern.exec(this.rest);
    if (found === null) return null;
    this.rest = this.rest.slice(found[0].length);
    return found[0];
  }

  private take(text: string): boolean {
    if (!this.rest.startsWith(text)) return false;
    this.rest = this.rest.slice(text.length);
    return true;
  }
}

function either(a: Shape, b: Shape): Shape {
  return {
    minDots: Math.min(a.minDots, b.minDots),
    maxDots: Math.max(a.maxDots, b.maxDots),
    minColons: Math.min(a.minColons, b.minColons),
    isDecimal: a.isDecimal && b.isDecimal,
  };
}

function both(a: Shape, b: Shape): Shape {
  return {
    minDots: a.minDots + b.minDots,
    maxDots: a.maxDots + b.maxDots,
    minColons: a.minColons + b.minColons,
    isDecimal: a.isDecimal && b.isDecimal,
  };
}

function times(shape: Shape, min: number, max: number): Shape {
  return {
    minDots: shape.minDots * min,
    maxDots: shape.maxDots === 0 ? 0 : shape.maxDots * max,
    minColons: shape.minColons * min,
    isDecimal: shape.isDecimal,
  };
}
