/** Writes the English lines of `fault-lines.ts` from codes, so that a line of the server is always in the set. */
import { fillText } from '../../../policy/reasons/reason-texts.ts';
import type { Params } from '../../../policy/reasons/text-params.ts';
import { ENGLISH_FAULTS } from './fault-lines.ts';
import type { FormCode, LineCode } from './fault-lines.ts';

type Value = string | number;
type Lines = typeof ENGLISH_FAULTS.lines;
type Forms = typeof ENGLISH_FAULTS.forms;

/** The English line of a code. */
export function faultLine<Code extends LineCode>(
  code: Code,
  ...[params]: Params<Lines[Code], Value>
): string {
  return filled(ENGLISH_FAULTS.lines[code], params);
}

/** A part of a line, such as an expected value. */
export function faultForm<Code extends FormCode>(
  code: Code,
  ...[params]: Params<Forms[Code], Value>
): string {
  return filled(ENGLISH_FAULTS.forms[code], params);
}

function filled(text: string, params: Readonly<Record<string, Value>> = {}): string {
  return fillText(text, (name) => String(params[name]));
}
