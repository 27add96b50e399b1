/** Describes changes in the user's language. */
import { lineParts, summaryParts } from '../../../../../../shared/policy/changes/change-codes.ts';
import type {
  ChangeTexts,
  CodedChange,
  TextPart,
} from '../../../../../../shared/policy/changes/change-codes.ts';

/** The description of a revision; the server's description if the revision has no known codes. */
export function revisionParts(
  { codes, summary }: { readonly codes: CodedChange | null; readonly summary: string },
  texts: ChangeTexts,
): readonly TextPart[] {
  return (codes === null ? null : summaryParts(codes, texts)) ?? [{ text: summary, isValue: true }];
}

/** The description of an audit log entry; the server's description if the entry has no known codes. */
export function entryParts({ codes, subject, action }: EntryTexts, texts: ChangeTexts): readonly TextPart[] {
  return (
    (codes === null ? null : lineParts(codes, texts)) ?? [{ text: `${subject}: ${action}`, isValue: true }]
  );
}

interface EntryTexts {
  readonly codes: CodedChange | null;
  readonly subject: string;
  readonly action: string;
}

/** Codes of actions with their texts, in alphabetical order; an ellipsis replaces each parameter. */
export function actionChoices({ actions }: ChangeTexts, language: string): { id: string; text: string }[] {
  return Object.entries(actions)
    .map(([id, text]) => ({ id, text: text.replaceAll(/\{\w+\}/g, '…') }))
    .sort((one, other) => one.text.localeCompare(other.text, language));
}

/** The action in a URL if its code is known; `all` if it is not. */
export function chosenAction(inUrl: string, { actions }: ChangeTexts): string {
  return Object.hasOwn(actions, inUrl) ? inUrl : 'all';
}
