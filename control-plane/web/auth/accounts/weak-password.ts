/**
 * Refuses passwords that are guessed first: the user's own name, and passwords common enough to be in published lists
 * (NIST SP 800-63B-4, section 3.1.1.2). The list is loaded when the first password is set.
 */
import { invalid } from '../../../api/api-error.ts';
import { seenName } from './user-name.ts';

/** Reason why `password` cannot be set for `username`; undefined if it can. Its length is checked by the schema. */
export async function weaknessOf(password: string, username: string): Promise<string | undefined> {
  const folded = seenName(password);
  if (folded === seenName(username)) return 'expected a password other than the user name';
  const common = await commonPasswords();
  return common.has(folded)
    ? 'expected a password that is not among the most common ones; several words are a good choice'
    : undefined;
}

/** @throws {ApiError} 400 with `path`, the field of the password, if it cannot be set for `username` */
export async function refuseWeak(password: string, username: string, path: string): Promise<void> {
  const message = await weaknessOf(password, username);
  if (message !== undefined) throw invalid([{ path, message }]);
}

let loaded: Promise<ReadonlySet<string>> | undefined;

/** Some 50,000 passwords in lower case. */
export function commonPasswords(): Promise<ReadonlySet<string>> {
  loaded ??= import('@zxcvbn-ts/language-common').then(
    ({ dictionary }) => new Set(dictionary['passwords-common']),
  );
  return loaded;
}
