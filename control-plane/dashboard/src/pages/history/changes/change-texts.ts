/** Describes changes in the user's language. */
import { lineParts, summaryParts } from '../../../../../../shared/policy/changes/change-codes.ts';
import type {
  ChangeTexts,
  CodedChange,
  CodedSubject,
  TextPart,
} from '../../../../../../shared/policy/changes/change-codes.ts';

/** Current names of objects that changes refer to by id. */
interface NamesById {
  readonly groups: ReadonlyMap<number, string>;
  readonly schedules: ReadonlyMap<number, string>;
  readonly clients: ReadonlyMap<number, string>;
}

/** Texts in one language, and the names that replace ids. */
export interface NamedTexts extends ChangeTexts {
  readonly names?: NamesById;
}

type Coded = Pick<CodedSubject, 'params'> & { readonly code: string };
type Param = CodedSubject['params'][string];

/** Kinds of objects, by the parameter, and by the code with the parameter. */
const REFERENCES: Readonly<Record<string, keyof NamesById>> = {
  group: 'groups',
  profile: 'schedules',
  client: 'clients',
  'group name': 'groups',
  'schedule_profile name': 'schedules',
  'client name': 'clients',
};

/** The code with names instead of ids, if the objects still exist. */
function withNames<Code extends Coded>(coded: Code, names: NamesById | undefined): Code {
  if (names === undefined) return coded;
  const nameOf = (param: string, value: Param): Param => {
    if (typeof value === 'number') {
      const kind = REFERENCES[param] ?? REFERENCES[`${coded.code} ${param}`];
      return (kind === undefined ? undefined : names[kind].get(value)) ?? value;
    }
    if (typeof value === 'string') return value;
    return 'code' in value ? withNames(value, names) : value.map((word) => withNames(word, names));
  };
  const params = Object.entries(coded.params).map(([param, value]): [string, Param] => [
    param,
    nameOf(param, value),
  ]);
  return { ...coded, params: Object.fromEntries(params) };
}

function named({ subject, action }: CodedChange, { names }: NamedTexts): CodedChange {
  return { subject: withNames(subject, names), action: withNames(action, names) };
}

/** The description of a revision; the server's description if the revision has no known codes. */
export function revisionParts(
  { codes, summary }: { readonly codes: CodedChange | null; readonly summary: string },
  texts: NamedTexts,
): readonly TextPart[] {
  return (
    (codes === null ? null : summaryParts(named(codes, texts), texts)) ?? [{ text: summary, isValue: true }]
  );
}

/** The description of an audit log entry; the server's description if the entry has no known codes. */
export function entryParts({ codes, subject, action }: EntryTexts, texts: NamedTexts): readonly TextPart[] {
  return (
    (codes === null ? null : lineParts(named(codes, texts), texts)) ?? [
      { text: `${subject}: ${action}`, isValue: true },
    ]
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
