/** `weir simulate`: shows the effect of a draft on logged queries. */
import type { AnswerOf } from '../../../shared/api/client/typed-client.ts';
import { printableJson } from '../output/printable.ts';
import { formatCount } from '../output/quantities.ts';
import type { Screen } from '../output/screen.ts';
import { printTable } from '../output/text-table.ts';
import type { CommandRun } from './command-run.ts';
import { boundsOf, type Draft, draftOfOptions } from './draft-of-options.ts';
import { readGivenJson } from './given-file.ts';

type Simulation = AnswerOf<'POST /simulate'>;

const RIGHT = { side: 'right' } as const;

/** Simulates a draft and prints names and clients. */
export async function simulateDraft(run: CommandRun): Promise<0> {
  const { client, screen, isJson } = run;
  const [file] = run.arguments;
  // If the draft is in a file, options can still set the period and the limit.
  const body =
    file === undefined
      ? await draftOfOptions(run)
      : { ...((await readGivenJson(file)) as Draft), ...boundsGiven(run) };
  screen.progress('simulating');
  const simulation = await client.call('POST /simulate', { body }).finally(() => screen.progress(''));
  if (isJson) screen.out(printableJson(simulation, 2));
  else printSimulation(screen, simulation);
  return 0;
}

function boundsGiven(run: CommandRun): Partial<Draft> {
  const { period, limit } = boundsOf(run);
  return { ...(period !== undefined && { period }), ...(run.options['limit'] !== undefined && { limit }) };
}

function printSimulation(screen: Screen, simulation: Simulation): void {
  const { queries, newly_blocked: blocked, newly_allowed: allowed } = simulation;
  for (const { name, rules, invalid_lines: invalid } of simulation.lists)
    printTable(
      screen,
      [{ title: 'LIST' }, { title: 'RULES', ...RIGHT }, { title: 'INVALID', ...RIGHT }],
      [[name, formatCount(rules), invalid]],
    );
  screen.out(
    `${formatCount(queries.judged)} queries evaluated, from ${minute(simulation.from)} to ${minute(simulation.to)} UTC`,
  );
  screen.out(`newly blocked: ${totalsText(blocked)}`);
  screen.out(`newly allowed: ${totalsText(allowed)}`);
  if (!simulation.is_complete) screen.out('some queries of the period were left out');
  printDomains(screen, simulation);
  printClients(screen, simulation);
}

function printDomains(screen: Screen, { domains, domains_total: total }: Simulation): void {
  if (domains.length === 0) return;
  screen.out('');
  printTable(
    screen,
    [
      { title: 'BLOCKED', ...RIGHT },
      { title: 'ALLOWED', ...RIGHT },
      { title: 'NAME' },
      { title: 'BEFORE' },
      { title: 'AFTER' },
      { title: 'RULE' },
    ],
    domains.map(({ domain, newly_blocked: blocked, newly_allowed: allowed, before, after }) => [
      formatCount(blocked),
      formatCount(allowed),
      domain,
      before.status,
      { text: after.status, tone: after.status.startsWith('BLOCKED') ? 'bad' : 'good' } as const,
      after.rule?.rule ?? '',
    ]),
  );
  if (total > domains.length) screen.out(`and ${formatCount(total - domains.length)} more names`);
}

function printClients(screen: Screen, { clients, clients_total: total }: Simulation): void {
  if (clients.length === 0) return;
  screen.out('');
  printTable(
    screen,
    [{ title: 'BLOCKED', ...RIGHT }, { title: 'ALLOWED', ...RIGHT }, { title: 'CLIENT' }, { title: 'NAME' }],
    clients.map(({ ip_address: address, hostname, newly_blocked: blocked, newly_allowed: allowed }) => [
      formatCount(blocked),
      formatCount(allowed),
      address,
      hostname,
    ]),
  );
  if (total > clients.length) screen.out(`and ${formatCount(total - clients.length)} more clients`);
}

function totalsText({ queries, domains, clients }: Simulation['newly_blocked']): string {
  return `${formatCount(queries)} queries for ${formatCount(domains)} names by ${formatCount(clients)} clients`;
}

function minute(timestamp: string): string {
  return timestamp.slice(0, 16).replace('T', ' ');
}
