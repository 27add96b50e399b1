/**
 * Message files: each language is a JSON file in this directory, which the build divides into the messages of the first
 * view and all others (`build/compiled-messages.ts`). English messages of the first view are part of the code.
 */
import type { Messages } from '@lingui/core';
import { DashboardPath } from '../../../../shared/dashboard-paths.ts';

/** Key of the selected language in the browser's storage. */
const CHOICE = 'weir.language';
const ENGLISH = 'en';

interface MessageFile {
  readonly default: Messages;
}
const FIRST = import.meta.glob<MessageFile>(['./*.json', '!./en.json'], { query: '?first' });
const OTHER = import.meta.glob<MessageFile>('./*.json', { query: '?other' });

/** Tags of the languages that have a file, such as `de`. */
export const LANGUAGES = Object.keys(OTHER)
  .map((file) => file.replace(/^\.\/|\.json$/g, ''))
  .sort();

/** The language that the user selected; null to use the browser's. */
export function chosenLanguage(): string | null {
  return localStorage.getItem(CHOICE);
}

/** Stores the selected language; null = the browser's. */
export function storeLanguage(tag: string | null): void {
  if (tag === null) localStorage.removeItem(CHOICE);
  else localStorage.setItem(CHOICE, tag);
}

/** Tag of the selected language, or of the first available one of the browser's languages; `de-AT` uses `de`. */
export function wantedLanguage(): string {
  const tags = navigator.languages.map((tag) => tag.split('-')[0] ?? '');
  return chosenLanguage() ?? tags.find((tag) => LANGUAGES.includes(tag)) ?? ENGLISH;
}

/** Starts to load the messages that the page at a path needs first. */
export function askForMessages(path: string): void {
  const tag = wantedLanguage();
  // The code that shows the dashboard waits for the same files, and handles failures.
  firstMessages(tag).catch(() => undefined);
  if (path !== `/${DashboardPath.overview}`) otherMessages(tag).catch(() => undefined);
}

/** Messages of the first view, without those that are part of the code; rejects if the file cannot be loaded. */
export function firstMessages(tag: string): Promise<Messages> {
  return read(FIRST[`./${tag}.json`]);
}

/** Messages that the first view does not need, in English for a tag without a file. */
export function otherMessages(tag: string): Promise<Messages> {
  return read(OTHER[`./${tag}.json`] ?? OTHER[`./${ENGLISH}.json`]);
}

async function read(file: (() => Promise<MessageFile>) | undefined): Promise<Messages> {
  return file === undefined ? {} : (await file()).default;
}
