/** Describes requests to unblock a name for the audit log. */
import { codedSubject } from '../../../shared/policy/changes/change-codes.ts';
import type { CodedSubject } from '../../../shared/policy/changes/change-codes.ts';
import type { StoredRequest } from './request-store.ts';

/** Description of a request for the audit log. */
export function subjectOf({ id, domain, clientId }: StoredRequest): CodedSubject {
  return codedSubject('unblock_request', { id, domain, client: clientId });
}

/** Fields of a request for the audit log. */
export function auditedRequest({ domain, clientId }: StoredRequest): object {
  return { domain, client_id: clientId };
}
