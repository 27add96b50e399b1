/**
 * The web certificate from an ACME server: one order at a time in the cluster, requested by a user, or for a renewal.
 * The node that has the lease orders the certificate, and shares it with all nodes.
 */
import { readFile } from 'node:fs/promises';
import { splitHostPort } from '../../../config/value-checks.ts';
import type { Config } from '../../../config/schema.ts';
import type { Clock } from '../../../shared/clock.ts';
import { reasonOf } from '../../../shared/errors.ts';
import type { Logger } from '../../../shared/log.ts';
import { SYSTEM } from '../../api/caller.ts';
import type { Author } from '../../api/caller.ts';
import type { JobLeases, Lease } from '../../storage/cluster/leases.ts';
import type { Database } from '../../storage/db/database.ts';
import { readPair, refuseOutOfDate } from '../tls/certificate-pair.ts';
import type { CertificatePair } from '../tls/certificate-pair.ts';
import { replaceCertificate } from '../tls/replace-certificate.ts';
import type { SharedCertificate } from '../tls/shared-certificate.ts';
import type { WebCertificate } from '../tls/web-certificate.ts';
import { openAccountKey } from './account-key.ts';
import { AcmeAccount } from './acme-account.ts';
import { acmeFault, acmeSender } from './acme-http.ts';
import { orderCertificate } from './acme-order.ts';
import type { ChallengeResponder, OrderStep } from './acme-order.ts';
import { makeRequest } from './certificate-request.ts';
import { dnsResponder, readTsigKey } from './dns-challenges.ts';
import type { HttpChallenges } from './http-challenges.ts';
import { nextAttemptMs, renewalMs } from './renewal-times.ts';

const JOB = 'acme certificate';
/** Interval at which Weir checks whether a renewal is due. */
const POLL_MS = 60_000;
const DNS_PORT = 53;

/** Parts of the node that orders need. */
export interface AcmeParts {
  readonly configuration: { current(): Config };
  readonly certificate: Pick<WebCertificate, 'current' | 'replace'>;
  readonly sharedCertificate: Pick<SharedCertificate, 'share'>;
  readonly challenges: HttpChallenges;
  readonly jobs: Pick<JobLeases, 'hold'>;
  readonly database: Database;
  readonly dataDir: string;
  readonly version: string;
  readonly ownPorts: ReadonlySet<number>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Returns a random number from 0 to 1. */
  readonly random?: () => number;
  /** See `OrderParts`. */
  readonly pollMs?: number;
}

/** State of orders on this node. */
export interface AcmeState {
  /** Step of the order that is in progress; null = there is none. */
  readonly step: OrderStep | null;
  /** Why the last order failed; null = it succeeded. */
  readonly fault: string | null;
  /** Unix milliseconds at which the last order ended; null = there was none since the start. */
  readonly endedMs: number | null;
  /** Failed orders since the last success. */
  readonly failures: number;
  /** Unix milliseconds of the next automatic order; null = none is planned. */
  readonly nextMs: number | null;
}

type AcmeConfig = Config['server']['acme'];

/** Orders and renewals of this node. */
export class AcmeCertificate {
  private readonly parts: AcmeParts;
  private readonly stopping = new AbortController();
  private running: Promise<void> | null = null;
  private step: OrderStep | null = null;
  private fault: string | null = null;
  private endedMs: number | null = null;
  private failures = 0;
  /** Time before which no order begins, after failures. */
  private pausedUntilMs = 0;

  constructor(parts: AcmeParts) {
    this.parts = parts;
  }

  state(): AcmeState {
    const { step, fault, endedMs, failures } = this;
    return { step, fault, endedMs, failures, nextMs: this.nextMs() };
  }

  /** Starts checking for due renewals; returns a function that stops the checks and an order in progress. */
  start(): () => Promise<void> {
    const timer = setInterval(() => this.renewIfDue(), POLL_MS);
    timer.unref();
    return async () => {
      clearInterval(timer);
      this.stopping.abort(new Error('Weir is stopping'));
      await this.running;
    };
  }

  /** Begins a renewal if one is due. */
  renewIfDue(): void {
    const nextMs = this.nextMs();
    if (nextMs !== null && nextMs <= this.parts.clock.nowMs()) this.begin(SYSTEM);
  }

  /** Begins an order; false if one is in progress on this node. */
  begin(actor: Author): boolean {
    if (this.running !== null || this.stopping.signal.aborted) return false;
    this.step = 'account';
    this.running = this.run(actor).finally(() => {
      this.running = null;
      this.step = null;
    });
    return true;
  }

