/** Two pseudo-languages for tests: a language with longer texts, and a language written from right to left. */
import type { Messages } from '@lingui/core';

/** `en-XA` is 40 % longer, `ar-XB` runs from right to left. */
export type PseudoLanguage = 'en-XA' | 'ar-XB';

const ACCENTED: Readonly<Record<string, string>> = { a: 'á', e: 'é', i: 'í', o: 'ó', u: 'ú', c: 'ç', n: 'ñ' };

/** Changes the text of messages and keeps their placeholders. */
export function pseudoMessages(messages: Messages, language: PseudoLanguage): Messages {
  const changeText = language === 'en-XA' ? lengthen : embed;
  return Object.fromEntries(
    Object.entries(messages).map(([key, message]) => [key, changed(message, changeText)]),
  ) as Messages;
}

/** Changes a compiled message: a list of texts and of placeholders `[name, kind?, choices?]`. */
function changed(message: unknown, changeText: (text: string) => string): unknown {
  if (typeof message === 'string') return changeText(message);
  if (!Array.isArray(message)) return message;
  return (message as unknown[]).map((part) => {
    if (typeof part === 'string') return changeText(part);
    if (!Array.isArray(part)) return part;
    const [name, kind, choices] = part as [string, string?, Record<string, unknown>?];
    if (typeof choices !== 'object') return part as unknown;
    const entries = Object.entries(choices).map(([choice, text]) => [
      choice,
      choice === 'offset' ? text : changed(text, changeText),
    ]);
    return [name, kind, Object.fromEntries(entries)] as unknown;
  });
}

function lengthen(text: string): string {
  const accented = text.replaceAll(/[aeioucn]/g, (letter) => ACCENTED[letter] ?? letter);
  // The added text contains spaces, so that it can wrap like the text of a real language.
  const added = '~'.repeat(Math.ceil(text.trim().length * 0.4)).replaceAll(/~{8}/g, '~~~~~~~ ');
  return accented + added;
}

/** Encloses a text in the Unicode marks of a right-to-left override. */
function embed(text: string): string {
  return `\u202e${text}\u202c`;
}
