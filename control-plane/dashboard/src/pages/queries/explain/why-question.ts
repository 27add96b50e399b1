/** The form of a DNS query to explain, and the request that it makes. */
import type { CallOf } from '../../../../../../shared/api/client/typed-client.ts';

/** The fields of the form, as the address of the page has them. */
export interface QuestionFields {
  readonly name: string;
  readonly type: string;
  /** An address. */
  readonly client: string;
  /** Id of a known client; '' = none. */
  readonly client_id: string;
  /** Id of a group; '' = that of the client. */
  readonly group: string;
}

/** Names of a client by which a person may mean it. */
export interface KnownClient {
  readonly id: number;
  readonly name: string | null;
  readonly hostname: string | null;
  readonly ip_address: string | null;
  readonly mac_address: string | null;
  readonly client_key: string | null;
}

/** The group Default, which a question without a device is explained for. */
const DEFAULT_GROUP = 1;

/** The query of the request; null = nothing to ask yet. */
export function queryOf(fields: QuestionFields): CallOf<'GET /explain'>['query'] | null {
  const { name, type, client, client_id: clientId, group } = fields;
  const domain = nameOf(name);
  if (domain === '') return null;
  const isAnyone = client === '' && clientId === '';
  const groupId = group !== '' ? Number(group) : isAnyone ? DEFAULT_GROUP : undefined;
  return {
    domain,
    type,
    ...(clientId !== '' ? { client_id: Number(clientId) } : client !== '' && { client }),
    ...(groupId !== undefined && { group_id: groupId }),
  };
}

/** The device that a person has written: one that is known by this text, else an address. */
export function deviceOf(
  text: string,
  known: readonly KnownClient[],
): Pick<QuestionFields, 'client' | 'client_id'> {
  const wanted = text.trim().toLowerCase();
  const found = known.find((one) =>
    [one.ip_address, one.name, one.hostname, one.mac_address, one.client_key].some(
      (part) => part?.toLowerCase() === wanted,
    ),
  );
  if (wanted === '' || found === undefined) return { client: wanted, client_id: '' };
  return { client: '', client_id: `${found.id}` };
}

/** A name as people copy it: also out of the address of a page. */
function nameOf(text: string): string {
  const trimmed = text.trim();
  if (!trimmed.includes('://')) return trimmed;
  return URL.canParse(trimmed) ? new URL(trimmed).hostname : trimmed;
}
