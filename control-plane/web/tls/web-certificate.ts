/**
 * The current certificate of all TLS servers of this node. It comes from the files of `server.web_tls`, can be replaced
 * over the API, and is reloaded when other programs replace the files.
 */
import type { Clock } from '../../../shared/clock.ts';
import type { Logger } from '../../../shared/log.ts';
import { reasonOf } from '../../../shared/errors.ts';
import { Semaphore } from '../../storage/concurrency/semaphore.ts';
import type { CertificateFiles } from './certificate-files.ts';
import { CertificateFault, refuseOutOfDate } from './certificate-pair.ts';
import type { CertificateFacts, CertificatePair } from './certificate-pair.ts';
import { makeSelfSigned } from './self-signed.ts';

/** Interval of the checks of the files. A change is loaded if it persists from one check to the next. */
const POLL_MS = 5000;

/** Contents of the files. */
export interface FoundCertificate {
  /** Whether both files exist. */
  readonly exists: boolean;
  /** Whether a server can use the files now. */
  readonly isValid: boolean;
  /** Reason why a server cannot use the files; null if it can, or if they do not exist. */
  readonly fault: string | null;
  /** Details of the certificate; null if the files cannot be read. */
  readonly facts: CertificateFacts | null;
}

/** Dependencies of the certificate. */
export interface WebCertificateParts {
  readonly files: CertificateFiles;
  /** Names and addresses for a certificate created by Weir; the first is its subject. */
  readonly names: () => string[];
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The certificate of all TLS servers of this node. */
export class WebCertificate {
  private readonly parts: WebCertificateParts;
  private readonly turns = new Semaphore(1);
  private readonly listeners = new Set<(pair: CertificatePair) => void>();
  private active: CertificatePair | null = null;
  private refusal: string | null = null;
  /** Fingerprints of the files that were last accepted or refused, and of the last check. */
  private examined = '';
  private seen = '';

  constructor(parts: WebCertificateParts) {
    this.parts = parts;
  }

  /** The certificate in use; null until `open()` or a replacement. */
  current(): CertificatePair | null {
    return this.active;
  }

  /** Reason why the content of the files is not in use; null = it is in use. */
  fault(): string | null {
    return this.refusal;
  }

  /** Calls the listener with each new certificate; returns a function that removes the listener. */
  onChange(listener: (pair: CertificatePair) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /**
   * Loads the files at the start. Creates a self-signed certificate if they do not exist. If the files cannot be used,
   * creates a certificate for this run only, so that the rest of Weir starts and an administrator can log in.
   */
  open(): Promise<CertificatePair> {
    return this.turns.run(async () => {
      const { files, logger } = this.parts;
      try {
        await files.recover();
        const pair = (await files.read()) ?? (await this.makeFirst());
        this.warnOfDates(pair);
        await this.activate(pair);
        return pair;
      } catch (error) {
        const reason = reasonOf(error);
        logger.error('could not use the web certificate; until it is replaced, Weir uses a self-signed one', {
          reason,
          ...files.paths,
        });
        const standIn = await this.makeOwn();
        await this.activate(standIn);
        this.refusal = reason;
        return standIn;
      }
    });
  }

  /** The current contents of the files. */
  async found(): Promise<FoundCertificate> {
    const exists = await this.parts.files.exist();
    try {
      const pair = await this.parts.files.read();
      if (pair === null) return { exists, isValid: false, fault: null, facts: null };
      const fault = this.dateFaultOf(pair);
      return { exists, isValid: fault === null, fault, facts: pair.facts };
    } catch (error) {
      if (!(error instanceof CertificateFault)) throw error;
      return { exists, isValid: false, fault: error.message, facts: null };
    }
  }

  /** A new self-signed certificate, which is not used yet. */
  makeOwn(): Promise<CertificatePair> {
    return makeSelfSigned(this.parts.names(), this.parts.clock.nowMs());
  }

  /**
   * Replaces files and certificate. `work` gets the previous state, and calls `install` with the new pair once the rest
   * of the change is done; replacements run one after another. Throws what `work` and `CertificateFiles.store()` throw.
   */
  replace<T>(
    work: (before: FoundCertificate, install: (pair: CertificatePair) => Promise<void>) => Promise<T>,
  ): Promise<T> {
    return this.turns.run(async () =>
      work(await this.found(), async (pair) => {
        await this.parts.files.store(pair);
        await this.activate(pair);
        this.parts.logger.info('replaced the web certificate', logged(pair));
      }),
    );
  }

  /** Throws the error with which a replacement by this pair would fail. */
  check(pair: CertificatePair): Promise<void> {
    return this.turns.run(() => this.parts.files.check(pair));
  }

  /** Starts checking the files; returns a function that stops the checks. */
  follow(): () => Promise<void> {
    const timer = setInterval(() => void this.checkFiles(), POLL_MS);
    timer.unref();
    return async () => {
      clearInterval(timer);
      await this.turns.run(async () => undefined);
    };
  }

  /** Checks the files once: accepts files that another program put there, if they are valid. */
  checkFiles(): Promise<void> {
    return this.turns.run(async () => {
      const { files, logger, clock } = this.parts;
      const now = await files.fingerprint();
      const isStable = now === this.seen;
      this.seen = now;
      if (now === this.examined || !isStable) return;
      this.examined = now;
      try {
        const pair = await files.read();
        if (pair === null) throw new CertificateFault('cert', 'the files no longer exist');
        refuseOutOfDate(pair, clock.nowMs());
        this.refusal = null;
        if (pair.cert === this.active?.cert && pair.key === this.active.key) return;
        await this.activate(pair);
        logger.info('loaded a new web certificate', logged(pair));
      } catch (error) {
        const reason = reasonOf(error);
        this.refusal = reason;
        logger.warn('could not use the new web certificate; the previous one stays in use', { reason });
      }
    });
  }

  private async makeFirst(): Promise<CertificatePair> {
    const pair = await this.makeOwn();
    await this.parts.files.store(pair);
    this.parts.logger.info('created a self-signed web certificate', {
      ...this.parts.files.paths,
      ...logged(pair),
    });
    return pair;
  }

  private async activate(pair: CertificatePair): Promise<void> {
    this.active = pair;
    this.refusal = null;
    this.examined = this.seen = await this.parts.files.fingerprint();
    for (const listener of this.listeners) listener(pair);
  }

  private dateFaultOf(pair: CertificatePair): string | null {
    try {
      refuseOutOfDate(pair, this.parts.clock.nowMs());
      return null;
    } catch (error) {
      return reasonOf(error);
    }
  }

  private warnOfDates(pair: CertificatePair): void {
    if (this.dateFaultOf(pair) !== null)
      this.parts.logger.warn(
        'the web certificate has expired or is not valid yet; browsers will refuse it',
        logged(pair),
      );
  }
}

function logged({ facts }: CertificatePair) {
  return { subject: facts.subject, issuer: facts.issuer, expiration: facts.notAfter.toISOString() };
}
