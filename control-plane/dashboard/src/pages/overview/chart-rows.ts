/** Rows of the charts of the overview. */
import type { AnswerOf } from '../../../../../shared/api/client/typed-client.ts';
import type { Part } from '../../ui/charts/stacked-layers.ts';

/** The largest counts in descending order, and the sum of all others. */
export function mostCommon(
  counts: Readonly<Record<string, number>>,
  max: number,
): { readonly shown: (readonly [name: string, count: number])[]; readonly others: number } {
  const sorted = Object.entries(counts).sort(([, a], [, b]) => b - a);
  const rest = sorted.slice(max);
  return { shown: sorted.slice(0, max), others: rest.reduce((sum, [, count]) => sum + count, 0) };
}

type ClientTimeline = AnswerOf<'GET /stats/client_timeline'>;

/** A client in the chart of activity; null = all other clients. */
export interface ActivityPart extends Part {
  readonly key: string;
  readonly client: ClientTimeline['clients'][number] | null;
}

/** A part for each client, and one for all other clients if they have queries. */
export function activityParts({ clients, buckets }: ClientTimeline): ActivityPart[] {
  const parts = clients.map((client, place) => ({
    key: `${client.ip_address} ${client.client_id}`,
    client,
    counts: buckets.map(({ counts }) => counts[place]!),
    colour: `series-${place + 1}`,
  }));
  const others = buckets.map((bucket) => bucket.others);
  if (others.every((count) => count === 0)) return parts;
  return [...parts, { key: 'others', client: null, counts: others, colour: 'series-others' }];
}
