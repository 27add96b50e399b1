/**
 * The life cycle of a trust anchor (RFC 5011 section 4): a new key that a trusted key signs becomes trusted after the
 * add hold-down time; a key that is revoked is never trusted again. Pure: observations and time are arguments.
 */
import { isAnchorOf, withoutRevocation } from '../../../shared/dns/dnskey-rdata.ts';
import { RRType } from '../../../shared/dns/iana.ts';
import type { TrustAnchor, TrustPointKeys } from '../../../shared/dns/trust-anchors.ts';

/** States of RFC 5011 section 4.2; the state `Start` is not stored, because the key is then unknown. */
export const KEY_STATES = ['add-pending', 'valid', 'missing', 'revoked', 'removed'] as const;
/** State of a key. */
export type KeyState = (typeof KEY_STATES)[number];

/** A key that was seen at a trust point. */
export interface ManagedKey {
  /** RDATA of the key before it was revoked. */
  readonly rdata: Uint8Array;
  readonly state: KeyState;
  /** Time at which the key entered this state, Unix milliseconds. */
  readonly sinceMs: number;
  /** Earliest time at which the key becomes valid, Unix milliseconds; only meaningful in state `add-pending`. */
  readonly trustedFromMs: number;
}

/** A state transition of a key; null = the key was unknown before, or is no longer known. */
export interface KeyChange {
  readonly rdata: Uint8Array;
  readonly from: KeyState | null;
  readonly to: KeyState | null;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Add and remove hold-down times (RFC 5011 sections 2.4.1 and 2.4.2). */
const HOLD_DOWN_MS = 30 * DAY_MS;
/**
 * Maximum number of pending keys: limited because a zone can publish any number of keys. Further keys are not
 * considered until a pending one is trusted or removed.
 */
const MAX_PENDING_KEYS = 8;

/** The new states of the keys of a trust point after its DNSKEY RRset was observed, and the changes. */
export function observed(
  keys: readonly ManagedKey[],
  configured: readonly TrustAnchor[],
  seen: TrustPointKeys,
  nowMs: number,
): { readonly keys: readonly ManagedKey[]; readonly changes: readonly KeyChange[] } {
  const followed: ManagedKey[] = [];
  const changes: KeyChange[] = [];
  const keep = (key: ManagedKey, state: KeyState | null): void => {
    if (state === key.state) followed.push(key);
    else changes.push({ rdata: key.rdata, from: key.state, to: state });
    if (state !== null && state !== key.state) followed.push({ ...key, state, sinceMs: nowMs });
  };
  for (const key of keys) keep(key, nextState(key, configured, seen, nowMs));
  for (const { rdata, isRevoked } of seen.keys) {
    const own = withoutRevocation(rdata);
    if (followed.some((key) => isSameKey(key.rdata, own)) || keys.some((key) => isSameKey(key.rdata, own)))
      continue;
    const state = firstState(own, isRevoked, configured, seen);
    const pending = followed.filter((key) => key.state === 'add-pending').length;
    if (state === null || (state === 'add-pending' && pending >= MAX_PENDING_KEYS)) continue;
    const holdDownMs = Math.max(HOLD_DOWN_MS, seen.originalTtlSecs * 1000);
    followed.push({ rdata: own, state, sinceMs: nowMs, trustedFromMs: nowMs + holdDownMs });
    changes.push({ rdata: own, from: null, to: state });
  }
  return { keys: followed, changes };
}

/**
 * First state of an unknown key. Only a trusted key can introduce other keys, and a key can only be revoked by its own
 * signature.
 */
function firstState(
  rdata: Uint8Array,
  isRevoked: boolean,
  configured: readonly TrustAnchor[],
  seen: TrustPointKeys,
): KeyState | null {
  const isConfigured = configured.some((anchor) => isAnchorOf(anchor, rdata));
  if (isRevoked) return isConfigured ? 'revoked' : null;
  if (!seen.isTrusted) return null;
  return isConfigured ? 'valid' : 'add-pending';
}

function nextState(
  { rdata, state, sinceMs, trustedFromMs }: ManagedKey,
  configured: readonly TrustAnchor[],
  seen: TrustPointKeys,
  nowMs: number,
): KeyState | null {
  const present = seen.keys.find((key) => isSameKey(withoutRevocation(key.rdata), rdata));
  if (state === 'removed') return 'removed';
  if (state === 'revoked') return nowMs - sinceMs >= HOLD_DOWN_MS ? 'removed' : 'revoked';
  if (present?.isRevoked === true) return 'revoked';
  if (!seen.isTrusted) return state;
  if (state !== 'add-pending') return present === undefined ? 'missing' : 'valid';
  if (present === undefined) return null;
  // The key may have been configured since then, by a newer release of Weir or by the administrator.
  const isConfigured = configured.some((anchor) => isAnchorOf(anchor, rdata));
  return isConfigured || nowMs >= trustedFromMs ? 'valid' : 'add-pending';
}

/**
 * The anchors used for validation: the configured anchors that are not revoked, and newer keys that have become valid.
 */
export function activeAnchors(
  zone: Uint8Array,
  configured: readonly TrustAnchor[],
  keys: readonly ManagedKey[],
): TrustAnchor[] {
  const gone = keys.filter(({ state }) => state === 'revoked' || state === 'removed');
  const left = configured.filter((anchor) => !gone.some(({ rdata }) => isAnchorOf(anchor, rdata)));
  const found = keys
    .filter(({ state }) => state === 'valid' || state === 'missing')
    .filter(({ rdata }) => !left.some((anchor) => isAnchorOf(anchor, rdata)))
    .map(({ rdata }) => ({ zone, type: RRType.DNSKEY, rdata }));
  return [...left, ...found];
}

/** Milliseconds until the keys are queried again (RFC 5011 section 2.3). `seen` is null if there was no response. */
export function refreshDelayMs(seen: TrustPointKeys | null): number {
  if (seen?.isTrusted !== true) return HOUR_MS;
  const shorterMs = Math.min(seen.originalTtlSecs, seen.expiresInSecs) * 1000;
  return Math.max(HOUR_MS, Math.min(15 * DAY_MS, shorterMs / 2));
}

function isSameKey(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}
