/**
 * The part of the policy statement that reads clients and their networks. They may be tens of thousands, so
 * they are read as text, which takes a third of the time of JSON.
 */
const pairs = (value: string, table: string): string =>
  `SELECT coalesce(string_agg(${value} || ' ' || group_id, ','), '') FROM ${table}`;

/** Statements that give `address group` and so on, with commas between. */
export const CLIENT_PAIRS = {
  clients: `${pairs('host(ip_address)', 'clients')} WHERE group_id IS NOT NULL AND mac_address IS NULL
    AND ip_address IS NOT NULL`,
  macClients: `${pairs('mac_address::text', 'clients')} WHERE group_id IS NOT NULL AND mac_address IS NOT NULL`,
  subnets: pairs('cidr::text', 'client_subnets'),
} as const;

/** The rows of such a text; null of null. */
export function readPairs<Row>(
  text: string | null,
  make: (value: string, groupId: number) => Row,
): Row[] | null {
  if (text === null) return null;
  if (text === '') return [];
  return text.split(',').map((pair) => {
    const space = pair.indexOf(' ');
    return make(pair.slice(0, space), Number(pair.slice(space + 1)));
  });
}
