/** Checks a new password while it is typed. */

/** Of the API: `NewPassword`, which the dashboard does not load for two lines. */
const LEAST_LENGTH = 8;
const isShort = (password: string): boolean => Array.from(password).length < LEAST_LENGTH;

/** A new password, typed twice. */
export interface TypedPassword {
  readonly password: string;
  readonly repeated: string;
}

/** State before anything is typed. */
export const NO_PASSWORD: TypedPassword = { password: '', repeated: '' };

/** Errors in a new password; an empty field is not an error yet. */
export function passwordFaults({ password, repeated }: TypedPassword): {
  isShort: boolean;
  differs: boolean;
} {
  return {
    isShort: password !== '' && isShort(password),
    differs: repeated !== '' && repeated !== password,
  };
}

/** Whether it can be set. */
export function isSettable({ password, repeated }: TypedPassword): boolean {
  return !isShort(password) && repeated === password;
}
