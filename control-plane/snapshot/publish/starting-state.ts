/** What the threads are started with: the newest generation on disk, or nothing but the group Default. */
import type { BlockingSettings } from '../../policy/blocking-settings.ts';
import type { FindLivePolicy } from '../../policy/live.ts';
import type { PublishedState } from '../published-state.ts';
import { emptySnapshot } from '../build/empty-snapshot.ts';
import type { Generations } from './generations.ts';
import { buildSnapshot } from '../build/snapshot-builder.ts';

/**
 * Loads the newest whole generation under a version of its own, with the blocking settings of today, which
 * may not be those it was written with.
 */
export async function startingState(
  generations: Generations,
  blocking: BlockingSettings,
  live: FindLivePolicy,
): Promise<PublishedState> {
  const { kept, highestVersion } = await generations.load();
  const { compiled, rows } = kept ?? emptySnapshot(blocking);
  const version = kept === undefined && highestVersion === 0 ? 0 : highestVersion + 1;
  return { snapshot: buildSnapshot(version, compiled, rows, blocking, live(rows)), compiled, rows };
}
