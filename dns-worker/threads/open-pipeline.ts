/**
 * Opens the pipeline of a thread from the data of the control plane, so that both threads of a worker make the same
 * decisions.
 */
import { systemClock } from '../../shared/clock.ts';
import { CacheMemory } from '../../shared/memory/cache-memory.ts';
import { neighboursWhenNeeded } from '../../shared/net/kernel/neighbour-table.ts';
import type { GivenSettings, ThreadStart } from '../../shared/threads/messages.ts';
import { AnswerCache } from '../cache/answer-cache.ts';
import { ServerCookies } from '../cookies/server-cookies.ts';
import { Pipeline } from '../pipeline.ts';
import { Newcomers } from '../policy/newcomers.ts';
import { openSnapshot } from '../policy/open-snapshot.ts';
import { ServerIdentity } from '../policy/server-identity.ts';
import { RateLimiter } from '../policy/rate-limiter.ts';
import type { Reporter } from '../report/reporter.ts';
import type { ClientSightings } from '../report/sighting-writer.ts';

/** The pipeline of a thread, which counts into `reporter` and `sightings`. */
export function openPipeline(
  { snapshot, cache, cookieKeys, given, memory }: ThreadStart,
  reporter: Reporter,
  sightings: ClientSightings,
): Pipeline {
  const { settings, rateBuckets } = given;
  return new Pipeline(openSnapshot(snapshot), {
    cache: new AnswerCache(new CacheMemory(cache), settings.cache.optimisticRefresh),
    reporter,
    sightings,
    newcomers: new Newcomers(neighboursWhenNeeded(), systemClock),
    limiter: new RateLimiter(rateBuckets, settings.rateLimit),
    cookies: new ServerCookies(cookieKeys),
    forwardsEcs: settings.forwardsEcs,
    identity: new ServerIdentity(settings.identity, new Int32Array(memory.control)),
  });
}

/** Replaces the settings of a pipeline. */
export function useSettings(
  pipeline: Pipeline,
  { settings, rateBuckets }: GivenSettings,
  control: Int32Array,
): void {
  pipeline.cache.refreshes = settings.cache.optimisticRefresh;
  const limiter = new RateLimiter(rateBuckets, settings.rateLimit);
  pipeline.use(limiter, settings.forwardsEcs, new ServerIdentity(settings.identity, control));
}
