/**
 * Texts of changes in the user's language and with the terms of the dashboard, from files of this directory, which only
 * this page loads. The texts of the server use the terms of the API.
 */
import { useQuery } from '@tanstack/react-query';
import { ENGLISH_CHANGES } from '../../../../../../shared/policy/changes/change-codes.ts';
import type { ChangeTexts } from '../../../../../../shared/policy/changes/change-codes.ts';
import { messages } from '../../../i18n/language.ts';
import { useText } from '../../../i18n/text.ts';

/** Texts by language; languages without a file use the server's texts. */
const files = import.meta.glob<{ default: ChangeTexts }>('./change-texts.*.json');

/** Texts in the current language; until they are loaded, the texts of the server. */
export function useChangeTexts(): ChangeTexts {
  useText();
  const language = messages.locale;
  const { data } = useQuery({
    queryKey: ['change-texts', language],
    queryFn: async () => (await files[`./change-texts.${language}.json`]?.())?.default ?? null,
    staleTime: Infinity,
  });
  return data ?? ENGLISH_CHANGES;
}
