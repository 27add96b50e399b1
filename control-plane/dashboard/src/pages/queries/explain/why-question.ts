/** Form values of a query to explain, and the request for its explanation. */
import type { CallOf } from '../../../../../../shared/api/client/typed-client.ts';

/** Fields of the form, as in the page's URL. */
export interface QuestionFields {
  readonly name: string;
  readonly type: string;
  /** Address of the device. */
  readonly client: string;
  /** Id of a known client; '' if there is none. */
  readonly client_id: string;
  /** Id of a group; '' = the group of the client. */
  readonly group: string;
}

/** Identifiers by which a user may refer to a client. */
export interface KnownClient {
  readonly id: number;
  readonly name: string | null;
  readonly hostname: string | null;
  readonly ip_address: string | null;
  readonly mac_address: string | null;
  readonly client_key: string | null;
}

/** The group Default, which applies if the user names no device. */
const DEFAULT_GROUP = 1;

/** Query parameters of the request; null if the form is incomplete. */
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

/** The device that the user entered: a known client with this name or address; if there is none, an address. */
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

/** Extracts a name from pasted text, including a URL. */
function nameOf(text: string): string {
  const trimmed = text.trim();
  if (!trimmed.includes('://')) return trimmed;
  return URL.canParse(trimmed) ? new URL(trimmed).hostname : trimmed;
}
