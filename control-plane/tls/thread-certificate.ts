/** What the DNS threads need for TLS: the certificate in force, and a key for session tickets that is renewed. */
import { randomBytes } from 'node:crypto';
import type { ServedCertificate } from '../../shared/threads/messages.ts';
import type { CertificatePair } from './certificate-pair.ts';
import type { WebCertificate } from './web-certificate.ts';

const TICKET_KEYS_SIZE = 48;
/** Tickets of the key before end in a full handshake, and what was recorded under it stays closed (RFC 8446 section 8.1). */
const RENEWAL_MS = 12 * 3600 * 1000;

/** Gives threads what they need. One per node with encrypted DNS. */
export class ThreadCertificate {
  private pair: CertificatePair;
  private ticketKeys = randomBytes(TICKET_KEYS_SIZE);
  private readonly certificate: Pick<WebCertificate, 'current' | 'onChange'>;
  private readonly renewalMs: number;

  /** Of a certificate that is open. */
  constructor(certificate: Pick<WebCertificate, 'current' | 'onChange'>, renewalMs = RENEWAL_MS) {
    const pair = certificate.current();
    if (pair === null) throw new Error('serve a certificate: it is not open yet');
    this.pair = pair;
    this.certificate = certificate;
    this.renewalMs = renewalMs;
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
      this.ticketKeys = randomBytes(TICKET_KEYS_SIZE);
      deliver(this.current());
    }, this.renewalMs);
    renewing.unref();
    return () => {
      clearInterval(renewing);
      forget();
    };
  }
}
