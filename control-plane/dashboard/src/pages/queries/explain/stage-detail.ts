/** Texts for results of stages other than rules. The API returns them in the server's own format. */

/** A message and what goes into it. */
export interface StageDetail {
  readonly key:
    | `queries.groupBy.${'default' | 'subnet' | 'manual' | 'mac' | 'key' | 'chosen'}`
    | 'queries.why.cacheTtl'
    | 'queries.why.ownZone';
  readonly of: string;
  /** A span instead of `of`. */
  readonly secs?: number;
}

const GROUP_SOURCE = /^(default|subnet|manual|mac|key|chosen)(?: ([^ ]+))?$/;
const CACHE_TTL = /^ttl (\d+)$/;
const OWN_ZONE = /^zone ([^ ]+)$/;

/**
 * Source of a client's group, remaining TTL in the cache, or local zone; null if there is no text and the detail is
 * shown unchanged.
 */
export function stageDetail(stage: string, detail: string): StageDetail | null {
  const ttl = stage === 'cache' ? CACHE_TTL.exec(detail) : null;
  if (ttl !== null) return { key: 'queries.why.cacheTtl', of: '', secs: Number(ttl[1]) };
  const zone = stage === 'special_names' ? OWN_ZONE.exec(detail) : null;
  if (zone !== null) return { key: 'queries.why.ownZone', of: zone[1]! };
  const found = stage === 'client_group' ? GROUP_SOURCE.exec(detail) : null;
  if (found === null) return null;
  const [, source, of = ''] = found;
  return { key: `queries.groupBy.${source}` as StageDetail['key'], of };
}
