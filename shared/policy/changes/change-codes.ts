/**
 * Codes of changes: subject and action, with parameters. Revisions and entries of the audit log contain these codes, so
 * that the dashboard can show a change in any language. This file has the English texts, which the API also returns.
 */
import type { Params } from '../reasons/text-params.ts';

/** Texts for all codes in one language; `{name}` stands for the parameter `name`. */
export interface ChangeTexts {
  /** Pattern of a line that consists of subject and action. */
  readonly line: string;
  readonly subjects: Readonly<Record<string, string>>;
  readonly actions: Readonly<Record<string, string>>;
  /** Parameters that are translated. */
  readonly words: Readonly<Record<string, string>>;
}

const LINE = '{subject}: {action}';

const SUBJECTS = {
  policy: 'policy',
  group: 'group {name}',
  client: 'client {name}',
  clients: 'clients',
  several_clients: '{count} clients',
  subnet: 'subnet {name}',
  managed_domain: 'managed domain {name} ({action})',
  managed_domains: 'managed domains',
  regex_filter: 'regex filter {name} ({action})',
  regex_filters: 'regex filters',
  local_record: 'local record {name} {type} {value}',
  local_records: 'local records',
  forward_zone: 'forward zone {name}',
  service: 'service {name}',
  custom_service: 'custom service {name}',
  safe_search: 'safe search of group {group}',
  schedule_profile: 'schedule profile {name}',
  grant: 'grant {id}: {action} {target} for {scope}',
  unblock_request: 'unblock request {id}: {domain} for client {client}',
  blocking: 'blocking',
  blocklist: 'blocklist {name}',
  allowlist: 'allowlist {name}',
  all_blocklists: 'all blocklists',
  all_allowlists: 'all allowlists',
  lists: '{lists}',
  many_lists: '{lists} and {more} more',
  configuration: 'configuration {keys}',
  imported_settings: 'settings of {format}',
  backup: 'backup of {time}',
  secret_backup: 'backup with secrets',
  query_log: 'query log',
  cache_entries: 'cache entries',
  node: 'node {name}',
  user: 'user {name}',
  password: 'password of {name}',
  admin_password: 'password of the administrator',
  second_factor: 'second factor of {name}',
  recovery_code: 'recovery code of {name}',
  recovery_codes: 'recovery codes of {name}',
  session: 'session of {name}',
  api_token: 'API token {name}',
  web_certificate: 'web certificate',
  weir: 'Weir',
} as const;

const ACTIONS = {
  created: 'created',
  changed: 'changed',
  deleted: 'deleted',
  created_and_deleted: '{created} created, {deleted} deleted',
  assigned_to_group: 'assigned to group {group}',
  moved_to_group: 'moved to group {group}',
  removed_from_group: 'removed from its group',
  merged: 'merged with client {clients}',
  split_off: 'split off',
  acknowledged: 'acknowledged',
  cleared: 'cleared',
  created_with_plan: 'created with its plan',
  plan_changed: 'plan changed',
  slot_created: 'slot {start} to {end} ({action}) created',
  slot_deleted: 'slot {slot} deleted',
  schedule_assigned: 'schedule profile {profile} assigned',
  schedule_removed: 'schedule removed',
  engine_enabled: '{engine} on',
  engine_disabled: '{engine} off',
  blocked_for_group: 'blocked for group {group}',
  blocked_at_other_times: 'blocked at other times for group {group}',
  unblocked_for_group: 'no longer blocked for group {group}',
  closed: 'closed',
  switched_on: 'switched on',
  switched_off: 'switched off',
  enabled_on_node: 'enabled on this node',
  paused_on_node: 'paused on this node',
  returned_to_configuration: 'returned to the configuration',
  fetched: 'fetched',
  updated: 'updated',
  updated_with_rules: 'updated, {rules} rules',
  rules_changed: 'rules changed',
  held: 'held, because this release interprets it differently',
  held_update_approved: 'held update approved',
  update_rejected: 'its new copy was rejected, the previous one is active again',
  rolled_back: 'rolled back to revision {revision}',
  imported: 'imported, {created} new, {changed} changed',
  restored: 'restored',
  read: 'read',
  dropped: 'dropped',
  forgotten: 'forgotten',
  set: 'set',
  used: 'used',
  prepared: 'prepared',
  enabled: 'enabled',
  disabled: 'disabled',
  replaced: 'replaced',
  removed: 'removed',
  revoked: 'revoked',
  ordered: 'ordered',
  installed: 'installed',
} as const;

const WORDS = {
  allow: 'allow',
  block: 'block',
  deny: 'deny',
  allow_all: 'allow_all',
  block_all: 'block_all',
  every_name: 'every name',
  service: 'service {name}',
  everyone: 'everyone',
  group: 'group {name}',
  client: 'client {name}',
  blocklist: 'blocklist {name}',
  allowlist: 'allowlist {name}',
  all_engines: 'all',
} as const;

