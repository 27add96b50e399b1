/** Reasons in reports of imports in the user's language. */
import { readImportReasons } from '../../../../../shared/policy/reasons/import-reasons.ts';
import { fillText } from '../../../../../shared/policy/reasons/reason-texts.ts';
import { lineReasonText } from './reason-text.ts';
import type { LineTexts } from './reason-text.ts';

/** Texts of the reasons in reports of imports, which also contain reasons about lines. Null = English. */
export type ImportTexts = { readonly line: LineTexts; readonly import: NonNullable<LineTexts> } | null;

/**
 * Translates a reason in a report of an import, which may consist of several reasons; unknown parts are returned
 * unchanged.
 */
export function importReasonText(reason: string, texts: ImportTexts): string {
  if (texts === null) return reason;
  const parts = readImportReasons(reason).map(({ subject, reason: read, text: english }) => {
    const text = read?.table === 'import' ? texts.import[read.code] : undefined;
    if (read === null || text === undefined) return subject + lineReasonText(english, texts.line);
    return (
      subject +
      fillText(text, (name) => {
        const value = read.params[name] ?? '';
        return name === 'reason' ? importReasonText(value, texts) : value;
      })
    );
  });
  return parts.join('; ');
}
