/**
 * Messages of failed requests in the user's language. The code that recognizes them, and their texts, are loaded with
 * the first failed request, because most sessions have none.
 */
import { messages } from '../../i18n/language.ts';
import type { TranslateMessage } from './message-text.ts';

let language: string | null = null;
let translate: TranslateMessage = (message) => message;

/** Loads the texts of the current language. Without these texts, messages are shown as the server wrote them. */
export async function loadFaultTexts(): Promise<void> {
  const wanted = messages.locale;
  if (wanted === language) return;
  try {
    const { translationTo } = await import('./fault-files.ts');
    translate = await translationTo(wanted);
    language = wanted;
  } catch {
    // The server cannot be reached, or runs another release, which does not have this file. The next failed request
    // tries again.
  }
}

/** A message of a failed request in the current language. */
export function faultText(message: string): string {
  return messages.locale === language ? translate(message) : message;
}
