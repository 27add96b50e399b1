/** Replaces the web certificate in one transaction with its audit entry, on this node or on all nodes. */
import { codedAction, codedSubject } from '../../../shared/policy/changes/change-codes.ts';
import { ApiError, conflict } from '../../api/api-error.ts';
import type { Author } from '../../api/caller.ts';
import type { TlsStatus } from '../../../shared/api/tls-api.ts';
import { recordAudit } from '../../policy/audit/audit-store.ts';
import type { Database, Queryable } from '../../storage/db/database.ts';
import { CertificateFilesError } from './certificate-files.ts';
import type { CertificatePair } from './certificate-pair.ts';
import type { FoundCertificate } from './web-certificate.ts';

/** A new certificate with its use. */
export interface Replacement {
  readonly actor: Author;
  readonly before: FoundCertificate;
  readonly pair: CertificatePair;
  readonly install: (pair: CertificatePair) => Promise<void>;
  /** Shares the certificate with other nodes; runs first in the transaction. */
  readonly share: (tx: Queryable) => Promise<void>;
}

/**
 * Replaces the certificate; the files come last, because they cannot be rolled back. `isEnabled`:
 * `server.web_tls.enabled`.
 * @throws {ApiError} 409, 503
 */
export async function replaceCertificate(
  database: Database,
  isEnabled: boolean,
  { actor, before, pair, install, share }: Replacement,
): Promise<TlsStatus> {
  const after = toTlsStatus(isEnabled, { exists: true, isValid: true, fault: null, facts: pair.facts });
  try {
    await database.transaction(async (tx) => {
      const change = { subject: codedSubject('web_certificate'), action: codedAction('changed') };
      await recordAudit(tx, { actor, ...change, before: toTlsStatus(isEnabled, before), after });
      await share(tx);
      await install(pair);
    });
  } catch (error) {
    if (!(error instanceof CertificateFilesError)) throw error;
    if (error.isForeign) throw conflict(error.message);
    throw new ApiError(503, 'dependency_unavailable', error.message, { cause: error });
  }
  return after;
}

/** A certificate as the API shows it. */
export function toTlsStatus(
  isEnabled: boolean,
  { exists, isValid, fault, facts }: FoundCertificate,
): TlsStatus {
  return {
    enabled: isEnabled,
    exists,
    valid: isValid,
    fault,
    subject: facts?.subject ?? null,
    issuer: facts?.issuer ?? null,
    names: [...(facts?.names ?? [])],
    key_type: facts?.keyType ?? null,
    not_before: facts?.notBefore.toISOString() ?? null,
    expiration: facts?.notAfter.toISOString() ?? null,
    self_signed: facts?.isSelfSigned ?? null,
  };
}
