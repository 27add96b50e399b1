/**
 * Tokens in the links to configuration profiles. A phone that scans a link has no session, so the token grants the
 * right to read one profile for at least an hour, on every node. A token contains the client, the key and the expiry,
 * authenticated with the secret of all nodes.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { deriveKey } from '../../storage/cluster/cluster-secret.ts';

/** Minimum lifetime of a token, milliseconds. */
const TOKEN_MS = 3_600_000;
/**
 * Expiry times are multiples of this step, so that a link that is requested repeatedly stays the same for some time.
 */
const STEP_MS = 600_000;

/** Expiry of a token that is created now. */
export function tokenEnd(nowMs: number): number {
  return Math.ceil((nowMs + TOKEN_MS) / STEP_MS) * STEP_MS;
}

const HEAD_BYTES = 8;
const MAC_BYTES = 16;

/** The token for a client with a key until `tokenEnd()`. */
export function profileToken(secret: Uint8Array, clientId: number, key: string, endMs: number): string {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32BE(clientId, 0);
  head.writeUInt32BE(Math.floor(endMs / 1000), 4);
  return Buffer.concat([head, macOf(secret, head, key)]).toString('base64url');
}

/** The id of a token's client; null if the token is forged, expired, or for an earlier key of the client. */
export function clientOfToken(
  secret: Uint8Array,
  token: string,
  keyOf: (clientId: number) => string | null,
  nowMs: number,
): number | null {
  const bytes = Buffer.from(token, 'base64url');
  if (bytes.length !== HEAD_BYTES + MAC_BYTES || bytes.toString('base64url') !== token) return null;
  const head = bytes.subarray(0, HEAD_BYTES);
  const clientId = head.readUInt32BE(0);
  const key = keyOf(clientId);
  const isGenuine = timingSafeEqual(bytes.subarray(HEAD_BYTES), macOf(secret, head, key ?? ''));
  if (key === null || !isGenuine || head.readUInt32BE(4) * 1000 <= nowMs) return null;
  return clientId;
}

function macOf(secret: Uint8Array, head: Uint8Array, key: string): Buffer {
  const macKey = deriveKey(secret, 'phone profiles', 32);
  return createHmac('sha256', macKey).update(head).update(key).digest().subarray(0, MAC_BYTES);
}
