/** Reasons in reports of imports, for components; only the page of imports loads their texts. */
import { useQuery } from '@tanstack/react-query';
import type { FaultTexts } from '../../../../../shared/api/client/faults/fault-lines.ts';
import { messages } from '../language.ts';
import { importReasonText, itemNameText } from './import-reason-text.ts';
import type { ImportTexts } from './import-reason-text.ts';
import type { LineTexts } from './reason-text.ts';
import { useLineTexts } from './use-reason-text.ts';

/** Texts by language. */
const files = import.meta.glob<{ default: NonNullable<LineTexts> }>('./import-reasons.*.json');
const nameFiles = import.meta.glob<{ default: Readonly<Record<string, string>> }>('./item-names.*.json');
const faultFiles = import.meta.glob<{ default: FaultTexts }>('../../api/faults/fault-texts.*.json');

/** Translates a reason in a report of an import; English until the texts are loaded. */
export function useImportReason(): (reason: string) => string {
  const texts = useImportTexts();
  return (reason) => importReasonText(reason, texts);
}

/** Translates the name of an item in a report of an import; English until the texts are loaded. */
export function useItemName(): (name: string) => string {
  const texts = useImportTexts();
  return (name) => itemNameText(name, texts);
}

function useImportTexts(): ImportTexts {
  const line = useLineTexts();
  const language = messages.locale;
  const { data } = useQuery({
    queryKey: ['import-reasons', language],
    queryFn: async () => textsOf(language),
    staleTime: Infinity,
  });
  return data === null || data === undefined ? null : { line, ...data };
}

/** The texts of a language; null for English. */
async function textsOf(language: string): Promise<Omit<NonNullable<ImportTexts>, 'line'> | null> {
  const [reasons, names, faults] = await Promise.all([
    files[`./import-reasons.${language}.json`]?.(),
    nameFiles[`./item-names.${language}.json`]?.(),
    faultFiles[`../../api/faults/fault-texts.${language}.json`]?.(),
  ]);
  if (reasons === undefined || names === undefined || faults === undefined) return null;
  return { import: reasons.default, names: names.default, faults: faults.default };
}
