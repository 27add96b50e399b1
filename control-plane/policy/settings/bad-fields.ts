/** Faults in values of the configuration, as the API reports them. */
import type { ConfigFault } from '../../../config/config-fault.ts';
import { faultsOf, parsing } from '../../../config/issues.ts';
import { isFileOnly } from '../../../config/layers.ts';
import { keys } from '../../../config/sections.ts';
import type { FieldProblem } from '../../../shared/api/problem-details.ts';
import { reasonOf } from '../../../shared/errors.ts';
import { ApiError } from '../../api/api-error.ts';

/** Message for a key that no request can change on this node. */
export const FIXED =
  'is set by the environment of this node, or belongs to a configuration file that it does not have';
const HASH = 'auth.admin.password_hash';
/** Keys by which an admin of the web could have any file shown, or sent away. */
const LOCAL_ONLY = ['blocking.list_dirs', 'auth.oidc.client_secret_file', 'database.export_dir'];

/**
 * Faults in sections of a change, each value by itself, and keys that must not be changed; `isLocal` if the request is
 * from this machine.
 */
export function faultsOfBody(body: unknown, names: readonly string[], isLocal: boolean): FieldProblem[] {
  const faults = faultsOf(keys.safeParse(body, parsing), (key) => ({ source: 'body', line: undefined, key }));
  const fields: FieldProblem[] = badFields(faults);
  if (fields.length === 0) fields.push(...oddTexts(body));
  if (names.includes(HASH)) fields.push({ path: HASH, message: 'is changed by POST /auth/change-password' });
  for (const path of names.filter(isFileOnly))
    fields.push({ path, message: 'is changed in the configuration file alone' });
  for (const path of isLocal ? [] : LOCAL_ONLY)
    if (names.includes(path))
      fields.push({ path, message: 'is changed in the file, or by weir config set on the machine' });
  return fields;
}

/** Faults with their paths as the API writes them: `dns.pools.0.name`. */
export function badFields(faults: readonly ConfigFault[]): FieldProblem[] {
  return faults.map(({ key, message }) => ({ path: key.replaceAll(/\[(\d+)\]/gu, '.$1'), message }));
}

/**
 * The places of texts that no key may hold, since lines of a file and rows in PostgreSQL are written from them: texts with
 * control characters, or with halves of characters.
 */
function oddTexts(value: unknown, path: readonly string[] = []): FieldProblem[] {
  if (typeof value === 'string') {
    const isOdd = /\p{Cc}/u.test(value) || !value.isWellFormed();
    return isOdd ? [{ path: path.join('.'), message: 'expected a text without control characters' }] : [];
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => oddTexts(inner, [...path, name]));
}

/** Reason why a reload failed, with the fields that are at fault, which the message alone does not name. */
export function reloadFaultOf(error: unknown): string {
  const fields = error instanceof ApiError ? (error.fields ?? []) : [];
  if (fields.length === 0) return reasonOf(error);
  return fields.map(({ path, message }) => `${path}: ${message}`).join('; ');
}
