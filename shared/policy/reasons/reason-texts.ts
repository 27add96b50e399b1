/**
 * Reasons with codes: each has a code, an English text and parameters. The server uses the English text in the API, the
 * database and logs. `read` finds the code and parameters of an English text, even if an older release stored the text
 * in the database, so that the dashboard can show the reason in the user's language.
 */

/** A reason in codes. */
export interface CodedReason<Code extends string> {
  readonly code: Code;
  readonly params: Readonly<Record<string, string>>;
}

/** A placeholder for a parameter in a text. */
const PLACE = /\{(\w+)\}/g;

/** A text that is split at its parameters. */
interface Form<Code> {
  readonly code: Code;
  readonly names: readonly string[];
  /** The fixed texts before, between and after the parameters. */
  readonly fixed: readonly string[];
}

/** The reasons of one area; `{name}` is the parameter `name`. */
export class ReasonTexts<Texts extends Readonly<Record<string, string>>> {
  private readonly texts: Texts;
  private readonly exact = new Map<string, keyof Texts & string>();
  private forms: readonly Form<keyof Texts & string>[] | null = null;

  constructor(texts: Texts) {
    this.texts = texts;
    for (const [code, text] of Object.entries(texts)) this.exact.set(text, code);
  }

  /** The English text of a reason. */
  say(code: keyof Texts & string, params: Readonly<Record<string, string | number>> = {}): string {
    return fillText(this.texts[code]!, (name) => String(params[name]));
  }

  /** Code and parameters of an English text; null if the text is not one of these reasons. */
  read(text: string): CodedReason<keyof Texts & string> | null {
    const code = this.exact.get(text);
    if (code !== undefined) return { code, params: {} };
    this.forms ??= this.makeForms();
    for (const { code: found, names, fixed } of this.forms) {
      const values = valuesBetween(text, fixed);
      if (values !== null)
        return { code: found, params: Object.fromEntries(names.map((name, at) => [name, values[at]!])) };
    }
    return null;
  }

  /** The texts with parameters; texts with more fixed characters come first, because they are more specific. */
  private makeForms(): readonly Form<keyof Texts & string>[] {
    return Object.entries(this.texts)
      .map(([code, text]) => {
        // Every second piece is the name of a parameter.
        const pieces = text.split(/\{(\w+)\}/);
        return {
          code,
          names: pieces.filter((_, at) => at % 2 === 1),
          fixed: pieces.filter((_, at) => at % 2 === 0),
        };
      })
      .filter(({ names }) => names.length > 0)
      .sort((one, other) => other.fixed.join('').length - one.fixed.join('').length);
  }
}

/**
 * The values between the fixed texts, each as short as possible; null if the fixed texts do not occur in this order.
 */
function valuesBetween(text: string, fixed: readonly string[]): string[] | null {
  const first = fixed[0]!;
  const last = fixed.at(-1)!;
  if (!text.startsWith(first) || !text.endsWith(last)) return null;
  const values: string[] = [];
  let at = first.length;
  for (const piece of fixed.slice(1, -1)) {
    const end = text.indexOf(piece, at);
    if (end < 0) return null;
    values.push(text.slice(at, end));
    at = end + piece.length;
  }
  const end = text.length - last.length;
  if (end < at) return null;
  values.push(text.slice(at, end));
  return values;
}

/** A text with the values of its parameters. */
export function fillText(text: string, valueOf: (name: string) => string): string {
  return text.replace(PLACE, (_, name: string) => valueOf(name));
}
