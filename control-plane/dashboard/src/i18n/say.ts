/** Messages in the current language. Components use `useText`, which re-renders them when the language changes. */
import { messages } from './language.ts';
import type { MessageKey } from './language.ts';

/** Values for the placeholders of a message. */
export type Filling = Readonly<Record<string, string | number>>;

/** Returns a message with its placeholders filled in. */
export type Say = (key: MessageKey, filling?: Filling) => string;

/** Translates messages outside of components. */
export const say: Say = (key, filling) => messages._(key, filling);

/** Key of the message for an API code; null if there is none. */
export function keyOfCode(prefix: string, code: string): MessageKey | null {
  const key = `${prefix}.${code}`;
  return key in messages.messages ? (key as MessageKey) : null;
}

/** Text for an API code; the code itself if there is no text. */
export function wordFor(prefix: string, code: string): string {
  const key = keyOfCode(prefix, code);
  return key === null ? code : say(key);
}
