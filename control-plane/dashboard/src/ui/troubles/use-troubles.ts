/** All current problems, for the overview and the frame. */
import { useNodeStatus } from '../../api/live/live-status.ts';
import { useAsk } from '../../api/use-ask.ts';
import {
  heldTrouble,
  isNothingBlocked,
  isRecent,
  NOTHING_BLOCKED,
  portTrouble,
  refusedTrouble,
  troublesOf,
} from './troubles.ts';
import type { Trouble } from './troubles.ts';

const CLIENTS_MS = 90_000;
const LISTS_MS = 450_000;

/** Problems, worst first; null until they are known. */
export function useTroubles(): readonly Trouble[] | null {
  const { health, blocking, blockedNames } = useNodeStatus();
  const sources = useAsk('GET /blocklist-sources', {}, { everyMs: LISTS_MS });
  const access = useAsk('GET /clients/refused', {}, { everyMs: CLIENTS_MS });
  const reach = useAsk('GET /system/reachability', {}, { everyMs: CLIENTS_MS });
  if (health.data === undefined) return null;
  const troubles = troublesOf(health.data);
  if (isNothingBlocked(blocking.data?.enabled, blockedNames)) troubles.push(NOTHING_BLOCKED);
  const held = sources.data === undefined ? null : heldTrouble(sources.data);
  const refused = access.data === undefined ? null : refusedTrouble(access.data, (one) => isRecent(one));
  const port = reach.data === undefined ? null : portTrouble(reach.data);
  return [...troubles, ...[port, held, refused].filter((trouble) => trouble !== null)];
}

/** Number of problems; hints do not count. */
export function countProblems(troubles: readonly Trouble[]): number {
  return troubles.filter(({ tone }) => tone !== 'info').length;
}
