/** Checks parameters, query strings and bodies against their schemas, naming every bad field at once. */
import type { z } from 'zod';
import type { FieldProblem } from '../../shared/api/problem.ts';
import { invalid } from '../api-error.ts';

/** What the schema makes of `value`; throws 400 with every field that is wrong. */
export function validate<S extends z.ZodType>(schema: S, value: unknown, whole: string): z.output<S> {
  const result = schema.safeParse(value, { reportInput: false });
  if (result.success) return result.data;
  throw invalid(result.error.issues.flatMap((issue) => toFieldProblems(issue, whole)));
}

function toFieldProblems(issue: z.core.$ZodIssue, whole: string): FieldProblem[] {
  const path = issue.path.map(String);
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ path: [...path, key].join('.'), message: 'unknown field' }));
  }
  return [{ path: path.join('.'), message: path.length === 0 ? `${whole}: ${plain(issue)}` : plain(issue) }];
}

/** The library's message without its preamble, and in words that need no knowledge of JavaScript. */
function plain(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_type' && issue.message.endsWith('received undefined')) return `missing; expected ${issue.expected}`;
  const text = issue.message.replace(/^Invalid (?:input|option|value): /, '').replace(/, received NaN$/, '');
  return text.charAt(0).toLowerCase() + text.slice(1);
}
