/** Requests to unblock a name, as the audit log has them. */
import type { StoredRequest } from './request-store.ts';

/** Description of a request for the audit log. */
export function subjectOf({ id, domain, clientId }: StoredRequest): string {
  return `unblock request ${id}: ${domain} for client ${clientId}`;
}

/** Fields of a request for the audit log. */
export function auditedRequest({ domain, clientId }: StoredRequest): object {
  return { domain, client_id: clientId };
}
