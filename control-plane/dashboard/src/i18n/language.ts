/**
 * Languages of the page: the available ones, the selected one, and its messages. Each language is a JSON file in this
 * directory.
 */
import { setupI18n } from '@lingui/core';
import type { Messages } from '@lingui/core';
import en from './en.json';
import { pseudoMessages } from './pseudo.ts';
import type { PseudoLanguage } from './pseudo.ts';

/** Every text of the dashboard has a key in `en.json`. */
export type MessageKey = keyof typeof en;

/** Key of the selected language in the browser's storage. */
const CHOICE = 'weir.language';
const FALLBACK = 'en';

const files = import.meta.glob<{ default: Messages }>('./*.json');

/** Tags of the languages that have a file, such as `de`. */
export const LANGUAGES = Object.keys(files)
  .map((file) => file.replace(/^\.\/|\.json$/g, ''))
  .sort();

/** The messages of the current language. */
export const messages = setupI18n();

/** The language that the user selected; null to use the browser's. */
export function chosenLanguage(): string | null {
  return localStorage.getItem(CHOICE);
}

/** Stores the selected language and applies it. */
export async function chooseLanguage(tag: string | null): Promise<void> {
  if (tag === null) localStorage.removeItem(CHOICE);
  else localStorage.setItem(CHOICE, tag);
  await startLanguage();
}

/** Loads the messages of the selected language, or of the first available one of the browser's languages. */
export async function startLanguage(): Promise<void> {
  const wanted = chosenLanguage();
  const tag = wanted ?? fitting(navigator.languages) ?? FALLBACK;
  const { textLanguage, numberLanguage } = await load(tag);
  messages.activate(textLanguage, [numberLanguage]);
  document.documentElement.lang = textLanguage;
  document.documentElement.dir = isRightToLeft(textLanguage) ? 'rtl' : 'ltr';
}

/** The first of the user's languages that has a file; `de-AT` uses `de`. */
function fitting(wanted: readonly string[]): string | undefined {
  const tags = wanted.map((tag) => tag.split('-')[0] ?? '');
  return tags.find((tag) => LANGUAGES.includes(tag));
}

interface LoadedLanguage {
  readonly textLanguage: string;
  /** Language of numbers and dates, with the browser's region. */
  readonly numberLanguage: string;
}

async function load(tag: string): Promise<LoadedLanguage> {
  const english = en as unknown as Messages;
  if (tag === 'en-XA' || tag === 'ar-XB') {
    messages.load(tag, pseudoMessages(english, tag satisfies PseudoLanguage));
    return { textLanguage: tag, numberLanguage: 'en' };
  }
  const file = files[`./${tag}.json`];
  const own = tag === FALLBACK || file === undefined ? {} : (await file()).default;
  // Missing translations fall back to English.
  messages.load(tag, { ...english, ...own });
  const regional = navigator.languages.find((one) => one.split('-')[0] === tag);
  return { textLanguage: tag, numberLanguage: regional ?? tag };
}

function isRightToLeft(tag: string): boolean {
  return ['ar', 'fa', 'he', 'ur'].includes(tag.split('-')[0] ?? '');
}
