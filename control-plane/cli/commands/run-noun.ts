/**
 * Runs commands that consist of a noun, with or without a verb, such as `weir groups` and `weir clients add 192.0.2.7`.
 */
import type { TypedClient } from '../../../shared/api/client/typed-client.ts';
import { type Collection, fieldsOf, type Noun, type NounColumn, NOUNS, type Verb } from '../noun-table.ts';
import { printable, printableJson } from '../output/printable.ts';
import { formatCount } from '../output/quantities.ts';
import { printTable } from '../output/text-table.ts';
import { Misuse } from '../remote/api-connection.ts';
import type { CommandRun, RunCommand } from './command-run.ts';
import { textOption } from './command-run.ts';
import { typedSecret } from './typed-secret.ts';

/** A row of a collection, with the fields of the API. */
type Row = Readonly<Record<string, unknown>>;

/** A row with its collection. */
interface Found {
  readonly collection: Collection;
  readonly row: Row;
}

/** Rows per page: the maximum of the API. */
const PAGE_ROWS = 1000;

/** Prints the list of a noun. */
async function listNoun(run: CommandRun, noun: Noun): Promise<0> {
  const search = textOption(run, 'search');
  const lists = await Promise.all(
    noun.collections.map(async (collection) =>
      (await rowsOf(run.client, collection, search))
        .filter((row) => collection.isPaged === true || isFound(row, collection, search))
        .map((row) => ({ collection, row })),
    ),
  );
  const found = lists.flat();
  if (run.isJson) return printJson(run, found.map(withNamedId));
  const groups = await groupNames(run.client, noun);
  const columns = noun.columns.map(({ title, kind }) => ({
    title,
    ...(kind === 'count' ? ({ side: 'right' } as const) : {}),
  }));
  const rows = found.map((one) => noun.columns.map((column) => cellOf(withNamedId(one), column, groups)));
  printTable(run.screen, columns, rows);
  return 0;
}

/** Prints all fields of one row. */
async function showNoun(run: CommandRun, noun: Noun): Promise<0> {
  const found = await find(run, noun);
  const row = await ask(run.client, found.collection, 'show', { params: { id: found.row['id'] } });
  if (run.isJson) return printJson(run, row);
  const fields = Object.entries(row as Row);
  const width = Math.max(...fields.map(([name]) => name.length));
  for (const [name, value] of fields) run.screen.out(`${name.padEnd(width)}  ${formatValue(value)}`);
  return 0;
}

/** Adds a row. For a token, only its key is printed to standard output, so that `> token-file` saves the key. */
async function addNoun(run: CommandRun, noun: Noun): Promise<0> {
  const { collection: place, body } = noun.add!.bodyOf(run.arguments, (name) => run.options[name] === true);
  const collection = noun.collections[place]!;
  const secret = noun.name === 'users' ? { password: await newPassword(run) } : {};
  const fields = await fieldsGiven(run, noun, 'add');
  const row = (await ask(run.client, collection, 'add', { body: { ...body, ...fields, ...secret } })) as Row;
  if (run.isJson) return printJson(run, row);
  const done = `added ${noun.one} ${labelOf({ collection, row })}`;
  if (typeof row['key'] !== 'string') run.screen.out(done);
  else {
    run.screen.err(`weir: ${done}; its key is shown only once`);
    run.screen.out(row['key']);
  }
  return 0;
}

/** Changes the given fields. */
async function changeNoun(run: CommandRun, noun: Noun): Promise<0> {
  const body = await fieldsGiven(run, noun, 'change');
  const isPassword = run.options['password'] === true;
  if (Object.keys(body).length === 0 && !isPassword) {
    const options = fieldsOf(noun, 'change').map(({ name }) => `--${name}`);
    throw new Misuse(`specify what to change: ${options.join(', ')}`);
  }
  const found = await find(run, noun);
  const secret = isPassword ? { password: await newPassword(run) } : {};
  const call = { params: { id: found.row['id'] }, body: { ...body, ...secret } };
  const row = (await ask(run.client, found.collection, 'change', call)) as Row;
  if (run.isJson) return printJson(run, row);
  run.screen.out(`changed ${noun.one} ${labelOf({ ...found, row })}`);
  return 0;
}

