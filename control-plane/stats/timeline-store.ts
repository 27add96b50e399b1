/** Reads the counts that a timeline is made of. */
import type { Granularity } from '../../shared/api/stats-api.ts';
import type { Queryable } from '../db/database.ts';
import type { Grain } from '../query-log/store/counts-store.ts';
import { type Bucket, partsOf, readBuckets } from './counts-reader.ts';

/** Which timeline. */
export interface TimelineRequest {
  /** [fromMs, toMs), both starts of minutes. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly granularity: Granularity;
  readonly timezone: string;
}

/** Counts of spans that are no longer than a bucket, in order. */
export function readTimelineCounts(tx: Queryable, request: TimelineRequest): Promise<Bucket[]> {
  return readBuckets(tx, partsOf(request.fromMs, request.toMs, grainsOf(request)));
}

/** Counts that are fine enough, the coarsest first. */
function grainsOf({ granularity, timezone }: TimelineRequest): readonly Grain[] {
  if (granularity === 'minute') return ['m'];
  return granularity === 'day' && timezone === 'UTC' ? ['d', 'q', 'm'] : ['q', 'm'];
}
