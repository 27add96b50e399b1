/** Reasons in reports of imports in the user's language. */
import { readImportReasons } from '../../../../../shared/policy/reasons/import-reasons.ts';
import type { FaultTexts } from '../../../../../shared/api/client/faults/fault-lines.ts';
import {
  readFault,
  readForm,
  writeFault,
  writeForm,
} from '../../../../../shared/api/client/faults/read-fault.ts';
import { readItemName } from '../../../../../shared/policy/reasons/item-names.ts';
import { fillText } from '../../../../../shared/policy/reasons/reason-texts.ts';
import { lineReasonText } from './reason-text.ts';
import type { LineTexts } from './reason-text.ts';

/** Texts of the reasons in reports of imports, which also contain reasons about lines. Null = English. */
export type ImportTexts = {
  readonly line: LineTexts;
  readonly import: NonNullable<LineTexts>;
  /** Texts for names of items. */
  readonly names: Readonly<Record<string, string>>;
  /** Texts for values that the API would refuse. */
  readonly faults: FaultTexts;
} | null;

/**
 * Translates a reason in a report of an import, which may consist of several reasons; unknown parts are returned
 * unchanged.
 */
export function importReasonText(reason: string, texts: ImportTexts): string {
  if (texts === null) return reason;
  const parts = readImportReasons(reason).map(({ subject, reason: read, text: english }) => {
    const text = read?.table === 'import' ? texts.import[read.code] : undefined;
    if (read === null) return faultText(english, texts.faults);
    if (text === undefined) return subject + lineReasonText(english, texts.line);
    return (
      subject +
      fillText(text, (name) => {
        const value = read.params[name] ?? '';
        if (name === 'expected') return valueText(value, texts.faults);
        return name === 'reason' ? importReasonText(value, texts) : value;
      })
    );
  });
  return parts.join('; ');
}

/** The name of an item in a report; a name of the file is returned unchanged. */
export function itemNameText(name: string, texts: ImportTexts): string {
  const read = texts === null ? null : readItemName(name);
  const text = read === null ? undefined : texts?.names[read.code];
  return read === null || text === undefined ? name : fillText(text, (param) => read.params[param] ?? '');
}

/** An expected value, such as "a domain name"; an unknown one is returned unchanged. */
function valueText(value: string, texts: FaultTexts): string {
  const form = readForm(value);
  return form === null ? value : writeForm(form, texts);
}

/** Separator between the path of a field and its fault. */
const COLON = ': ';

/** The text of a fault, also after the path of its field; an unknown one is returned unchanged. */
function faultText(text: string, texts: FaultTexts): string {
  const whole = readFault(text);
  if (whole !== null) return writeFault(whole, texts);
  const start = text.indexOf(COLON) + COLON.length;
  const fault = readFault(text.slice(start));
  return start < COLON.length || fault === null ? text : text.slice(0, start) + writeFault(fault, texts);
}
