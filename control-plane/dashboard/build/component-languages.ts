/** Removes texts of the component library in languages that the dashboard does not support, which are most of them. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from 'vite';

const TEXTS = /node_modules\/react-(?:aria|stately)[\w-]*\/.*\/(?:intl|i18n)\/.*?([a-z]{2})-[A-Z]{2}\.mjs$/;

/** Keeps the languages that have a file in this directory, and English, which is the library's fallback. */
export function componentLanguages(messagesDir: string): Plugin {
  const kept = new Set(
    readdirSync(join(import.meta.dirname, messagesDir)).flatMap(
      (file) => /^([a-z]{2})\.json$/.exec(file)?.[1] ?? [],
    ),
  );
  return {
    name: 'weir-component-languages',
    enforce: 'pre',
    load(id) {
      const language = TEXTS.exec(id)?.[1];
      return language === undefined || kept.has(language) ? null : 'export default {};';
    },
  };
}
