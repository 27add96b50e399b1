/**
 * What the DNS threads need for TLS: the certificate in force, and the day's key for session tickets, which is derived
 * from the secret of all nodes, so that a client may go on with a session at another node.
 */
import type { Clock } from '../../shared/clock.ts';
import type { ServedCertificate } from '../../shared/threads/messages.ts';
import { deriveKey } from '../cluster/cluster-secret.ts';
import type { CertificatePair } from './certificate-pair.ts';
import type { WebCertificate } from './web-certificate.ts';

const TICKET_KEYS_SIZE = 48;
/** Tickets of the day before end in a full handshake. */
const KEY_LIFE_MS = 24 * 3600 * 1000;
/** How often it is looked whether the key is another one. */
const LOOK_MS = 1000;

/** Where keys come from. */
export interface TicketKeyParts {
  /** The secret of all nodes, as of now: the same object for as long as it is the same secret. */
  readonly secret: () => Uint8Array;
  readonly clock: Clock;
  readonly lookMs?: number;
}

/** Gives threads what they need. One per node with encrypted DNS. */
export class ThreadCertificate {
  private pair: CertificatePair;
  private ticketKeys = new Uint8Array();
  private readonly certificate: Pick<WebCertificate, 'current' | 'onChange'>;
  private readonly parts: TicketKeyParts;
  /** What the keys were derived from. */
  private day = -1;
  private secret: Uint8Array | undefined;

  /** Of a certificate that is open. */
  constructor(certificate: Pick<WebCertificate, 'current' | 'onChange'>, parts: TicketKeyParts) {
    const pair = certificate.current();
    if (pair === null) throw new Error('serve a certificate: it is not open yet');
    this.pair = pair;
    this.certificate = certificate;
    this.parts = parts;
    this.renew();
  }

  /** What a thread starts with. */
  current(): ServedCertificate {
    const { cert, key } = this.pair;
    return { cert, key, ticketKeys: this.ticketKeys };
  }

  /** Calls `deliver` with all that comes into force from now on; returns how to stop that. */
  follow(deliver: (certificate: ServedCertificate) => void): () => void {
    const forget = this.certificate.onChange((pair) => {
      this.pair = pair;
      deliver(this.current());
    });
    const renewing = setInterval(() => {
      if (this.renew()) deliver(this.current());
    }, this.parts.lookMs ?? LOOK_MS);
    renewing.unref();
    return () => {
      clearInterval(renewing);
      forget();
    };
  }

  /** True if there are other keys now: of another day, or of another secret. */
  private renew(): boolean {
    const { clock, secret: secretNow } = this.parts;
    const day = Math.floor(clock.nowMs() / KEY_LIFE_MS);
    const secret = secretNow();
    if (day === this.day && secret === this.secret) return false;
    this.day = day;
    this.secret = secret;
    this.ticketKeys = deriveKey(secret, `tls tickets ${String(day)}`, TICKET_KEYS_SIZE);
    return true;
  }
}
