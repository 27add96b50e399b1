/** What is wrong with a new password, as it is typed. */

/** Of the API: `NewPassword`. */
const LEAST_LENGTH = 8;

/** A new password, typed twice. */
export interface TypedPassword {
  readonly password: string;
  readonly repeated: string;
}

/** Before anything is typed. */
export const NO_PASSWORD: TypedPassword = { password: '', repeated: '' };

/** What is wrong with it; what is empty is not wrong yet. */
export function passwordFaults({ password, repeated }: TypedPassword): {
  isShort: boolean;
  differs: boolean;
} {
  return {
    isShort: password !== '' && password.length < LEAST_LENGTH,
    differs: repeated !== '' && repeated !== password,
  };
}

/** Whether it can be set. */
export function isSettable({ password, repeated }: TypedPassword): boolean {
  return password.length >= LEAST_LENGTH && repeated === password;
}
