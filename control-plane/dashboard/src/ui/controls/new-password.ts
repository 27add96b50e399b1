/** Checks a new password while the user enters it. */

/** Same minimum as in `NewPassword` of the API, whose schema would be too large to load for this check. */
const MIN_LENGTH = 8;
const isShort = (password: string): boolean => Array.from(password).length < MIN_LENGTH;

export interface TypedPassword {
  readonly password: string;
  readonly repeated: string;
}

/** Initial state. */
export const NO_PASSWORD: TypedPassword = { password: '', repeated: '' };

/** Errors of a new password. An empty field is not reported as an error. */
export function passwordFaults({ password, repeated }: TypedPassword): {
  isShort: boolean;
  differs: boolean;
} {
  return {
    isShort: password !== '' && isShort(password),
    differs: repeated !== '' && repeated !== password,
  };
}

/** Whether the password can be set. */
export function isSettable({ password, repeated }: TypedPassword): boolean {
  return !isShort(password) && repeated === password;
}
