/** Rows of the list table: lists joined with statistics, filtered and sorted, and the texts of their states. */
import { CircleAlert, CircleCheck, CirclePause, Clock, Hand, LoaderCircle } from 'lucide-react';
import type { LucideIcon } from 'lucide-react';
import type { AnswerOf } from '../../../../../shared/api/client/typed-client.ts';
import type { MessageKey } from '../../i18n/language.ts';
import type { BadgeTone } from '../../ui/display/values.tsx';

export type Source = AnswerOf<'GET /blocklist-sources'>[number];
/** Statistics about the use of a list. */
export type SourceWorth = AnswerOf<'GET /blocklist-sources/stats'>[number];

/** A list with its statistics; null until the statistics are loaded. */
export interface ListRow extends Source {
  readonly worth: SourceWorth | null;
}

/** State of a list; `off` takes precedence over all others. */
export type ListState = Source['status'] | 'off';

export function listStateOf({ enabled, status }: Source): ListState {
  return enabled || status === 'updating' ? status : 'off';
}

/** Text, icon and tone of each state. */
export const LIST_STATES: Readonly<
  Record<ListState, { readonly tone: BadgeTone; readonly icon: LucideIcon; readonly text: MessageKey }>
> = {
  ok: { tone: 'good', icon: CircleCheck, text: 'lists.state.ok' },
  updating: { tone: 'plain', icon: LoaderCircle, text: 'lists.state.updating' },
  pending: { tone: 'plain', icon: Clock, text: 'lists.state.pending' },
  held: { tone: 'warning', icon: Hand, text: 'lists.state.held' },
  error: { tone: 'fault', icon: CircleAlert, text: 'lists.state.error' },
  off: { tone: 'plain', icon: CirclePause, text: 'groups.off' },
};

/** Sort keys of the rows. */
export const SORTS = ['name', 'hits', 'unique', 'rules', 'changed'] as const;

/** Filter of the shown lists. */
export interface ListFilter {
  readonly search: string;
  /** A state, or '' for all states. */
  readonly state: string;
  readonly sort: string;
}

/** Filtered rows in the order of their sort key: numbers descending, names alphabetically. */
export function listRows(
  sources: readonly Source[],
  stats: readonly SourceWorth[] | undefined,
  { search, state, sort }: ListFilter,
): ListRow[] {
  const worths = new Map(stats?.map((worth) => [worth.id, worth]));
  const wanted = search.trim().toLowerCase();
  return sources
    .map((source) => ({ ...source, worth: worths.get(source.id) ?? null }))
    .filter(
      (row) =>
        (state === '' || listStateOf(row) === state) &&
        [row.name, row.url ?? '', row.comment].some((text) => text.toLowerCase().includes(wanted)),
    )
    .sort((one, other) => weightOf(other, sort) - weightOf(one, sort) || one.name.localeCompare(other.name));
}

function weightOf(row: ListRow, sort: string): number {
  if (sort === 'hits') return row.worth?.hits ?? 0;
  if (sort === 'unique') return row.worth?.unique_rules ?? 0;
  if (sort === 'rules') return row.rules;
  if (sort === 'changed') return row.last_changed_at === null ? 0 : Date.parse(row.last_changed_at);
  return 0;
}

/** Whether any list is being processed, so that its state may change soon. */
export function isBusy(sources: readonly Source[]): boolean {
  return sources.some(({ enabled, status }) => status === 'updating' || (enabled && status === 'pending'));
}
