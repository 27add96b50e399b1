/** Texts of failed requests by language. Only `fault-texts.ts` loads this file, when it is needed. */
import { ENGLISH_FAULTS } from '../../../../../shared/api/client/faults/fault-lines.ts';
import type { FaultTexts } from '../../../../../shared/api/client/faults/fault-lines.ts';
import { messageText } from './message-text.ts';
import type { TranslateMessage } from './message-text.ts';
import { translatedFault } from './translated-fault.ts';

const files = import.meta.glob<{ default: FaultTexts }>('./fault-texts.*.json');

/** Loads the texts of a language. A language without a file, such as English, shows the lines of the server. */
export async function translationTo(language: string): Promise<TranslateMessage> {
  const texts = (await files[`./fault-texts.${language}.json`]?.())?.default;
  return (message) => translatedFault(message, texts ?? ENGLISH_FAULTS, messageText) ?? messageText(message);
}