  /** Resolves when no order is in progress. */
  async settled(): Promise<void> {
    await this.running;
  }

  private async run(actor: Author): Promise<void> {
    const { jobs, clock, logger } = this.parts;
    try {
      const hadLease = await jobs.hold(JOB, (lease) => this.order(actor, lease));
      if (!hadLease) throw acmeFault('acme_other_node');
      this.fault = null;
      this.failures = 0;
      this.pausedUntilMs = 0;
    } catch (error) {
      if (this.stopping.signal.aborted) return;
      this.failures++;
      this.fault = reasonOf(error);
      this.pausedUntilMs = nextAttemptMs(clock.nowMs(), this.failures, (this.parts.random ?? Math.random)());
      logger.error('could not get a certificate via ACME', { reason: this.fault, failures: this.failures });
    }
    this.endedMs = clock.nowMs();
  }

  private async order(actor: Author, lease: Lease): Promise<void> {
    const { configuration, dataDir, version, clock, pollMs } = this.parts;
    const { acme } = configuration.current().server;
    const names = [...new Set(acme.names.map((name) => name.toLowerCase()))];
    if (names.length === 0) throw acmeFault('acme_names_missing');
    const signal = AbortSignal.any([this.stopping.signal, lease.signal]);
    const key = await openAccountKey(dataDir, acme.directory_url);
    const send = acmeSender(`weir/${version}`, await authorities(acme));
    const account = await AcmeAccount.open(
      { directoryUrl: acme.directory_url, key, send, signal },
      acme.email,
      acme.terms_agreed,
    );
    const request = await makeRequest(names);
    const chain = await orderCertificate({
      ...{ account, names, signal },
      request: request.der,
      responder: await this.responder(acme, signal),
      onStep: (step) => {
        this.step = step;
      },
      ...(pollMs !== undefined && { pollMs }),
    });
    const pair = readPair(chain, request.key);
    refuseOutOfDate(pair, clock.nowMs());
    refuseOtherNames(pair, names);
    await this.install(actor, pair, lease);
  }

  private install(actor: Author, pair: CertificatePair, lease: Lease): Promise<unknown> {
    const { certificate, sharedCertificate, database, configuration } = this.parts;
    const isEnabled = configuration.current().server.web_tls.enabled;
    return certificate.replace((before, install) =>
      replaceCertificate(database, isEnabled, {
        ...{ actor, before, pair, install },
        share: async (tx) => {
          await lease.confirm(tx);
          await sharedCertificate.share(tx, pair);
        },
      }),
    );
  }

  private async responder(acme: AcmeConfig, signal: AbortSignal): Promise<ChallengeResponder> {
    const { challenges, configuration, ownPorts, clock, logger } = this.parts;
    if (acme.challenge === 'http-01') {
      const addresses = configuration.current().server.bind_address;
      const isOwn = (port: number): boolean => ownPorts.has(port);
      return challenges.responder({ port: acme.http_port, addresses, isOwn });
    }
    const server = splitHostPort(acme.dns_server);
    if (server === undefined) throw acmeFault('acme_server_missing');
    return dnsResponder({
      host: server.host,
      port: server.port ?? DNS_PORT,
      key:
        acme.tsig_name === ''
          ? null
          : await readTsigKey(acme.tsig_name, acme.tsig_algorithm, acme.tsig_key_file),
      waitMs: acme.dns_wait_secs * 1000,
      nowMs: () => clock.nowMs(),
      ...{ logger, signal },
    });
  }

  /** When the certificate in use is due for renewal; null unless that certificate is for the configured names. */
  private nextMs(): number | null {
    const { acme } = this.parts.configuration.current().server;
    const facts = this.parts.certificate.current()?.facts;
    if (acme.names.length === 0 || !acme.terms_agreed || facts === undefined || facts.isSelfSigned)
      return null;
    if (!acme.names.every((name) => facts.names.includes(name.toLowerCase()))) return null;
    return Math.max(renewalMs(facts), this.pausedUntilMs);
  }
}

async function authorities({ directory_ca_path: path }: AcmeConfig): Promise<string | null> {
  if (path === '') return null;
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw acmeFault('acme_ca_unreadable', { reason: reasonOf(error) });
  }
}

function refuseOtherNames({ facts }: CertificatePair, names: readonly string[]): void {
  const missing = names.filter((name) => !facts.names.includes(name));
  if (missing.length > 0) throw acmeFault('acme_other_names', { names: missing.join(', ') });
}
