/** Names of clients, and the reasons for their groups. */
import type { AnswerOf } from '../../../../../shared/api/client/typed-client.ts';
import type { MessageKey } from '../../i18n/language.ts';

export type Client = AnswerOf<'GET /clients'>['data'][number];

/** Manufacturer of a device, or a text that its MAC address is private; null if unknown. */
export function makerOf(
  { vendor, private_address: isPrivate }: Pick<Client, 'vendor' | 'private_address'>,
  say: (key: MessageKey) => string,
): string | null {
  return isPrivate ? say('clients.privateAddress') : vendor;
}

/** Reasons why a client is in its group. */
export const SOURCE_TEXTS: Readonly<Record<Client['group_source'], MessageKey>> = {
  mac: 'clients.source.mac',
  manual: 'clients.source.manual',
  subnet: 'clients.source.subnet',
  default: 'clients.source.default',
};

/** Whether the group was assigned to the client itself instead of its network. */
export function hasOwnGroup({ group_source: source }: Pick<Client, 'group_source'>): boolean {
  return source === 'mac' || source === 'manual';
}

/** Fields of the client form; an empty string means no value. */
export interface ClientDraft {
  readonly name: string;
  readonly ip_address: string;
  readonly mac_address: string;
  readonly client_key: string;
  /** Group id; empty to use the group of the client's network, or Default. */
  readonly group_id: string;
  readonly exclude_from_log: boolean;
  readonly exclude_from_stats: boolean;
}

/** The form values of an existing client, or of a new one. */
export function draftOf(client: Client | null): ClientDraft {
  return {
    name: client?.name ?? '',
    ip_address: client?.ip_address ?? '',
    mac_address: client?.mac_address ?? '',
    client_key: client?.client_key ?? '',
    group_id: client !== null && hasOwnGroup(client) ? `${client.group_id}` : '',
    exclude_from_log: client?.exclude_from_log ?? false,
    exclude_from_stats: client?.exclude_from_stats ?? false,
  };
}

/** Settings that keep a client's queries out of the log and of statistics. */
export const EXCLUSIONS = ['exclude_from_log', 'exclude_from_stats'] as const;

/** Fields in the body of a request. */
export interface ClientFields {
  name?: string | null;
  ip_address?: string | null;
  mac_address?: string | null;
  client_key?: string | null;
  group_id?: number | null;
  exclude_from_log?: boolean;
  exclude_from_stats?: boolean;
}

/** The changed fields of a draft; for a new client, all fields with a value. */
export function changedFields(before: ClientDraft, draft: ClientDraft): ClientFields {
  const fields: ClientFields = {};
  for (const key of ['name', 'ip_address', 'mac_address', 'client_key'] as const) {
    const text = draft[key].trim();
    if (text !== before[key]) fields[key] = text === '' ? null : text;
  }
  for (const key of EXCLUSIONS) if (draft[key] !== before[key]) fields[key] = draft[key];
  if (draft.group_id !== before.group_id)
    fields.group_id = draft.group_id === '' ? null : Number(draft.group_id);
  return fields;
}
