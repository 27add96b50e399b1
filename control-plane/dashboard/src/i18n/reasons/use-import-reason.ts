/** Reasons in reports of imports, for components; only the page of imports loads their texts. */
import { useQuery } from '@tanstack/react-query';
import type { FaultTexts } from '../../../../../shared/api/client/faults/fault-lines.ts';
import { messages } from '../language.ts';
import { importReasonText } from './import-reason-text.ts';
import type { ImportTexts } from './import-reason-text.ts';
import type { LineTexts } from './reason-text.ts';
import { useLineTexts } from './use-reason-text.ts';

/** Texts by language. */
const files = import.meta.glob<{ default: NonNullable<LineTexts> }>('./import-reasons.*.json');
const faultFiles = import.meta.glob<{ default: FaultTexts }>('../../api/faults/fault-texts.*.json');

/** Translates a reason in a report of an import; English until the texts are loaded. */
export function useImportReason(): (reason: string) => string {
  const line = useLineTexts();
  const language = messages.locale;
  const { data } = useQuery({
    queryKey: ['import-reasons', language],
    queryFn: async () => textsOf(language),
    staleTime: Infinity,
  });
  const texts: ImportTexts = data === null || data === undefined ? null : { line, ...data };
  return (reason) => importReasonText(reason, texts);
}

/** The texts of a language; null for English. */
async function textsOf(language: string): Promise<Omit<NonNullable<ImportTexts>, 'line'> | null> {
  const [reasons, faults] = await Promise.all([
    files[`./import-reasons.${language}.json`]?.(),
    faultFiles[`../../api/faults/fault-texts.${language}.json`]?.(),
  ]);
  if (reasons === undefined || faults === undefined) return null;
  return { import: reasons.default, faults: faults.default };
}
