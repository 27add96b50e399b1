/** Domain and regex rules: form values, filters and table rows. */
import { includesSubdomains, nameOfRule } from '../../ui/policy/pasted-name.ts';
import type { AnswerOf } from '../../../../../shared/api/client/typed-client.ts';

/** A domain rule. */
export type ManagedDomain = AnswerOf<'GET /managed-domains'>['data'][number];
/** A regex rule. */
export type RegexFilter = AnswerOf<'GET /regex-filters'>[number];
export type Rule = ManagedDomain | RegexFilter;
/** Kinds and actions of rules. */
export type RuleKind = 'domain' | 'expression';
export type RuleAction = 'allow' | 'deny';

/** Domain or pattern of a rule, as the user wrote it. */
export function textOfRule(rule: Rule): string {
  return 'domain' in rule ? rule.domain : rule.pattern;
}

/** API operations on rules of a kind. */
export function operationsOf(kind: RuleKind) {
  return kind === 'domain'
    ? ({
        one: 'GET /managed-domains/{id}',
        change: 'PUT /managed-domains/{id}',
        remove: 'DELETE /managed-domains/{id}',
        bulk: 'POST /managed-domains/bulk',
      } as const)
    : ({
        one: 'GET /regex-filters/{id}',
        change: 'PUT /regex-filters/{id}',
        remove: 'DELETE /regex-filters/{id}',
        bulk: 'POST /regex-filters/bulk',
      } as const);
}

export interface RuleFields {
  readonly text: string;
  /** Whether a domain rule includes subdomains. */
  readonly subdomains: boolean;
  readonly action: RuleAction;
  /** Id of the group; null for every group. */
  readonly groupId: number | null;
  readonly comment: string;
  readonly enabled: boolean;
}

/** Form values of an existing or a new rule. */
export function fieldsOfRule(rule: Rule | null): RuleFields {
  if (rule === null)
    return { text: '', subdomains: true, action: 'deny', groupId: null, comment: '', enabled: true };
  const { action, group_id: groupId, comment, enabled } = rule;
  const isForName = 'domain' in rule;
  return {
    text: isForName ? nameOfRule(rule.domain) : rule.pattern,
    subdomains: isForName && includesSubdomains(rule.domain),
    ...{ action, groupId, comment, enabled },
  };
}

/** Body of a request, without the domain or pattern. */
export function bodyOfRule({ action, groupId, comment, enabled }: RuleFields) {
  return { action, group_id: groupId, comment: comment.trim(), enabled };
}

export interface RuleFilter {
  readonly search: string;
  /** An action, or '' for both actions. */
  readonly action: string;
  /** Selected group: '' for any group, 'all' for rules that apply to every group, or a group id. */
  readonly group: string;
}

/** The rules that match the filters, newest first. */
export function fittingRules<Row extends Rule>(
  rules: readonly Row[],
  { search, action, group }: RuleFilter,
): Row[] {
  const wanted = search.trim().toLowerCase();
  return rules
    .filter(
      (rule) =>
        (action === '' || rule.action === action) &&
        (group === '' || (rule.group_id === null ? 'all' : `${rule.group_id}`) === group) &&
        [textOfRule(rule), rule.name, rule.comment].some((text) => text.toLowerCase().includes(wanted)),
    )
    .sort((one, other) => other.id - one.id);
}

/** A row of the table: a rule, or several rules that differ only in their group. */
export interface RuleRow {
  readonly rule: Rule;
  /** All rules of the row, including the first. */
  readonly all: readonly Rule[];
}

/** Rows of the table, in the order of the rules. Rules that differ only in their group share a row. */
export function rowsOf(rules: readonly Rule[]): RuleRow[] {
  const rows = new Map<string, Rule[]>();
  for (const rule of rules) {
    const { id, action, group_id: group, comment, enabled } = rule;
    const key =
      group === null
        ? `${id}`
        : JSON.stringify([textOfRule(rule), ownNameOf(rule), action, comment, enabled]);
    const same = rows.get(key);
    if (same === undefined) rows.set(key, [rule]);
    else same.push(rule);
  }
  return [...rows.values()].map((all) => ({ rule: all[0]!, all }));
}

/** Maximum length of a rule's name; the default name is the domain or pattern, cut to this length. */
const MAX_NAME_LENGTH = 200;

/** Name that a user has given to a rule; null if the rule has its default name. */
function ownNameOf(rule: Rule): string | null {
  return rule.name === textOfRule(rule).slice(0, MAX_NAME_LENGTH) ? null : rule.name;
}

/** Changes that replace the rules of a row by rules for these groups; null = one rule for every group. */
export function replacement(
  all: readonly Rule[],
  groupIds: readonly number[] | null,
  changed: {
    readonly text?: string;
    readonly action?: RuleAction;
    readonly comment?: string;
    readonly enabled?: boolean;
  },
) {
  const rule = all[0]!;
  const { action, comment, enabled } = rule;
  const { text = textOfRule(rule), ...others } = changed;
  const name = ownNameOf(rule);
  const rows = (groupIds ?? [null]).map((id) => {
    return { ...(name !== null && { name }), action, comment, enabled, ...others, group_id: id };
  });
  const ids = all.map(({ id }) => id);
  return 'domain' in rule
    ? { delete: ids, create: rows.map((row) => ({ domain: text, ...row })) }
    : { delete: ids, create: rows.map((row) => ({ pattern: text, ...row })) };
}

/** Group ids of a row; null for every group. */
export function groupsOfRow(all: readonly Rule[]): readonly number[] | null {
  const ids = all.flatMap(({ group_id: id }) => id ?? []);
  return ids.length === 0 ? null : ids.sort((one, other) => one - other);
}
