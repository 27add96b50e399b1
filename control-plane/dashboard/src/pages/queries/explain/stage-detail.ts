/** Texts for the details of stages other than rules, which the API returns in the server's format. */

/** A message and its values. */
export interface StageDetail {
  readonly key:
    | `queries.groupBy.${'default' | 'subnet' | 'manual' | 'mac' | 'key' | 'chosen'}`
    | 'queries.why.cacheTtl'
    | 'queries.why.ownZone'
    | 'queries.why.noLimit'
    | 'queries.access.may';
  readonly of: string;
  /** Duration that replaces `of`. */
  readonly secs?: number;
}

const GROUP_SOURCE = /^(default|subnet|manual|mac|key|chosen)(?: ([^ ]+))?$/;
const CACHE_TTL = /^ttl (\d+)$/;
const OWN_ZONE = /^zone ([^ ]+)$/;
const MAY_ASK = 'may query this server';
const NO_LIMIT = 'no rate limit';

/**
 * Message for the rate limit, the source of a client's group, its permission to ask, the remaining TTL in the cache, or a local zone.
 * Null if there is no message; the detail is then shown unchanged.
 */
export function stageDetail(stage: string, detail: string): StageDetail | null {
  const ttl = stage === 'cache' ? CACHE_TTL.exec(detail) : null;
  if (ttl !== null) return { key: 'queries.why.cacheTtl', of: '', secs: Number(ttl[1]) };
  const zone = stage === 'special_names' ? OWN_ZONE.exec(detail) : null;
  if (zone !== null) return { key: 'queries.why.ownZone', of: zone[1]! };
  if (stage === 'admission' && detail === NO_LIMIT) return { key: 'queries.why.noLimit', of: '' };
  if (stage === 'access' && detail === MAY_ASK) return { key: 'queries.access.may', of: '' };
  const found = stage === 'client_group' ? GROUP_SOURCE.exec(detail) : null;
  if (found === null) return null;
  const [, source, of = ''] = found;
  return { key: `queries.groupBy.${source}` as StageDetail['key'], of };
}