/** Removes a row. */
async function removeNoun(run: CommandRun, noun: Noun): Promise<0> {
  const found = await find(run, noun);
  const set = (noun.removeOptions ?? []).filter(({ name }) => run.options[name] === true);
  const query = Object.fromEntries(set.map(({ name }) => [name, true]));
  await ask(run.client, found.collection, 'remove', { params: { id: found.row['id'] }, query });
  if (!run.isJson) run.screen.out(`removed ${noun.one} ${labelOf(found)}`);
  return 0;
}

/** The row that the argument identifies, by its id or by a name that no other row has. */
async function find({ client, ...run }: CommandRun, noun: Noun): Promise<Found> {
  const given = run.arguments[0]!;
  for (const collection of noun.collections) {
    const { idPrefix = '' } = collection;
    const id = given.startsWith(idPrefix) ? given.slice(idPrefix.length) : '';
    if (!/^\d{1,15}$/.test(id)) continue;
    if (collection.verbs.show !== undefined)
      return { collection, row: (await ask(client, collection, 'show', { params: { id } })) as Row };
    const row = (await rowsOf(client, collection, undefined)).find((one) => String(one['id']) === id);
    if (row !== undefined) return { collection, row };
  }
  const lists = noun.collections.map(async (collection) =>
    (await rowsOf(client, collection, given))
      .filter((row) => collection.names.some((name) => isSame(row[name], given)))
      .map((row) => ({ collection, row })),
  );
  const [found, ...others] = (await Promise.all(lists)).flat();
  if (found === undefined) throw new Misuse(`${noun.one} "${given}" does not exist`);
  if (others.length === 0) return found;
  const ids = [found, ...others].map((one) => withNamedId(one)['id']);
  throw new Misuse(`${ids.length} ${noun.name} have the name "${given}": use an id, ${ids.join(' or ')}`);
}

/** All rows of a collection; if the collection is paged, only rows that contain this text. */
async function rowsOf(
  client: TypedClient,
  collection: Collection,
  search: string | undefined,
): Promise<readonly Row[]> {
  if (collection.isPaged !== true) return (await call(client, collection.list, {})) as Row[];
  const rows: Row[] = [];
  for (;;) {
    const query = { search, limit: PAGE_ROWS, offset: rows.length };
    const { data, total } = (await call(client, collection.list, { query })) as {
      data: Row[];
      total: number;
    };
    rows.push(...data);
    if (data.length === 0 || rows.length >= total) return rows;
  }
}

function newPassword(run: CommandRun): Promise<string> {
  return typedSecret(run, {
    prompt: 'new password (8 to 256 characters):',
    what: 'password',
    mustRepeat: true,
  });
}

/** Fields of the body according to the options; `none` becomes null. */
async function fieldsGiven(
  run: CommandRun,
  noun: Noun,
  verb: 'add' | 'change',
): Promise<Record<string, unknown>> {
  const body: Record<string, unknown> = {};
  for (const { name, value, field, sets, kind } of fieldsOf(noun, verb)) {
    const given = run.options[name];
    if (given === undefined || (value === undefined && sets === undefined)) continue;
    if (field in body) throw new Misuse(`--${name} and its opposite were both given`);
    if (kind === 'group') body[field] = await groupId(run.client, String(given));
    else if (kind === 'clients') body[field] = await clientIds(run.client, String(given));
    else body[field] = sets ?? given;
  }
  return body;
}

async function groupId(client: TypedClient, given: string): Promise<number | null> {
  if (given.toLowerCase() === 'none') return null;
  if (/^\d{1,15}$/.test(given)) return Number(given);
  const group = (await client.call('GET /groups')).find(({ name }) => isSame(name, given));
  if (group === undefined) throw new Misuse(`group "${given}" does not exist`);
  return group.id;
}

