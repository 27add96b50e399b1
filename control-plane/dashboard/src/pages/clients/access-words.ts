/** `dns.allowed_clients` in the words of the page. */
import type { MessageKey } from '../../i18n/language.ts';

const WORDS: Readonly<Record<string, MessageKey>> = {
  private: 'access.word.private',
  connected: 'access.word.connected',
  any: 'access.word.any',
};

/** The text of a word; null for a network. */
export function accessWord(entry: string): MessageKey | null {
  return WORDS[entry] ?? null;
}
