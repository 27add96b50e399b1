/**
 * The daily key that encrypts TLS session tickets. It is derived from the cluster secret, so that a client can resume a
 * session on another node.
 */
import type { Clock } from '../../../shared/clock.ts';
import { deriveKey } from '../../storage/cluster/cluster-secret.ts';

const TICKET_KEYS_SIZE = 48;
/** Lifetime of a key; tickets of the previous day then require a full handshake. */
const KEY_LIFE_MS = 24 * 3600 * 1000;
/** Interval of the checks for a new key. */
const POLL_MS = 1000;

/** Inputs from which keys are derived. */
export interface TicketKeyParts {
  /** Purpose of the tickets; a ticket is valid for one purpose only. */
  readonly purpose: 'tls tickets' | 'tls tickets of the web';
  /** The current secret of all nodes: the same object until it changes. */
  readonly secret: () => Uint8Array;
  readonly clock: Clock;
  readonly lookMs?: number;
}

/** Derives keys of one purpose. */
export class TicketKeys {
  private readonly parts: TicketKeyParts;
  private keys = new Uint8Array();
  /** The day and secret from which the keys were derived. */
  private day = -1;
  private secret: Uint8Array | undefined;

  constructor(parts: TicketKeyParts) {
    this.parts = parts;
  }

  /** Today's keys: the same object until they change. */
  current(): Uint8Array {
    const { clock, purpose, secret: secretNow } = this.parts;
    const day = Math.floor(clock.nowMs() / KEY_LIFE_MS);
    const secret = secretNow();
    if (day === this.day && secret === this.secret) return this.keys;
    this.day = day;
    this.secret = secret;
    this.keys = deriveKey(secret, `${purpose} ${String(day)}`, TICKET_KEYS_SIZE);
    return this.keys;
  }

  /**
   * Calls the listener when the keys change with the day or the secret; returns a function that removes the listener.
   */
  onChange(listener: () => void): () => void {
    let known = this.current();
    const looking = setInterval(() => {
      const now = this.current();
      if (now === known) return;
      known = now;
      listener();
    }, this.parts.lookMs ?? POLL_MS);
    looking.unref();
    return () => clearInterval(looking);
  }
}
