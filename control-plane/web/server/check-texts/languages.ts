/** The languages of the page `/check`: those of the dashboard. */
import type { CheckTexts } from './check-texts.ts';
import { GERMAN } from './de.ts';
import { ENGLISH } from './en.ts';

export const CHECK_LANGUAGES = ['en', 'de'] as const;
export type CheckLanguage = (typeof CHECK_LANGUAGES)[number];

export const CHECK_TEXTS: Readonly<Record<CheckLanguage, CheckTexts>> = { en: ENGLISH, de: GERMAN };
