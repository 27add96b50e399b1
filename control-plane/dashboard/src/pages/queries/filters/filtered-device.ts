/** The device that the filters of the log select, for actions that need exactly one device. */
import type { AnswerOf } from '../../../../../../shared/api/client/typed-client.ts';

type Client = AnswerOf<'GET /clients'>['data'][number];
type Addressed = Pick<Client, 'id' | 'ip_address'> & {
  readonly merged: readonly Pick<Client['merged'][number], 'ip_address'>[];
};

/**
 * Id of the device as text; '' if the filters do not select exactly one device. Undefined if `clients` is needed to
 * look up an address, but is not loaded yet.
 */
export function filteredDevice(
  { client_id: id, client: address }: Readonly<Record<string, string>>,
  clients: readonly Addressed[] | undefined,
): string | undefined {
  if (id !== undefined) return id;
  if (address === undefined) return '';
  if (clients === undefined) return undefined;
  const found = clients.find(({ ip_address: own, merged }) =>
    [own, ...merged.map((part) => part.ip_address)].includes(address),
  );
  return found === undefined ? '' : `${found.id}`;
}
