/** What is wrong with values of the configuration, as the API tells it. */
import type { ConfigFault } from '../../../config/config-fault.ts';
import type { FieldProblem } from '../../../shared/api/problem-details.ts';

/** Faults with their paths as the API writes them: `dns.pools.0.name`. */
export function badFields(faults: readonly ConfigFault[]): FieldProblem[] {
  return faults.map(({ key, message }) => ({ path: key.replaceAll(/\[(\d+)\]/gu, '.$1'), message }));
}

/**
 * The places of texts that no key may hold, since lines of a file and rows in PostgreSQL are written from them: texts with
 * control characters, or with halves of characters.
 */
export function oddTexts(value: unknown, path: readonly string[] = []): FieldProblem[] {
  if (typeof value === 'string') {
    const isOdd = /\p{Cc}/u.test(value) || !value.isWellFormed();
    return isOdd ? [{ path: path.join('.'), message: 'expected a text without control characters' }] : [];
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => oddTexts(inner, [...path, name]));
}
