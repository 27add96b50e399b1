/**
 * The forward zone of the qname; if several contain the name, the zone with the longest name. The zone determines which
 * servers to query, which partition of the cache to use, and whether private addresses are allowed. The DS of a zone's
 * apex belongs to the zone above it (RFC 4035 section 3.1.4.1): only the parent can prove to a validating client that
 * an internal zone is not signed.
 */
import { RRType } from '../../shared/dns/iana.ts';
import { NOT_FOUND } from '../policy/name-table.ts';
import { StageResult, type Query, type StageResultCode } from '../query/query.ts';
import type { OpenSnapshot } from '../policy/open-snapshot.ts';

/** Records the zone; never ends the pass. */
export function forwardZoneStage(query: Query, { zoneNames, zones }: OpenSnapshot): StageResultCode {
  if (zoneNames.size === 0) return StageResult.CONTINUE;
  const index = zoneNames.findSuffix(query, query.qtype === RRType.DS ? 1 : 0);
  if (index === NOT_FOUND) return StageResult.CONTINUE;
  query.zoneIndex = index;
  query.partition = zones[index]!.partition;
  return StageResult.CONTINUE;
}
