/** What the DNS threads need for TLS: the certificate in force, and the day's key for session tickets. */
import type { ServedCertificate } from '../../shared/threads/messages.ts';
import type { CertificatePair } from './certificate-pair.ts';
import type { TicketKeys } from './ticket-keys.ts';
import type { WebCertificate } from './web-certificate.ts';

/** Gives threads what they need. One per node with encrypted DNS. */
export class ThreadCertificate {
  private pair: CertificatePair;
  private readonly certificate: Pick<WebCertificate, 'current' | 'onChange'>;
  private readonly ticketKeys: TicketKeys;

  /** Of a certificate that is open. */
  constructor(certificate: Pick<WebCertificate, 'current' | 'onChange'>, ticketKeys: TicketKeys) {
    const pair = certificate.current();
    if (pair === null) throw new Error('serve a certificate: it is not open yet');
    this.pair = pair;
    this.certificate = certificate;
    this.ticketKeys = ticketKeys;
  }

  /** What a thread starts with. */
  current(): ServedCertificate {
    const { cert, key } = this.pair;
    return { cert, key, ticketKeys: this.ticketKeys.current() };
  }

  /** Calls `deliver` with all that comes into force from now on; returns how to stop that. */
  follow(deliver: (certificate: ServedCertificate) => void): () => void {
    const stops = [
      this.certificate.onChange((pair) => {
        this.pair = pair;
        deliver(this.current());
      }),
      this.ticketKeys.onChange(() => deliver(this.current())),
    ];
    return () => {
      for (const stop of stops) stop();
    };
  }
}
