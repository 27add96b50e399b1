/** Converts errors in values of the configuration to the form of the API. */
import type { ConfigFault } from '../../../config/config-fault.ts';
import { faultsOf, parsing } from '../../../config/issues.ts';
import { isFileOnly } from '../../../config/layers.ts';
import { keys } from '../../../config/sections.ts';
import type { FieldProblem } from '../../../shared/api/problem-details.ts';
import { reasonOf } from '../../../shared/errors.ts';
import { ApiError } from '../../api/api-error.ts';

/** Message for a key that cannot be changed by a request to this node. */
export const FIXED =
  'is set by an environment variable of this node, or needs a configuration file, which this node ' +
  'does not have';
const HASH = 'auth.admin.password_hash';
/** Keys with which an administrator could make Weir show a file of the host or send it to another server. */
const LOCAL_ONLY = [
  ...['blocking.list_dirs', 'auth.oidc.client_secret_file', 'database.export_dir'],
  ...['server.acme.directory_ca_path', 'server.acme.tsig_key_file'],
];

/**
 * Errors in the body of a change: invalid values, and keys that must not be changed. `isLocal`: whether the request is
 * from this machine.
 */
export function faultsOfBody(body: unknown, names: readonly string[], isLocal: boolean): FieldProblem[] {
  const faults = faultsOf(keys.safeParse(body, parsing), (key) => ({ source: 'body', line: undefined, key }));
  const fields: FieldProblem[] = badFields(faults);
  if (fields.length === 0) fields.push(...oddTexts(body));
  if (names.includes(HASH))
    fields.push({ path: HASH, message: 'can only be changed with POST /auth/change-password' });
  for (const path of names.filter(isFileOnly))
    fields.push({ path, message: 'can only be changed in the configuration file' });
  for (const path of isLocal ? [] : LOCAL_ONLY)
    if (names.includes(path))
      fields.push({
        path,
        message: 'can only be changed in the file, or with weir config set on the machine',
      });
  return fields;
}

/** Errors with paths in the form of the API: `dns.pools.0.name`. */
export function badFields(faults: readonly ConfigFault[]): FieldProblem[] {
  return faults.map(({ key, message }) => ({ path: key.replaceAll(/\[(\d+)\]/gu, '.$1'), message }));
}

/**
 * Errors for texts with control characters or lone surrogates, which no key may contain, because values are written to
 * lines of a file and to rows in PostgreSQL.
 */
function oddTexts(value: unknown, path: readonly string[] = []): FieldProblem[] {
  if (typeof value === 'string') {
    const isOdd = /\p{Cc}/u.test(value) || !value.isWellFormed();
    return isOdd ? [{ path: path.join('.'), message: 'expected a string without control characters' }] : [];
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => oddTexts(inner, [...path, name]));
}

/** Reason why a reload failed, including the invalid fields, which the message of the error does not contain. */
export function reloadFaultOf(error: unknown): string {
  const fields = error instanceof ApiError ? (error.fields ?? []) : [];
  if (fields.length === 0) return reasonOf(error);
  return fields.map(({ path, message }) => `${path}: ${message}`).join('; ');
}
