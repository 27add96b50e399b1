/** Recognizes the messages of `fault-lines.ts` as codes with parameters, and translates them. */
import { fillText } from '../../../policy/reasons/reason-texts.ts';
import { ENGLISH_FAULTS } from './fault-lines.ts';
import type { FaultTexts, FormCode, LineCode } from './fault-lines.ts';

/** A fault of a request: the code and the parameters of its message in `fault-lines.ts`. */
export type ReadFault = Coded<LineCode>;

/** A part of a message. */
export type ReadForm = Coded<FormCode>;

/** A code with the values of its parameters: texts from the request, or parts that have a code. */
interface Coded<Code extends string> {
  readonly code: Code;
  readonly params: Readonly<Record<string, string | Coded<FormCode>>>;
}

/** Maximum length of a message to recognize. Only messages that quote a long text of the request are longer. */
const MAX_LENGTH = 2000;

/** The fault that a message reports; null if the message is not in `fault-lines.ts`. */
export function readFault(line: string): ReadFault | null {
  if (line.length > MAX_LENGTH) return null;
  return readText(line, (linePatterns ??= patternsOf(ENGLISH_FAULTS.lines)));
}

/** The part of a message, such as an expected value, that a text is; null for a text that is not in the set. */
export function readForm(text: string): ReadForm | null {
  if (text.length > MAX_LENGTH) return null;
  return readText(text, (formPatterns ??= patternsOf(ENGLISH_FAULTS.forms)));
}

/** The message for a fault, in the language of `texts`; `writeReason` translates the texts of its parameter `reason`. */
export function writeFault(
  { code, params }: ReadFault,
  texts: FaultTexts,
  writeReason = (reason: string): string => reason,
): string {
  const { reason } = params;
  const written = typeof reason === 'string' ? { ...params, reason: writeReason(reason) } : params;
  return filled(texts.lines[code], written, texts);
}

/** The part of a message in the language of `texts`. */
export function writeForm({ code, params }: ReadForm, texts: FaultTexts): string {
  return filled(texts.forms[code], params, texts);
}

function filled(text: string, params: ReadFault['params'], texts: FaultTexts): string {
  return fillText(text, (name) => {
    const value = params[name] ?? '';
    return typeof value === 'string' ? value : filled(texts.forms[value.code], value.params, texts);
  });
}

interface Pattern<Code extends string> {
  readonly code: Code;
  readonly pattern: RegExp;
}

let linePatterns: readonly Pattern<LineCode>[] | undefined;
let formPatterns: readonly Pattern<FormCode>[] | undefined;

/** Parameters whose value must be one of the parts in `FORMS`; `got` may also be the value of the request. */
const CODED = new Set(['what', 'unit', 'where', 'why']);

/** Patterns of parameters whose values have a fixed form, such as numbers. */
const VALUES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ['min', 'max', 'version', 'count', 'number', 'length', 'row', 'bits', 'services'].map((name) => [
      name,
      '-?\\d+',
    ]),
  ),
  choices: String.raw`(?:"[^"]*"|\d+)(?:, (?:"[^"]*"|\d+))*`,
  last: String.raw`"[^"]*"|\d+`,
  type: '[A-Za-z][\\w-]*',
  kind: 'block|allow',
  file: '[^:]+',
};

function readText<Code extends string>(text: string, patterns: readonly Pattern<Code>[]): Coded<Code> | null {
  for (const { code, pattern } of patterns) {
    const match = pattern.exec(text);
    const params = match === null ? null : paramsOf(match.groups ?? {});
    if (params !== null) return { code, params };
  }
  return null;
}

/** The parameters of a message or part; null if a parameter that must be a part with a code has another text. */
function paramsOf(groups: Readonly<Record<string, string>>): ReadFault['params'] | null {
  const params: Record<string, string | Coded<FormCode>> = {};
  for (const [name, value] of Object.entries(groups)) {
    const form = CODED.has(name) || name === 'got' ? readForm(value) : null;
    if (form === null && CODED.has(name)) return null;
    params[name] = form ?? value;
  }
  return params;
}

/** Patterns of the messages or parts, those with the most fixed characters first. */
function patternsOf<Code extends string>(texts: Readonly<Record<Code, string>>): readonly Pattern<Code>[] {
  const fixedLength = (text: string): number => text.replaceAll(/\{\w+\}/g, '').length;
  return (Object.entries(texts) as [Code, string][])
    .sort(([, one], [, other]) => fixedLength(other) - fixedLength(one))
    .map(([code, text]) => ({ code, pattern: patternOf(text) }));
}

function patternOf(text: string): RegExp {
  // With this split, every second piece is the name of a parameter.
  const pieces = text.split(/\{(\w+)\}/).map((piece, index) => {
    if (index % 2 === 0) return piece.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`);
    return `(?<${piece}>${VALUES[piece] ?? '.+?'})`;
  });
  return new RegExp(`^${pieces.join('')}$`, 's');
}
