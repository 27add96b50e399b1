/** Checks parameters, query strings and bodies against their schemas, and reports all invalid fields together. */
import type { FieldProblem } from '../../shared/api/problem-details.ts';
import type { Checked, Fault, Schema } from '../../shared/api/zod.ts';
import { invalid } from './api-error.ts';
import { checkValue } from './value-fault.ts';

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
