/** Help and unit of each key in the user's language. The table of keys contains the English texts. */
import { useQuery } from '@tanstack/react-query';
import { messages } from '../../../i18n/language.ts';
import { useText } from '../../../i18n/text.ts';
import { helpIn } from './help-language.ts';
import type { HelpFile, KeyHelp } from './help-language.ts';

/** Help texts by language; languages without a file use the English texts. */
const files = import.meta.glob<{ default: HelpFile }>('./config-help.*.json');

/** Help in the current language; English until the texts are loaded. */
export function useKeyHelp(): KeyHelp {
  useText();
  const language = messages.locale;
  const { data = null } = useQuery({
    queryKey: ['config-help', language],
    queryFn: async () => (await files[`./config-help.${language}.json`]?.())?.default ?? null,
    staleTime: Infinity,
  });
  return helpIn(language, data);
}
