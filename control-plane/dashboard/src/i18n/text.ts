/** Texts, numbers and times for components, in the language in force. */
import { useSyncExternalStore } from 'react';
import { formatsOf } from './formats.ts';
import type { Formats } from './formats.ts';
import { messages } from './language.ts';
import { say } from './say.ts';
import type { Say } from './say.ts';

/** Texts and formats of the language in force; the component is drawn again when that changes. */
export function useText(): { readonly say: Say; readonly format: Formats } {
  const language = useSyncExternalStore(
    (changed) => messages.on('change', changed),
    () => messages.locales?.[0] ?? messages.locale,
  );
  return { say, format: formatsOf(language, say) };
}
