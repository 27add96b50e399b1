/** Metrics of the lists: the active rules are read from memory, the state of downloads from the database. */
import { type BlocklistSource, SourceStatus } from '../../shared/api/policy/sources-api.ts';
import type { SourceKind } from '../../shared/policy/source-kind.ts';
import type { PublishedState } from '../policy/snapshot/published-state.ts';
import { type Family, family, type Labels, type Sample } from './family.ts';

const LABELS = ['id', 'kind', 'list'] as const;

/** A list as it is stored in the database. */
export type FetchedList = Pick<
  BlocklistSource,
  'id' | 'name' | 'status' | 'last_checked_at' | 'last_changed_at'
> & { readonly kind: SourceKind };

/** Readers for the values of these metrics. */
export interface ListReads {
  readonly published: () => PublishedState;
  /** Reads the lists; null if the database does not respond. */
  readonly fetched: () => Promise<readonly FetchedList[] | null>;
}

/** Families of all lists. Lists are distinguished by id, because several lists may have the same name. */
export function listFamilies({ published, fetched }: ListReads): Family[] {
  const lastSuccess = new LastSuccess();
  return [
    active('weir_list_rules', 'Rules of the active list', published, ({ rules }) => rules),
    active(
      'weir_list_invalid_lines',
      'Lines of the active list that are not rules',
      published,
      ({ invalidLines }) => invalidLines,
    ),
    family(
      'gauge',
      'weir_list_status',
      '1 for the status that the list has, 0 for the others',
      [...LABELS, 'status'],
      async () => ((await fetched()) ?? []).flatMap(statusesOf),
    ),
    family(
      'gauge',
      'weir_list_last_success_timestamp_seconds',
      'When the list was last fetched, or found unchanged; after a restart with an error, when its content last changed',
      LABELS,
      async () => ((await fetched()) ?? []).flatMap((list) => lastSuccess.sampleOf(list)),
    ),
  ];
}

type Statistics = PublishedState['compiled']['sources'][number]['statistics'];

function active(
  name: string,
  help: string,
  published: ListReads['published'],
  value: (statistics: Statistics) => number,
): Family {
  return family('gauge', name, help, LABELS, () => {
    const { compiled, rows } = published();
    const statistics = new Map(compiled.sources.map((source) => [source.id, source.statistics]));
    return rows.sources.flatMap((source) => {
      const own = statistics.get(source.id);
      return own === undefined || !source.enabled ? [] : [{ labels: labelsOf(source), value: value(own) }];
    });
  });
}

function labelsOf({ id, kind, name }: { id: number; kind: SourceKind; name: string }): Labels {
  return { id: String(id), kind, list: name };
}

function statusesOf(list: FetchedList): Sample[] {
  return SourceStatus.options.map((status) => ({
    labels: { ...labelsOf(list), status },
    value: list.status === status ? 1 : 0,
  }));
}

/**
 * Keeps the time of the last success of each list, because its row only contains the time and result of the last fetch.
 */
class LastSuccess {
  private readonly secs = new Map<number, number>();

  sampleOf(list: FetchedList): Sample[] {
    const at = list.status === 'ok' ? list.last_checked_at : list.last_changed_at;
    const known = this.secs.get(list.id) ?? 0;
    const secs = Math.max(known, at === null ? 0 : Date.parse(at) / 1000);
    if (secs === 0) return [];
    this.secs.set(list.id, secs);
    return [{ labels: labelsOf(list), value: secs }];
  }
}