/** The texts of the API, of logs and of the dashboard in English. */
export const ENGLISH_CHANGES = { line: LINE, subjects: SUBJECTS, actions: ACTIONS, words: WORDS } as const;

export type SubjectCode = keyof typeof SUBJECTS;
export type ActionCode = keyof typeof ACTIONS;
export type WordCode = keyof typeof WORDS;

/** A parameter that is translated. */
export interface CodedWord {
  readonly code: WordCode;
  readonly params: Readonly<Record<string, string | number>>;
}

type Param = string | number | CodedWord | readonly CodedWord[];

/** Object of a change. */
export interface CodedSubject {
  readonly code: SubjectCode;
  readonly params: Readonly<Record<string, Param>>;
}

/** Action on the subject. */
export interface CodedAction {
  readonly code: ActionCode;
  readonly params: Readonly<Record<string, Param>>;
}

/** A change, as the codes of its subject and action. */
export interface CodedChange {
  readonly subject: CodedSubject;
  readonly action: CodedAction;
}

export function codedSubject<Code extends SubjectCode>(
  code: Code,
  ...params: Params<(typeof SUBJECTS)[Code], Param>
): CodedSubject {
  return { code, params: Object.assign({}, ...params) as CodedSubject['params'] };
}

export function codedAction<Code extends ActionCode>(
  code: Code,
  ...params: Params<(typeof ACTIONS)[Code], Param>
): CodedAction {
  return { code, params: Object.assign({}, ...params) as CodedAction['params'] };
}

export function codedWord<Code extends WordCode>(
  code: Code,
  ...params: Params<(typeof WORDS)[Code], string | number>
): CodedWord {
  return { code, params: Object.assign({}, ...params) as CodedWord['params'] };
}

/** A piece of a text; `isValue`: a parameter, such as a name that a user has chosen. */
export interface TextPart {
  readonly text: string;
  readonly isValue: boolean;
}

/**
 * The subject, for example `group Kids`; null if `texts` does not have the code, because a newer release of Weir wrote
 * it.
 */
export function subjectParts(subject: CodedSubject, texts: ChangeTexts = ENGLISH_CHANGES): TextPart[] | null {
  return partsOf(texts.subjects[subject.code], subject.params, texts);
}

/** The action, for example `created`; null as in `subjectParts`. */
export function actionParts(action: CodedAction, texts: ChangeTexts = ENGLISH_CHANGES): TextPart[] | null {
  return partsOf(texts.actions[action.code], action.params, texts);
}

/** Subject and action in one line, for example `group Kids: created`; null as in `subjectParts`. */
export function lineParts(
  { subject, action }: CodedChange,
  texts: ChangeTexts = ENGLISH_CHANGES,
): TextPart[] | null {
  const [before, after] = [subjectParts(subject, texts), actionParts(action, texts)];
  if (before === null || after === null) return null;
  return filled(texts.line, (name) => (name === 'subject' ? before : after));
}

/**
 * One line that describes a change of policy, for example `group Kids: created`. If the subject is the whole policy,
 * the line has only the action: `rolled back to revision 4`. Null as in `subjectParts`.
 */
export function summaryParts(change: CodedChange, texts: ChangeTexts = ENGLISH_CHANGES): TextPart[] | null {
  return change.subject.code === 'policy' ? actionParts(change.action, texts) : lineParts(change, texts);
}

/** The joined text of the parts. */
export function joined(parts: readonly TextPart[] | null): string {
  return (parts ?? []).map(({ text }) => text).join('');
}

function partsOf(
  text: string | undefined,
  params: Readonly<Record<string, Param>>,
  texts: ChangeTexts,
): TextPart[] | null {
  if (text === undefined) return null;
  return filled(text, (name) => {
    const value = params[name] ?? '';
    if (typeof value === 'string' || typeof value === 'number')
      return [{ text: String(value), isValue: true }];
    const words = Array.isArray(value) ? (value as readonly CodedWord[]) : [value as CodedWord];
    const found = words.map(({ code, params: own }) => partsOf(texts.words[code], own, texts));
    return allOf(found, ', ');
  });
}

/** The parts of a text with its parameters; null if a parameter is null. */
function filled(text: string, valueOf: (name: string) => readonly TextPart[] | null): TextPart[] | null {
  // Every second piece is the name of a parameter.
  const pieces = text
    .split(/\{(\w+)\}/)
    .map((piece, index) => (index % 2 === 1 ? valueOf(piece) : [{ text: piece, isValue: false }]));
  return allOf(pieces, '');
}

/** The parts of all pieces one after another; null if a piece is null. */
function allOf(pieces: readonly (readonly TextPart[] | null)[], separator: string): TextPart[] | null {
  const all: TextPart[] = [];
  for (const piece of pieces) {
    if (piece === null) return null;
    if (all.length > 0) all.push({ text: separator, isValue: false });
    all.push(...piece);
  }
  return all.filter(({ text }) => text !== '');
}
