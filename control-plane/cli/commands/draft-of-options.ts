/** Converts the options of `weir simulate` to a draft. Pure, except that it may read the file of a list. */
import type { CallOf } from '../../../shared/api/client/typed-client.ts';
import { Misuse } from '../remote/api-connection.ts';
import { textOption } from './command-run.ts';
import type { CommandRun } from './command-run.ts';
import { readGiven } from './given-file.ts';

/** The draft in the form of the API. */
export type Draft = NonNullable<CallOf<'POST /simulate'>['body']>;

const DEFAULT_LIMIT = 20;

/** The draft that the options describe; throws Misuse if they change nothing. */
export async function draftOfOptions(run: Pick<CommandRun, 'options'>): Promise<Draft> {
  const group = idsOf(textOption(run, 'group'))[0] ?? null;
  const services = partsOf(textOption(run, 'service'));
  if (services.length > 0 && group === null) throw new Misuse('--service needs --group');
  const deny = partsOf(textOption(run, 'deny')).map((domain) => rule(domain, 'deny', group));
  const allow = partsOf(textOption(run, 'allow')).map((domain) => rule(domain, 'allow', group));
  const list = textOption(run, 'list');
  const pattern = textOption(run, 'regex');
  const drop = idsOf(textOption(run, 'drop'));
  const isEmpty = deny.length + allow.length + services.length + drop.length === 0;
  if (isEmpty && list === undefined && pattern === undefined)
    throw new Misuse('specify a change, such as --deny ads.example.org, or a file with a draft');
  return {
    ...boundsOf(run),
    lists: { add: list === undefined ? [] : [await listOf(list, group)], drop },
    managed_domains: { add: [...deny, ...allow] },
    regex_filters: { add: pattern === undefined ? [] : [{ pattern, group_id: group }] },
    services: { block: services.map((id) => ({ service_id: id, group_id: group ?? 0 })) },
  };
}

/** The period and the limit of a simulation. */
export function boundsOf(run: Pick<CommandRun, 'options'>): Pick<Draft, 'period' | 'limit'> {
  const period = textOption(run, 'period');
  const limit = textOption(run, 'limit');
  if (limit !== undefined && !/^\d{1,4}$/.test(limit))
    throw new Misuse(`--limit: expected a number, got "${limit}"`);
  return {
    ...(period !== undefined && { period }),
    limit: limit === undefined ? DEFAULT_LIMIT : Number(limit),
  };
}

function rule(domain: string, action: 'allow' | 'deny', group: number | null) {
  return { domain, action, group_id: group };
}

async function listOf(list: string, group: number | null) {
  const written = { name: list.slice(0, 200), group_ids: group === null ? [] : [group] };
  if (/^[a-z]+:\/\//i.test(list)) return { url: list, ...written };
  return { text: Buffer.from(await readGiven(list)).toString('utf8'), ...written };
}

function partsOf(text: string | undefined): string[] {
  return (text ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

function idsOf(text: string | undefined): number[] {
  return partsOf(text).map((part) => {
    if (!/^\d{1,9}$/.test(part)) throw new Misuse(`expected ids such as 3 or 3,5, got "${part}"`);
    return Number(part);
  });
}
