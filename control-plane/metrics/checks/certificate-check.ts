/** Checks the certificates in use, for health and metrics. Pure. */
import type { HealthCheck } from '../../../shared/api/system-api.ts';

/** Use of a certificate. */
export type CertificateUse = 'web' | 'dns';

/** A certificate in use. */
export interface UsedCertificate {
  readonly use: CertificateUse;
  readonly notBefore: Date;
  readonly notAfter: Date;
  /** Reason why the configured files are not in use; null = they are in use. */
  readonly fault: string | null;
  /** Reason why ACME could not renew the certificate; absent if the renewal was successful or ACME is not used. */
  readonly renewalFault?: string;
}

const DAY_MS = 86_400_000;
/** Number of days before the expiry of a certificate from which its renewal is overdue. */
const WARN_DAYS = 14;
/** The same limit for a short-lived certificate, as a share of its validity. */
const WARN_SHARE = 1 / 3;

const NAMES: Readonly<Record<CertificateUse, string>> = { web: 'of the web server', dns: 'of encrypted DNS' };

/**
 * Degraded if a certificate expires within two weeks or cannot be renewed, or if the configured files cannot be used.
 */
export function certificatesCheck(certificates: readonly UsedCertificate[], nowMs: number): HealthCheck {
  const faults = certificates.flatMap((certificate) => {
    const name = `the certificate ${NAMES[certificate.use]}`;
    if (certificate.fault !== null) return [`the files of ${name} cannot be used: ${certificate.fault}`];
    const end = endOf(certificate, nowMs);
    const renewal = certificate.renewalFault;
    return [
      ...(end === null ? [] : [`${name} ${end}`]),
      ...(renewal === undefined ? [] : [`${name} could not be renewed: ${renewal}`]),
    ];
  });
  return faults.length === 0 ? { status: 'ok' } : { status: 'degraded', detail: faults.join('; ') };
}

function endOf({ notBefore, notAfter }: UsedCertificate, nowMs: number): string | null {
  const leftMs = notAfter.getTime() - nowMs;
  const date = notAfter.toISOString().slice(0, 10);
  if (leftMs <= 0) return `expired on ${date}`;
  const lifeMs = notAfter.getTime() - notBefore.getTime();
  if (leftMs > Math.min(WARN_DAYS * DAY_MS, lifeMs * WARN_SHARE)) return null;
  return `expires in ${daysText(leftMs / DAY_MS)} (${date})`;
}

function daysText(days: number): string {
  if (days < 1) return 'less than a day';
  const whole = Math.floor(days);
  return whole === 1 ? '1 day' : `${whole} days`;
}
