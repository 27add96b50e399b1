/** The languages of the page `/check`: those of the dashboard. */
import type { CheckTexts } from './check-texts.ts';
import { GERMAN } from './de.ts';
import { ENGLISH } from './en.ts';
import { SPANISH } from './es.ts';
import { FRENCH } from './fr.ts';
import { DUTCH } from './nl.ts';

export const CHECK_LANGUAGES = ['en', 'de', 'es', 'fr', 'nl'] as const;
export type CheckLanguage = (typeof CHECK_LANGUAGES)[number];

export const CHECK_TEXTS: Readonly<Record<CheckLanguage, CheckTexts>> = {
  en: ENGLISH,
  de: GERMAN,
  es: SPANISH,
  fr: FRENCH,
  nl: DUTCH,
};
