/** Reasons in reports of imports, for components; only the page of imports loads their texts. */
import { useQuery } from '@tanstack/react-query';
import { messages } from '../language.ts';
import { importReasonText } from './import-reason-text.ts';
import type { ImportTexts } from './import-reason-text.ts';
import type { LineTexts } from './reason-text.ts';
import { useLineTexts } from './use-reason-text.ts';

/** Texts by language. */
const files = import.meta.glob<{ default: NonNullable<LineTexts> }>('./import-reasons.*.json');

/** Translates a reason in a report of an import; English until the texts are loaded. */
export function useImportReason(): (reason: string) => string {
  const line = useLineTexts();
  const language = messages.locale;
  const { data } = useQuery({
    queryKey: ['import-reasons', language],
    queryFn: async () => (await files[`./import-reasons.${language}.json`]?.())?.default ?? null,
    staleTime: Infinity,
  });
  const texts: ImportTexts = data === null || data === undefined ? null : { line, import: data };
  return (reason) => importReasonText(reason, texts);
}