async function clientIds(client: TypedClient, given: string): Promise<number[]> {
  if (given.toLowerCase() === 'none') return [];
  const ids: number[] = [];
  for (const name of given.split(',').map((part) => part.trim())) {
    if (/^\d{1,15}$/.test(name)) {
      ids.push(Number(name));
      continue;
    }
    const { data } = await client.call('GET /clients', { query: { search: name, limit: 1000 } });
    const found = data.filter((one) =>
      [one.ip_address, one.mac_address, one.name, one.hostname, one.client_key].some(
        (text) => text !== null && isSame(text, name),
      ),
    );
    if (found[0] === undefined) throw new Misuse(`client "${name}" does not exist`);
    if (found.length > 1) throw new Misuse(`several clients have the name "${name}"; use the id`);
    ids.push(found[0].id);
  }
  return ids;
}

/** Names of the groups by id, if a column shows a group. */
async function groupNames(client: TypedClient, noun: Noun): Promise<ReadonlyMap<unknown, string>> {
  if (!noun.columns.some(({ kind }) => kind === 'group')) return new Map();
  return new Map((await client.call('GET /groups')).map(({ id, name }) => [id, name]));
}

function cellOf(row: Row, { fields, kind }: NounColumn, groups: ReadonlyMap<unknown, string>): string | null {
  const value = fields.map((field) => row[field]).find((one) => one !== undefined && one !== null) ?? null;
  if (kind === 'group')
    return value === null ? 'every group' : (groups.get(value) ?? `group ${JSON.stringify(value)}`);
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') return null;
  if (kind === 'moment') return String(value).slice(0, 16).replace('T', ' ');
  if (kind === 'switch') return value === true ? 'yes' : 'no';
  return kind === 'count' && typeof value === 'number' ? formatCount(value) : String(value);
}

/** The row, with its id in the form that users type. */
function withNamedId({ collection: { idPrefix }, row }: Found): Row {
  return idPrefix === undefined ? row : { ...row, id: idPrefix + String(row['id']) };
}

function labelOf(found: Found): string {
  const name = found.collection.names
    .map((field) => found.row[field])
    .find((value) => typeof value === 'string');
  return `"${printable(name ?? '')}" (id ${String(withNamedId(found)['id'])})`;
}

function isFound(row: Row, { names }: Collection, search: string | undefined): boolean {
  if (search === undefined) return true;
  return names.some((name) => String(row[name]).toLowerCase().includes(search.toLowerCase()));
}

function isSame(value: unknown, given: string): boolean {
  return typeof value === 'string' && value.toLowerCase() === given.toLowerCase();
}

function formatValue(value: unknown): string {
  return typeof value === 'string' ? printable(value) : printableJson(value);
}

function printJson({ screen }: CommandRun, value: unknown): 0 {
  screen.out(printableJson(value, 2));
  return 0;
}

function ask(client: TypedClient, collection: Collection, verb: Verb, given: object): Promise<unknown> {
  return call(client, collection.verbs[verb]!, given);
}

/**
 * Sends a request. The types of the operation are unknown here, because it is from the table; the server validates the
 * request.
 */
function call(client: TypedClient, operation: Collection['list'], given: object): Promise<unknown> {
  return (client.call as (name: string, given: object) => Promise<unknown>).call(client, operation, given);
}

/** The commands of all nouns. */
export function nounRuns(): [string, RunCommand][] {
  const verbs = { show: showNoun, add: addNoun, change: changeNoun, remove: removeNoun } as const;
  return NOUNS.flatMap((noun) => [
    [noun.name, (run: CommandRun) => listNoun(run, noun)] as [string, RunCommand],
    ...Object.entries(verbs).map(([verb, act]): [string, RunCommand] => [
      `${noun.name} ${verb}`,
      (run) => act(run, noun),
    ]),
  ]);
}
