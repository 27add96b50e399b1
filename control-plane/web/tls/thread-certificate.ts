/** TLS material of the DNS threads: the current certificate, and the day's key for session tickets. */
import type { ServedCertificate } from '../../../shared/threads/messages.ts';
import type { CertificatePair } from './certificate-pair.ts';
import type { TicketKeys } from './ticket-keys.ts';
import type { WebCertificate } from './web-certificate.ts';

/** Provides threads with their TLS material. One per node with encrypted DNS. */
export class ThreadCertificate {
  private pair: CertificatePair;
  private readonly certificate: Pick<WebCertificate, 'current' | 'onChange'>;
  private readonly ticketKeys: TicketKeys;
  /** The certificate that the threads use. */
  private given: ServedCertificate | undefined;

  /** `open()` of the certificate must have been called. */
  constructor(certificate: Pick<WebCertificate, 'current' | 'onChange'>, ticketKeys: TicketKeys) {
    const pair = certificate.current();
    if (pair === null) throw new Error('could not serve the certificate: it has not been loaded yet');
    this.pair = pair;
    this.certificate = certificate;
    this.ticketKeys = ticketKeys;
  }

  /** The certificate without its key. */
  get cert(): string {
    return this.pair.cert;
  }

  /** The certificate that threads start with. */
  current(): ServedCertificate {
    const { cert, key } = this.pair;
    this.given = { cert, key, ticketKeys: this.ticketKeys.current() };
    return this.given;
  }

  /** Calls `deliver` after each change since the threads started; returns a function that stops this. */
  follow(deliver: (certificate: ServedCertificate) => void): () => void {
    const stops = [
      this.certificate.onChange((pair) => {
        this.pair = pair;
        deliver(this.current());
      }),
      this.ticketKeys.onChange(() => deliver(this.current())),
    ];
    this.pair = this.certificate.current() ?? this.pair;
    if (this.given?.cert !== this.pair.cert || this.given.ticketKeys !== this.ticketKeys.current())
      deliver(this.current());
    return () => {
      for (const stop of stops) stop();
    };
  }
}
