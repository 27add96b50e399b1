/** `weir explain`: explains the answer for a name. */
import type { AnswerOf } from '../../../shared/api/client/typed-client.ts';
import { printable, printableJson } from '../output/printable.ts';
import { toned } from '../output/screen.ts';
import type { Screen } from '../output/screen.ts';
import { printTable } from '../output/text-table.ts';
import type { CommandRun } from './command-run.ts';
import { textOption } from './command-run.ts';

type Explanation = AnswerOf<'GET /explain'>;
type Rule = NonNullable<Explanation['decided_by']>;

const NOT_ACTIVE = {
  other_group: 'not for this group',
  off: 'disabled',
  lifted: 'cancelled by a $badfilter rule',
} as const;

/** Prints every stage with its verdict, and the answer. */
export async function showExplanation(run: CommandRun): Promise<0> {
  const { client, screen, isJson } = run;
  const query = {
    domain: run.arguments[0]!,
    type: textOption(run, 'type'),
    client: textOption(run, 'client'),
  };
  const explanation = await client.call('GET /explain', { query });
  if (isJson) screen.out(printableJson(explanation, 2));
  else printExplanation(screen, explanation);
  return 0;
}

function printExplanation(screen: Screen, explanation: Explanation): void {
  const { domain, type, client, group_id: group, status, decided_by: decision, answer } = explanation;
  const asked = `${printable(domain)} ${printable(type)} for ${printable(client)} in group ${group}`;
  const tone = status.startsWith('BLOCKED') ? 'bad' : 'good';
  screen.out(`${asked}: ${toned(screen, tone, status)}`);
  if (decision !== null) screen.out(`because of ${ruleText(decision)}`);
  screen.out('');
  const rows = explanation.stages.map(({ stage, verdict, rules, detail }) => [
    stage,
    verdict,
    [detail ?? '', ...rules.map(ruleText)].filter((text) => text !== '').join('; '),
  ]);
  printTable(screen, [{ title: 'STAGE' }, { title: 'VERDICT' }, { title: 'FOUND' }], rows);
  screen.out('');
  for (const { source, rule, state } of explanation.lists)
    screen.out(printable(`in list ${source}: ${rule}${state === 'active' ? '' : ` (${NOT_ACTIVE[state]})`}`));
  printServers(screen, explanation.upstreams);
  if (answer === null) screen.out('no answer is sent');
  else screen.out(`answer: ${printable(answer.rcode)}`);
  for (const { name, ttl, type: recordType, data } of answer?.answers ?? [])
    screen.out(`  ${printable(`${name} ${ttl} ${recordType} ${data}`)}`);
}

function printServers(screen: Screen, upstreams: Explanation['upstreams']): void {
  if (upstreams === null) return;
  const { zone, pools, answered_by: server } = upstreams;
  if (zone !== null) screen.out(printable(`forward zone: ${zone}`));
  for (const { name, strategy, servers } of pools) {
    const shown = servers.map(({ address, status }) =>
      status === 'Unhealthy' ? `${address} (unhealthy)` : address,
    );
    screen.out(printable(`upstreams: ${name}, ${strategy}: ${shown.join(', ')}`));
  }
  if (server !== null) screen.out(printable(`answered by ${server}`));
}

function ruleText({ judged, rule, source, line }: Rule): string {
  const place = line === null ? source : `${source}, line ${line}`;
  return printable(`${rule} (${place}) on ${judged}`);
}
