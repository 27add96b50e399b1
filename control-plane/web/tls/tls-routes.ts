/** HTTP routes of `{api}/tls/*`: the certificate of the web server. */
import type { Config } from '../../../config/schema.ts';
import { TlsGenerateQuery, TlsStatus, TlsUploadForm } from '../../../shared/api/tls-api.ts';
import type { Clock } from '../../../shared/clock.ts';
import { conflict, invalid } from '../../api/api-error.ts';
import { authorOf, route } from '../../api/route.ts';
import type { Route } from '../../api/route.ts';
import type { Database } from '../../storage/db/database.ts';
import { CertificateFault, readPair, refuseOutOfDate } from './certificate-pair.ts';
import type { CertificatePair } from './certificate-pair.ts';
import { replaceCertificate, toTlsStatus } from './replace-certificate.ts';
import type { Replacement } from './replace-certificate.ts';
import type { SharedCertificate } from './shared-certificate.ts';
import { uploadForm } from './upload-form.ts';
import type { WebCertificate } from './web-certificate.ts';

/** Dependencies of the routes. */
interface TlsContext {
  readonly certificate: Pick<WebCertificate, 'found' | 'makeOwn' | 'replace'>;
  readonly sharedCertificate: Pick<SharedCertificate, 'share'>;
  readonly configuration: { current(): Config };
  readonly clock: Clock;
  readonly database: Database;
}

/** The routes of the web certificate. */
export function tlsRoutes(context: TlsContext): Route[] {
  return [readTlsStatus(context), uploadCertificate(context), generateCertificate(context)];
}

function readTlsStatus(context: TlsContext): Route {
  return route({
    method: 'GET',
    path: '/tls/status',
    access: 'viewer',
    tag: 'HTTPS',
    summary: 'Whether HTTPS is enabled, and the certificate in the files of server.web_tls',
    answer: TlsStatus,
    handle: async () =>
      toTlsStatus(context.configuration.current().server.web_tls.enabled, await context.certificate.found()),
  });
}

function uploadCertificate(context: TlsContext): Route {
  return route({
    method: 'POST',
    path: '/tls/upload',
    access: 'admin',
    tag: 'HTTPS',
    summary: 'Replace the certificate on all nodes; new connections use it immediately',
    body: TlsUploadForm,
    form: uploadForm,
    answer: TlsStatus,
    errors: CHANGE_ERRORS,
    handle: (request) => {
      const pair = readUpload(request.body.cert, request.body.key, context.clock.nowMs());
      return context.certificate.replace((before, install) =>
        change(context, {
          actor: authorOf(request),
          before,
          pair,
          install,
          share: (tx) => context.sharedCertificate.share(tx, pair),
        }),
      );
    },
  });
}

function generateCertificate(context: TlsContext): Route {
  return route({
    method: 'POST',
    path: '/tls/generate',
    access: 'admin',
    tag: 'HTTPS',
    summary:
      'Create a self-signed certificate for the names and addresses of this machine; only for this node',
    query: TlsGenerateQuery,
    answer: TlsStatus,
    waits: false,
    errors: {
      ...CHANGE_ERRORS,
      409: `there is a valid certificate and the request has no force=true, or ${CHANGE_ERRORS[409]}`,
    },
    handle: (request) =>
      context.certificate.replace(async (before, install) => {
        if (before.isValid && request.query.force !== 'true')
          throw conflict('there is a valid certificate; force=true replaces it');
        const pair = await context.certificate.makeOwn();
        // The certificate is not shared, because its names are those of this machine.
        return change(context, {
          ...{ actor: authorOf(request), before, pair, install },
          share: async () => undefined,
        });
      }),
  });
}

const CHANGE_ERRORS = {
  409:
    'the certificate files are symbolic links, belong to another user, or are not a certificate and its ' +
    'key',
  503: 'the certificate files cannot be written, or the database is unavailable',
} as const;

/** Replaces the certificate as requested. */
function change({ database, configuration }: TlsContext, replacement: Replacement): Promise<TlsStatus> {
  return replaceCertificate(database, configuration.current().server.web_tls.enabled, replacement);
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
