/** The texts of guides in the reader's language. */
import { useQuery } from '@tanstack/react-query';
import { messages } from '../../i18n/language.ts';
import { useText } from '../../i18n/text.ts';
import type { GuideFile } from './guides.ts';
import english from './guides.en.json';

/** By language; the others show the English one. */
const files = import.meta.glob<{ default: GuideFile }>(['./guides.*.json', '!./guides.en.json']);

/** The file of the language; undefined until it is loaded. */
export function useGuideFile(): GuideFile | undefined {
  useText();
  const file = files[`./guides.${messages.locale}.json`];
  const { data, isError } = useQuery({
    queryKey: ['guides', messages.locale],
    queryFn: async () => (await file?.())?.default ?? english,
    staleTime: Infinity,
  });
  return isError ? english : data;
}
