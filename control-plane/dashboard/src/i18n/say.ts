/** Messages in the current language. Components use `useText`, which renders them again when the language changes. */
import en from './en.json';
import { messages } from './language.ts';
import type { MessageKey } from './language.ts';

/** Values that are filled into a message. */
export type Filling = Readonly<Record<string, string | number>>;

/** A message, filled in. */
export type Say = (key: MessageKey, filling?: Filling) => string;

/** Translates messages outside of components. */
export const say: Say = (key, filling) => messages._(key, filling);

/** The message for a code of the API; null if there is none for it yet. */
export function keyOfCode(prefix: string, code: string): MessageKey | null {
  const key = `${prefix}.${code}`;
  return key in en ? (key as MessageKey) : null;
}

/** The text for a code of the API; the code itself if no text exists. */
export function wordFor(prefix: string, code: string): string {
  const key = keyOfCode(prefix, code);
  return key === null ? code : say(key);
}
