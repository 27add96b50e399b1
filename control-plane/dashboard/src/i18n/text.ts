/** Texts, numbers and times for components, in the current language. */
import { useSyncExternalStore } from 'react';
import { formatsOf } from './formats.ts';
import type { Formats } from './formats.ts';
import { messages } from './language.ts';
import { say } from './say.ts';
import type { Say } from './say.ts';

/** Texts and formatters of the current language. The component re-renders when the language changes. */
export function useText(): { readonly say: Say; readonly format: Formats } {
  const language = useSyncExternalStore(
    (changed) => messages.on('change', changed),
    () => messages.locales?.[0] ?? messages.locale,
  );
  return { say, format: formatsOf(language, say) };
}
