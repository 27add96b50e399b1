/** Messages in the language in force. Components use `useText`, which draws them again when the language changes. */
import { messages } from './language.ts';
import type { MessageKey } from './language.ts';

/** What is filled into a message. */
export type Filling = Readonly<Record<string, string | number>>;

/** A message, filled in. */
export type Say = (key: MessageKey, filling?: Filling) => string;

/** For messages outside of components. */
export const say: Say = (key, filling) => messages._(key, filling);
