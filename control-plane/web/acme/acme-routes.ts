/** HTTP routes of `{api}/tls/acme`: the web certificate from an ACME server. */
import { codedAction, codedSubject } from '../../../shared/policy/changes/change-codes.ts';
import type { Config } from '../../../config/schema.ts';
import { AcmeStatus } from '../../../shared/api/tls-api.ts';
import { conflict } from '../../api/api-error.ts';
import { authorOf, route } from '../../api/route.ts';
import type { Route } from '../../api/route.ts';
import { recordAudit } from '../../policy/audit/audit-store.ts';
import type { Database } from '../../storage/db/database.ts';
import type { AcmeCertificate } from './acme-certificate.ts';

interface AcmeContext {
  readonly acme: Pick<AcmeCertificate, 'state' | 'begin'>;
  readonly configuration: { current(): Config };
  readonly database: Database;
}

/** The routes of certificates from an ACME server. */
export function acmeRoutes(context: AcmeContext): Route[] {
  return [readAcme(context), orderAcme(context)];
}

function readAcme(context: AcmeContext): Route {
  return route({
    method: 'GET',
    path: '/tls/acme',
    access: 'viewer',
    tag: 'HTTPS',
    summary:
      'The ACME certificate: settings, the order in progress on this node, and the time of the next ' +
      'renewal',
    answer: AcmeStatus,
    handle: () => statusOf(context),
  });
}

function orderAcme(context: AcmeContext): Route {
  return route({
    method: 'POST',
    path: '/tls/acme',
    access: 'admin',
    tag: 'HTTPS',
    summary:
      'Order a certificate for the names of server.acme, which all nodes use; GET /tls/acme shows the ' +
      'progress',
    status: 202,
    answer: AcmeStatus,
    waits: false,
    errors: { 409: 'server.acme.names is empty, or an order is in progress on this node' },
    handle: async (request) => {
      const { names, directory_url: server } = context.configuration.current().server.acme;
      if (names.length === 0) throw conflict('set server.acme.names first');
      const author = authorOf(request);
      const after = { server, names };
      const change = { subject: codedSubject('web_certificate'), action: codedAction('ordered') };
      const entry = { actor: author, ...change, after };
      let hasBegun = false;
      await context.database.transaction(async (tx) => {
        await recordAudit(tx, entry);
        // If two requests are concurrent, only one begins an order, and the other adds no audit entry. If the database
        // repeats the transaction, no second order begins.
        hasBegun ||= context.acme.begin(author);
        if (!hasBegun) throw conflict('an order is in progress');
      });
      return statusOf(context);
    },
  });
}

function statusOf({ acme, configuration }: AcmeContext): AcmeStatus {
  const settings = configuration.current().server.acme;
  const { step, fault, endedMs, nextMs } = acme.state();
  return {
    names: [...settings.names],
    directory_url: settings.directory_url,
    challenge: settings.challenge,
    terms_agreed: settings.terms_agreed,
    step,
    error: fault,
    ended_at: momentOf(endedMs),
    next_order_at: momentOf(nextMs),
  };
}

function momentOf(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
