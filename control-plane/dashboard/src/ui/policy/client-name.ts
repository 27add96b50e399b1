/** Display name of a client. */
import type { AnswerOf } from '../../../../../shared/api/client/typed-client.ts';

type Named = Pick<
  AnswerOf<'GET /clients'>['data'][number],
  'name' | 'hostname' | 'ip_address' | 'mac_address' | 'client_key'
>;

/** The name that a user has given to the client; without it, the host name, address, MAC address or client key. */
export function nameOf({ name, hostname, ip_address: ip, mac_address: mac, client_key: key }: Named): string {
  return name ?? hostname ?? ip ?? key ?? mac ?? '';
}
