/**
 * Checks parameters, query strings, bodies and other values against their schemas, and reports all invalid fields
 * together. Schemas may have their own messages, which start with "expected"; the messages of all others are written
 * here, in place of the texts of the schema library.
 */
import { faultForm, faultLine } from '../../shared/api/client/faults/fault-text.ts';
import type { FieldProblem } from '../../shared/api/problem-details.ts';
import type { Checked, Fault, RawFault, Schema } from '../../shared/api/zod.ts';
import { invalid } from './api-error.ts';

/** Maximum number of reported fields; limited because a large body may contain a million invalid fields. */
const MAX_FAULTS = 1000;

/** Parses `value`; throws 400 with all invalid fields. `part` is the name of the part of the request. */
export function validate<S extends Schema>(
  schema: S,
  value: unknown,
  part: 'field' | 'parameter' = 'field',
): Checked<S> {
  const result = checkValue(schema, value);
  if (result.faults === null) return result.value;
  const problems = result.faults.flatMap((fault) => toFieldProblems(fault, part));
  throw invalid(problems.slice(0, MAX_FAULTS));
}

function toFieldProblems(fault: Fault, part: string): FieldProblem[] {
  const path = fault.path.map(String);
  if (fault.code === 'unrecognized_keys')
    return fault.keys.map((key) => ({ path: [...path, key].join('.'), message: `unknown ${part}` }));
  return [{ path: path.join('.'), message: fault.message }];
}

/** The checked value, or its faults. */
type CheckedValue<S extends Schema> =
  | { readonly value: Checked<S>; readonly faults: null }
  | { readonly value: undefined; readonly faults: readonly Fault[] };

/** Checks a value. The messages of faults never contain the value. */
export function checkValue<S extends Schema>(schema: S, value: unknown): CheckedValue<S> {
  const result = schema.safeParse(value, { reportInput: false, error: describeFault });
  if (result.success) return { value: result.data, faults: null };
  return { value: undefined, faults: result.error.issues };
}

function describeFault(fault: RawFault): string {
  const { input } = fault;
  switch (fault.code) {
    case 'invalid_type':
      return wrongType(isInteger(fault) ? 'int' : fault.expected, input);
    case 'invalid_value':
      return wrongChoice(
        fault.values.map((value) => JSON.stringify(value)),
        input === undefined,
      );
    case 'invalid_format':
      return wrongFormat(fault.format);
    case 'too_small':
      return tooSmall(fault.origin, Number(fault.minimum), fault.exact === true);
    case 'too_big':
      return tooBig(fault.origin, Number(fault.maximum), fault.exact === true);
    default:
      return faultLine('invalid');
  }
}

/** Whether the schema of a fault is for integers. It reports a value that is not a number as one that should be. */
function isInteger({ inst }: RawFault): boolean {
  const { format } = (inst?._zod.def ?? {}) as { readonly format?: unknown };
  return format === 'safeint';
}

/** Names of the types in JSON. */
const TYPES: Readonly<Record<string, string>> = {
  string: faultForm('string'),
  number: faultForm('number'),
  int: faultForm('integer'),
  boolean: faultForm('boolean'),
  array: faultForm('list'),
  object: faultForm('object'),
  record: faultForm('object'),
};

function wrongType(expected: string, input: unknown): string {
  const what = TYPES[expected];
  if (what === undefined) return faultLine('invalid');
  if (input === undefined) return faultLine('missing', { what });
  const got = typeOf(input);
  // A number that is not an integer, or a parameter that is not a number.
  return got === null || (expected === 'int' && typeof input === 'number')
    ? faultLine('expected', { what })
    : faultLine('expected_got', { what, got });
}

/** The type of a JSON value; null for other values. */
function typeOf(value: unknown): string | null {
  if (value === null || typeof value === 'boolean') return String(value);
  if (Number.isNaN(value)) return null;
  return TYPES[Array.isArray(value) ? 'array' : typeof value] ?? null;
}

function wrongChoice(quoted: readonly string[], isMissing: boolean): string {
  const last = quoted.at(-1) ?? '';
  if (quoted.length < 2) return faultLine('expected_value', { last });
  const what = faultForm('choice', { choices: quoted.slice(0, -1).join(', '), last });
  return isMissing ? faultLine('missing', { what }) : faultLine('expected', { what });
}

function wrongFormat(format: string): string {
  const what = {
    ipv4: faultForm('ipv4'),
    ipv6: faultForm('ipv6'),
    datetime: faultForm('such_as', { what: faultForm('time'), example: '2026-07-20T18:30:00Z' }),
    date: faultForm('date'),
    base64: faultForm('base64'),
  }[format];
  return what === undefined ? faultLine('invalid') : faultLine('expected', { what });
}

function tooSmall(origin: string, min: number, isExact: boolean): string {
  if (isExact) return wrongLength(origin, min);
  if (origin === 'string') return min === 1 ? faultLine('empty_text') : faultLine('short_text', { min });
  if (origin === 'array') return min === 1 ? faultLine('empty_items') : faultLine('few_items', { min });
  return faultLine('small_number', { min });
}

function tooBig(origin: string, max: number, isExact: boolean): string {
  if (isExact) return wrongLength(origin, max);
  if (origin === 'string') return faultLine('long_text', { max });
  if (origin === 'array') return faultLine('many_items', { max });
  return faultLine('large_number', { max });
}

function wrongLength(origin: string, count: number): string {
  return origin === 'array' ? faultLine('exact_items', { count }) : faultLine('exact_text', { count });
}
