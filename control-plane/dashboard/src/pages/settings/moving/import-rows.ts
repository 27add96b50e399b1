/** The report of an import, grouped by the result of each item. */
import type { AnswerOf } from '../../../../../../shared/api/client/typed-client.ts';

/** Report of an import, or of its preview. */
export type Report = AnswerOf<'POST /import'>;
/** An entry of the file. */
export type Item = Report['items'][number];

/** Names of the programs whose settings can be imported. */
export const PROGRAMS: Readonly<Record<Report['format'], string>> = {
  pihole: 'Pi-hole',
  adguard_home: 'AdGuard Home',
  blocky: 'blocky',
  technitium: 'Technitium DNS Server',
  nextdns: 'NextDNS',
  controld: 'Control D',
  dnsmasq: 'dnsmasq',
  hosts: 'hosts',
};

/** Results of items; results that need the user's attention come first. */
export const RESULTS = ['differs', 'not_mapped', 'done', 'changed', 'skipped'] as const;

/** Maximum number of rows per result, because a Pi-hole list may have a million. */
export const MAX_ROWS = 200;

/** Items with this result, up to the maximum, each with a unique key. */
export function rowsOf(
  { items }: Pick<Report, 'items'>,
  result: Item['result'],
): readonly (Item & { key: number })[] {
  const rows: (Item & { key: number })[] = [];
  for (const [key, item] of items.entries()) {
    if (rows.length === MAX_ROWS) break;
    if (item.result === result) rows.push({ ...item, key });
  }
  return rows;
}
