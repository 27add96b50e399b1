/** `weir top`: shows the most frequently queried or blocked names, or the busiest clients. */
import { printableJson } from '../output/printable.ts';
import { formatCount } from '../output/quantities.ts';
import type { Cell, Column } from '../output/text-table.ts';
import { printTable } from '../output/text-table.ts';
import { textOption } from './command-run.ts';
import type { CommandRun } from './command-run.ts';

const COUNT: Column = { title: 'QUERIES', side: 'right' };

/** Prints a top list. */
export async function showTop(run: CommandRun): Promise<0> {
  const query = {
    period: textOption(run, 'period'),
    limit: textOption(run, 'limit'),
    client: textOption(run, 'client'),
  };
  const { client } = run;
  switch (run.arguments[0] ?? 'domains') {
    case 'clients': {
      const found = await client.call('GET /stats/top_clients', { query });
      const columns: Column[] = [
        COUNT,
        { title: 'BLOCKED', side: 'right' },
        { title: 'CLIENT' },
        { title: 'NAME' },
      ];
      const rows = found.map(({ ip_address: address, hostname, count, blocked }) => [
        formatCount(count),
        formatCount(blocked),
        address,
        hostname,
      ]);
      return print(run, found, columns, rows);
    }
    case 'blocked':
      return printDomains(run, await client.call('GET /stats/top_blocked', { query }));
    default:
      return printDomains(run, await client.call('GET /stats/top_domains', { query }));
  }
}

function printDomains(run: CommandRun, found: readonly { domain: string; count: number }[]): 0 {
  const rows = found.map(({ domain, count }) => [formatCount(count), domain]);
  return print(run, found, [COUNT, { title: 'NAME' }], rows);
}

function print(
  run: CommandRun,
  found: unknown,
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
): 0 {
  if (run.isJson) run.screen.out(printableJson(found, 2));
  else printTable(run.screen, columns, rows);
  return 0;
}
