/**
 * The list of the first start applies to every group: an import asks whether it stays active, and exempts clients that
 * the other program did not filter. Pure.
 */
import type { ImportQuestion } from '../../../../shared/api/imports-api.ts';
import { type ImportReason, importReason } from '../../../../shared/policy/reasons/import-reasons.ts';
import type { Item } from '../../backup/backup-kind.ts';
import { FIRST_SOURCE_URL } from '../../../lists/sources/first-source.ts';
import type { ImportPlan } from '../plan/import-plan.ts';

export const STARTING_LIST = 'starting_list';

/** The question, and the list according to the answer. */
export interface StartingList {
  readonly question: ImportQuestion;
  /** The list after the import; null = unchanged. */
  readonly changed: Item | null;
  readonly reason: ImportReason;
}

/** Null if the list is missing or disabled, or if it is also in the file. */
export function startingList(
  plan: ImportPlan,
  current: {
    readonly sources: readonly Item[];
    readonly groups: readonly Item[];
    /** Whether the user has already decided about the list in an earlier import. */
    readonly wasImported: boolean;
  },
  answers: ReadonlyMap<string, string>,
): StartingList | null {
  const list = current.sources.find(({ url, kind }) => url === FIRST_SOURCE_URL && kind === 'block');
  if (list === undefined || list['enabled'] !== true || hasSource(plan, FIRST_SOURCE_URL)) return null;
  const given = answers.get(STARTING_LIST);
  const choice = given === 'keep' || given === 'disable' ? given : proposal(plan, current.wasImported);
  const question: ImportQuestion = {
    id: STARTING_LIST,
    kind: 'starting_list',
    name: String(list['name']),
    choices: [
      { id: 'disable', text: 'disable it: only what the file blocks is blocked' },
      { id: 'keep', text: 'keep it for all groups that are filtered' },
    ],
    choice,
  };
  if (choice === 'disable')
    return {
      question,
      changed: { ...list, enabled: false },
      reason: importReason('first_list_disabled'),
    };
  const unfiltered = unfilteredGroups(plan);
  const groups = list['groups'] as readonly string[];
  if (unfiltered.length === 0 || groups.length > 0)
    return { question, changed: null, reason: importReason('first_list_active') };
  const names = [...current.groups.map(({ name }) => String(name)), ...namesOf(plan)];
  const without = new Set(unfiltered.map((name) => name.toLowerCase()));
  const kept = new Map(names.map((name) => [name.toLowerCase(), name]));
  const filtered = [...kept].flatMap(([folded, name]) => (without.has(folded) ? [] : [name]));
  return {
    question,
    changed: { ...list, groups: filtered },
    reason: importReason('first_list_except', { groups: unfiltered.join(', ') }),
  };
}

function hasSource({ document }: ImportPlan, url: string): boolean {
  return document.list_sources.some((source) => source.url === url);
}

function proposal(plan: ImportPlan, wasImported: boolean): 'keep' | 'disable' {
  return blocks(plan) && !wasImported ? 'disable' : 'keep';
}

/** Whether the file blocks anything itself. */
function blocks({ document, lists }: ImportPlan): boolean {
  return (
    document.list_sources.some(({ kind, enabled }) => kind === 'block' && enabled) ||
    lists.some(({ source }) => source.kind === 'block' && source.enabled) ||
    document.blocked_services.length > 0 ||
    [...document.managed_domains, ...document.regex_filters].some(
      ({ action, enabled }) => action === 'deny' && enabled,
    )
  );
}

function namesOf({ document }: ImportPlan): string[] {
  return document.groups.flatMap(({ name, is_default: isDefault }) => (isDefault ? [] : [name]));
}

/**
 * Groups that the plan does not filter although it filters others, except Default. A disabled group acts as Default.
 */
function unfilteredGroups(plan: ImportPlan): string[] {
  const { document, lists } = plan;
  const sources = [...document.list_sources, ...lists.map(({ source }) => source)];
  const filtered = new Set<string | null>();
  for (const { kind, groups } of sources)
    if (kind === 'block') for (const group of groups.length === 0 ? [null] : groups) filtered.add(group);
  for (const { action, group } of [...document.managed_domains, ...document.regex_filters])
    if (action === 'deny') filtered.add(group);
  for (const { group } of document.blocked_services) filtered.add(group);
  if (filtered.has(null) || filtered.size === 0) return [];
  return document.groups.flatMap(({ name, enabled, is_default: isDefault }) =>
    isDefault || !enabled || filtered.has(name) ? [] : [name],
  );
}
