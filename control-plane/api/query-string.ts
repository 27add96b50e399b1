/**
 * Reads the query string of a request into its parameters. Query strings are checked as strictly as bodies, because
 * without a mistyped filter, too much would be shown or deleted. `validate.ts` checks the parameters.
 */
import type { FieldProblem } from '../../shared/api/problem-details.ts';
import { invalid } from './api-error.ts';

/** The parameters of a request target; throws 400 for duplicates and for bytes that are not UTF-8. */
export function readQuery(target: string): Record<string, string> {
  const at = target.indexOf('?');
  const pairs = at === -1 ? [] : target.slice(at + 1).split('&');
  const parameters = new Map<string, string>();
  const faults: FieldProblem[] = [];
  for (const pair of pairs) {
    if (pair === '') continue;
    const [writtenName = '', ...writtenValue] = pair.split('=');
    const name = decode(writtenName);
    const value = decode(writtenValue.join('='));
    if (name === undefined || value === undefined)
      faults.push({ path: name ?? '', message: 'expected percent-encoded UTF-8' });
    else if (parameters.has(name)) faults.push({ path: name, message: 'given more than once' });
    else parameters.set(name, value);
  }
  if (faults.length > 0) throw invalid(faults);
  return Object.fromEntries(parameters);
}

/** Decodes form encoding; undefined if the text is not percent-encoded UTF-8. */
function decode(written: string): string | undefined {
  try {
    return decodeURIComponent(written.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}
