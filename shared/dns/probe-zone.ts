/**
 * Names of probes: each name is a token below one zone, and is queried once to check whether a device uses this node.
 * The zone is below `test`, which this server always answers itself (RFC 6761 section 6.2).
 */
import { nameFromText } from './name.ts';

export const PROBE_ZONE = 'probe.weir.test';
/** Length of a token in hexadecimal digits. */
export const PROBE_TOKEN_LENGTH = 24;

const ZONE = nameFromText(PROBE_ZONE)!;
const NAME_LENGTH = 1 + PROBE_TOKEN_LENGTH + ZONE.length;

/** Whether a name in lower-case wire form, `length` bytes from `at`, may be the name of a probe. */
export function isProbeName(bytes: Uint8Array, at: number, length: number): boolean {
  if (length !== NAME_LENGTH) return false;
  const zoneAt = at + length - ZONE.length;
  for (let i = 0; i < ZONE.length; i++) if (bytes[zoneAt + i] !== ZONE[i]) return false;
  return true;
}
