/**
 * Rejects a change that would store a pool in which no server answers: the network would then have no DNS, which makes
 * it hard to find the cause. Only pools with new servers are tested, never the default pools. Users who know better,
 * for example before a move, send `force`.
 */
import { isSameValue } from '../../../config/layers.ts';
import type { Values } from '../../../config/layers.ts';
import type { Config } from '../../../config/schema.ts';
import { ApiError } from '../../api/api-error.ts';

/**
 * Tests each of these servers once; the host names of servers are resolved by the given resolvers. Returns null for a
 * server that has answered, and for others the reason.
 */
export type TestUpstreams = (
  servers: readonly string[],
  bootstrap: readonly string[],
  gone?: AbortSignal,
) => Promise<ReadonlyMap<string, string | null>>;

type Pools = Config['dns']['pools'];

const POOLS = 'dns.pools';
const BOOTSTRAP = 'dns.bootstrap';

/** Throws 409 `upstream_silent`, with an error for each pool in these values in which no server answers. */
export async function refuseSilentPools(
  values: Values,
  stored: Config,
  { testUpstreams, gone }: { readonly testUpstreams: TestUpstreams; readonly gone: AbortSignal },
): Promise<void> {
  const pools = (values[POOLS] ?? []) as Pools;
  const isKnown = ({ servers }: Pools[number]): boolean =>
    stored.dns.pools.some((pool) => isSameValue(pool.servers, servers));
  const changed = pools.flatMap((pool, at) => (isKnown(pool) ? [] : [{ pool, at }]));
  if (changed.length === 0) return;
  const bootstrap = (values[BOOTSTRAP] ?? stored.dns.bootstrap) as readonly string[];
  const servers = changed.flatMap(({ pool }) => pool.servers);
  const faults = await testUpstreams(servers, bootstrap, gone);
  const fields = changed
    .filter(({ pool }) => pool.servers.every((server) => (faults.get(server) ?? null) !== null))
    .map(({ pool, at }) => {
      const reasons = pool.servers.map((server) => `${server} (${String(faults.get(server))})`);
      const message = `no server of the pool "${pool.name}" answers: ${reasons.join(', ')}`;
      return { path: `${POOLS}.${at}.servers`, message };
    });
  if (fields.length === 0) return;
  const detail = `${fields.map(({ message }) => message).join('; ')}; use force=true to store it anyway`;
  throw new ApiError(409, 'upstream_silent', detail, { fields });
}
