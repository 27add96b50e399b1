/**
 * One-time names that detect forwarding loops: a resolve thread sends a query for such a name to an upstream
 * (`dns-worker/resolve/loop-check.ts`), and the control plane watches for clients that query it
 * (`control-plane/resolving/upstreams/loop-watch.ts`). If a client queries this server for the name, the upstream has
 * sent the query back.
 */
import { MAX_NAME_LENGTH, nameFromText } from './name.ts';

const PREFIX = 'weir-loop-';
/** Number of hexadecimal digits of the token after the prefix. */
export const LOOP_TOKEN_LENGTH = 24;
/** Size of the first label, including its length byte. */
const LABEL_SIZE = 1 + PREFIX.length + LOOP_TOKEN_LENGTH;
const LABEL_START = Uint8Array.from([LABEL_SIZE - 1, ...Buffer.from(PREFIX)]);
/**
 * Zone of the names for the servers of the pools. This server always answers for this zone itself, so a loop ends with
 * the first query (RFC 6761 section 6.2).
 */
const POOLS_ZONE = nameFromText('test')!;

/**
 * The name for a token, below a forward zone or, if `zone` is null, for the servers of the pools; null if the name
 * would be too long.
 */
export function loopName(token: string, zone: Uint8Array | null): Uint8Array | null {
  const name = Uint8Array.from([...LABEL_START, ...Buffer.from(token), ...(zone ?? POOLS_ZONE)]);
  return name.length > MAX_NAME_LENGTH ? null : name;
}

/** The token in a lower-case name of `length` bytes at `at`; null = the name has none. */
export function loopTokenIn(bytes: Uint8Array, at: number, length: number): string | null {
  if (length <= LABEL_SIZE) return null;
  for (let i = 0; i < LABEL_START.length; i++) if (bytes[at + i] !== LABEL_START[i]) return null;
  return Buffer.from(bytes.buffer, bytes.byteOffset + at + LABEL_START.length, LOOP_TOKEN_LENGTH).toString(
    'latin1',
  );
}
