/** The report of an import, grouped by the result of each item. */
import type { AnswerOf } from '../../../../../../shared/api/client/typed-client.ts';

/** Report of an import, or of its preview. */
export type Report = AnswerOf<'POST /import'>;
/** One object of the file. */
export type Item = Report['items'][number];

/** Programs whose settings are read, as people call them. */
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

/** Results of items; what a person has to do something about comes first. */
export const RESULTS = ['differs', 'not_mapped', 'done', 'changed', 'skipped'] as const;

/** Rows of one result that are drawn: a list of Pi-hole may have a million. */
export const MOST_ROWS = 200;

/** The items with this result, up to the number that is shown, each with a unique key. */
export function rowsOf(
  { items }: Pick<Report, 'items'>,
  result: Item['result'],
): readonly (Item & { key: number })[] {
  const rows: (Item & { key: number })[] = [];
  for (const [key, item] of items.entries()) {
    if (rows.length === MOST_ROWS) break;
    if (item.result === result) rows.push({ ...item, key });
  }
  return rows;
}
