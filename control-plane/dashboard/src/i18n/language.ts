/** Languages of the page: the available languages, the selected language, and its messages. */
import { setupI18n } from '@lingui/core';
import type { Messages } from '@lingui/core';
import type all from './en.json';
import english from './en.json?first';
import { firstMessages, otherMessages, storeLanguage, wantedLanguage } from './message-files.ts';
import { pseudoMessages } from './pseudo.ts';
import type { PseudoLanguage } from './pseudo.ts';

/** Every text of the dashboard has a key in `en.json`. */
export type MessageKey = keyof typeof all;

/** The loaded messages of the current language. Each load replaces `messages.messages`, and is announced as `change`. */
export const messages = setupI18n();

/** The language whose messages are all loaded, or being loaded. */
let whole: { readonly tag: string; readonly loading: Promise<void> } | null = null;

/** Shows the messages of the first view in the wanted language. Rejects if they cannot be loaded. */
export async function startLanguage(): Promise<void> {
  const tag = wantedLanguage();
  show(tag, { ...english, ...(await firstMessages(tag)) });
}

/** Stores the selected language and shows it; null = the browser's. */
export async function chooseLanguage(tag: string | null): Promise<void> {
  storeLanguage(tag);
  await loadAllMessages();
}

/** Loads all messages of the wanted language. If that fails, it rejects, and the next call tries again. */
export async function loadAllMessages(): Promise<void> {
  const tag = wantedLanguage();
  const current = whole?.tag === tag ? whole : { tag, loading: showAll(tag) };
  whole = current;
  try {
    await current.loading;
  } catch (error) {
    if (whole === current) whole = null;
    throw error;
  }
}

/** Loads the code of a view that needs messages outside of the first view, and all messages. */
export async function withAllMessages<Code>(load: () => Promise<Code>): Promise<Code> {
  const [code] = await Promise.all([load(), loadAllMessages()]);
  return code;
}

async function showAll(tag: string): Promise<void> {
  const [first, others] = await Promise.all([firstMessages(tag), otherMessages(tag)]);
  // Another language may have been selected while these files were loading.
  if (wantedLanguage() === tag) show(tag, { ...english, ...first, ...others });
}

function show(tag: string, loaded: Messages): void {
  const isPseudo = tag === 'en-XA' || tag === 'ar-XB';
  const regional = navigator.languages.find((one) => one.split('-')[0] === tag);
  messages.loadAndActivate({
    locale: tag,
    // The language of numbers and dates, with the browser's region.
    locales: [isPseudo ? 'en' : (regional ?? tag)],
    messages: isPseudo ? pseudoMessages(loaded, tag satisfies PseudoLanguage) : loaded,
  });
  document.documentElement.lang = tag;
  document.documentElement.dir = isRightToLeft(tag) ? 'rtl' : 'ltr';
}

function isRightToLeft(tag: string): boolean {
  return ['ar', 'fa', 'he', 'ur'].includes(tag.split('-')[0] ?? '');
}
