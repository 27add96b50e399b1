/**
 * Route below the page `/check` by which a device requests that a name is unblocked; it returns 404 unless
 * `blocking.unblock_requests` is set. A device has no account, so the address of its connection identifies it. Requests
 * from this machine, or through a proxy that may hide the address, are therefore rejected. The response only contains
 * what the device could find out by its own DNS queries.
 */
import { codedAction } from '../../../shared/policy/changes/change-codes.ts';
import { UnblockAskAnswer, UnblockAskBody } from '../../../shared/api/unblocking/unblock-requests-api.ts';
import type { Config } from '../../../config/schema.ts';
import type { Clock } from '../../../shared/clock.ts';
import { forbidden, notFound } from '../../api/api-error.ts';
import { clientAddress, isClientHidden } from '../../api/client-address.ts';
import { RequestLimit } from '../../api/request-limit.ts';
import { authorOf, route } from '../../api/route.ts';
import type { ChangeRequest, Route } from '../../api/route.ts';
import type { ClientDirectory } from '../../clients/devices/client-directory.ts';
import { recordAudit } from '../../policy/audit/audit-store.ts';
import type { Database } from '../../storage/db/database.ts';
import type { AskingClients } from './asking-clients.ts';
import { auditedRequest, subjectOf } from './audited-request.ts';
import { insertRequest } from './request-store.ts';

interface PublicContext {
  readonly configuration: { current(): Pick<Config, 'blocking'> };
  readonly database: Database;
  readonly clients: Pick<ClientDirectory, 'at'>;
  readonly clock: Clock;
  readonly askingClients: AskingClients;
}

/** Maximum number of requests from one network per minute. */
const REQUESTS_PER_MINUTE = 10;
/** Maximum size of the body, which contains only a name in a field. */
const BODY_LIMIT_BYTES = 2048;

/** Routes below the page `/check`. */
export function publicRequestRoutes(context: PublicContext): Route[] {
  const limit = new RequestLimit(context.clock, {
    perSecond: REQUESTS_PER_MINUTE / 60,
    burst: REQUESTS_PER_MINUTE,
  });
  const ask = route({
    method: 'POST',
    path: '/unblock-requests',
    access: 'public',
    tag: 'Grants',
    summary: 'Ask the users of this server to unblock a name for the device that sends this request',
    body: UnblockAskBody,
    bodyLimitBytes: BODY_LIMIT_BYTES,
    answer: UnblockAskAnswer,
    handle: (request) => {
      const { http, body } = request;
      if (!context.configuration.current().blocking.unblock_requests) throw notFound('this page');
      limit.spend(clientAddress(http));
      if (isClientHidden(http)) throw forbidden('address_hidden');
      return store(context, request, body.domain);
    },
  });
  return [ask];
}

/** Stores a request of the client at the address of the connection. */
async function store(
  { database, clients, clock, askingClients }: PublicContext,
  request: ChangeRequest,
  domain: string,
): Promise<UnblockAskAnswer> {
  const address = clientAddress(request.http);
  if (!askingClients.admits(address)) throw forbidden('address_not_allowed');
  const clientId = clients.at(address)?.id ?? null;
  if (clientId === null) return { outcome: 'unknown_device' };
  if (!(await askingClients.statusFor(domain, address)).startsWith('BLOCKED_'))
    return { outcome: 'not_blocked' };
  const actor = authorOf(request);
  return database.transaction(async (tx) => {
    const stored = await insertRequest(tx, { clientId, domain, nowMs: clock.nowMs() });
    if (stored === null) return { outcome: 'already_asked' };
    const audited = { actor, subject: subjectOf(stored), action: codedAction('created') };
    await recordAudit(tx, { ...audited, after: auditedRequest(stored) });
    return { outcome: 'asked' };
  });
}
