/** HTTP of `{api}/tls/*`: the certificate of the web server. */
import type { Config } from '../../config/schema.ts';
import { TlsGenerateQuery, TlsStatus, TlsUploadForm } from '../../shared/api/tls-api.ts';
import type { Clock } from '../../shared/clock.ts';
import { ApiError, conflict, invalid } from '../api/api-error.ts';
import { authorOf, route } from '../api/route.ts';
import type { Author } from '../api/caller.ts';
import type { Route } from '../api/route.ts';
import { recordAudit } from '../audit/audit-store.ts';
import type { Database, Queryable } from '../db/database.ts';
import { CertificateFilesError } from './certificate-files.ts';
import { CertificateFault, readPair, refuseOutOfDate } from './certificate-pair.ts';
import type { CertificatePair } from './certificate-pair.ts';
import type { SharedCertificate } from './shared-certificate.ts';
import { uploadForm } from './upload-form.ts';
import type { FoundCertificate, WebCertificate } from './web-certificate.ts';

/** What these rows are made of. */
export interface TlsRouteParts {
  readonly certificate: Pick<WebCertificate, 'found' | 'makeOwn' | 'replace'>;
  readonly sharedCertificate: Pick<SharedCertificate, 'share'>;
  readonly config: () => Config;
  readonly clock: Clock;
  readonly database: Database;
}

/** Rows of the web certificate. */
export function tlsRoutes(parts: TlsRouteParts): Route[] {
  return [readTlsStatus(parts), uploadCertificate(parts), generateCertificate(parts)];
}

function readTlsStatus(parts: TlsRouteParts): Route {
  return route({
    method: 'GET',
    path: '/tls/status',
    access: 'viewer',
    tag: 'HTTPS',
    summary: 'Whether HTTPS is on, and the certificate in the files of server.web_tls',
    answer: TlsStatus,
    handle: async () => statusOf(parts, await parts.certificate.found()),
  });
}

function uploadCertificate(parts: TlsRouteParts): Route {
  return route({
    method: 'POST',
    path: '/tls/upload',
    access: 'admin',
    tag: 'HTTPS',
    summary: 'Replace the certificate on all nodes; new connections get it at once',
    body: TlsUploadForm,
    form: uploadForm,
    answer: TlsStatus,
    errors: CHANGE_ERRORS,
    handle: (request) => {
      const pair = readUpload(request.body.cert, request.body.key, parts.clock.nowMs());
      return parts.certificate.replace((before, install) =>
        change(parts, authorOf(request), before, {
          pair,
          install,
          share: (tx) => parts.sharedCertificate.share(tx, pair),
        }),
      );
    },
  });
}

function generateCertificate(parts: TlsRouteParts): Route {
  return route({
    method: 'POST',
    path: '/tls/generate',
    access: 'admin',
    tag: 'HTTPS',
    summary:
      'Make a self-signed certificate for the names and addresses of this machine, for this node alone',
    query: TlsGenerateQuery,
    answer: TlsStatus,
    waits: false,
    errors: {
      ...CHANGE_ERRORS,
      409: `there is a valid certificate and no force=true, or ${CHANGE_ERRORS[409]}`,
    },
    handle: (request) =>
      parts.certificate.replace(async (before, install) => {
        if (before.isValid && request.query.force !== 'true')
          throw conflict('there is a valid certificate; force=true replaces it');
        const pair = await parts.certificate.makeOwn();
        // Its names are those of this machine.
        return change(parts, authorOf(request), before, { pair, install, share: async () => undefined });
      }),
  });
}

const CHANGE_ERRORS = {
  409: 'the files are links, those of another user, or not a certificate and its key',
  503: 'the files cannot be written, or the database cannot be reached',
} as const;

interface Replacement {
  readonly pair: CertificatePair;
  readonly install: (pair: CertificatePair) => Promise<void>;
  /** Gives it to other nodes. */
  readonly share: (tx: Queryable) => Promise<void>;
}

/** Replaces the certificate; the files come last, since they cannot be rolled back. */
async function change(
  parts: TlsRouteParts,
  actor: Author,
  before: FoundCertificate,
  { pair, install, share }: Replacement,
): Promise<TlsStatus> {
  const after = statusOf(parts, { exists: true, isValid: true, facts: pair.facts });
  try {
    await parts.database.transaction(async (tx) => {
      const subject = 'web certificate';
      await recordAudit(tx, { actor, action: 'changed', subject, before: statusOf(parts, before), after });
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

function readUpload(cert: string, key: string, nowMs: number): CertificatePair {
  try {
    const pair = readPair(cert, key);
    refuseOutOfDate(pair, nowMs);
    return pair;
  } catch (error) {
    if (error instanceof CertificateFault) throw invalid([{ path: error.field, message: error.message }]);
    throw error;
  }
}

function statusOf({ config }: TlsRouteParts, { exists, isValid, facts }: FoundCertificate): TlsStatus {
  return {
    enabled: config().server.web_tls.enabled,
    exists,
    valid: isValid,
    subject: facts?.subject ?? null,
    issuer: facts?.issuer ?? null,
    names: [...(facts?.names ?? [])],
    key_type: facts?.keyType ?? null,
    not_before: facts?.notBefore.toISOString() ?? null,
    expiration: facts?.notAfter.toISOString() ?? null,
    self_signed: facts?.isSelfSigned ?? null,
  };
}
