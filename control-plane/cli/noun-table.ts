/**
 * Kinds of objects that the command line can list, show, add, change and remove: one row ("noun") for each kind. The
 * verbs and their options are derived from this table; `commands/run-noun.ts` runs them.
 */
import type { OperationName } from '../../shared/api/client/typed-client.ts';
import { type CommandSpec, type OptionSpec, remote } from './command-spec.ts';

export type Verb = 'show' | 'add' | 'change' | 'remove';

/** A collection of the API. */
export interface Collection {
  readonly list: OperationName;
  /** Operations on one row; there is no operation for `show` if the list contains all fields. */
  readonly verbs: Readonly<Partial<Record<Verb, OperationName>>>;
  /** Prefix of the collection's ids, needed for a noun with two collections. */
  readonly idPrefix?: string;
  /** The fields that identify a row, in addition to its id. */
  readonly names: readonly string[];
  /** Whether the list has pages, and can be searched. */
  readonly isPaged?: true;
}

/** A column of the list. It shows the first of its fields that a row has. */
export interface NounColumn {
  readonly title: string;
  readonly fields: readonly string[];
  /** Kind of the value. `group` is an id of a group, which is shown as its name. */
  readonly kind?: 'text' | 'group' | 'moment' | 'count' | 'switch';
}

/** An option that sets a field. */
export interface FieldOption extends OptionSpec {
  readonly field: string;
  /** The value that the option sets if it takes no argument. */
  readonly sets?: boolean;
  /**
   * Kind of the argument. `group`: a name or an id, `none` for null. `clients`: names, addresses or ids, separated by
   * commas, `none` for an empty list.
   */
  readonly kind?: 'group' | 'clients';
  readonly only?: 'add' | 'change';
}

export interface Noun {
  /** Name in the plural; the command without a verb lists the objects. */
  readonly name: string;
  readonly one: string;
  /** Description of the list, as one clause. */
  readonly summary: string;
  readonly collections: readonly [Collection, ...Collection[]];
  readonly columns: readonly NounColumn[];
  readonly fields: readonly FieldOption[];
  /** Arguments of `add`, and a function that converts them to the body for a collection. */
  readonly add?: {
    readonly arguments: string;
    readonly choices?: readonly string[];
    readonly options?: readonly OptionSpec[];
    readonly bodyOf: (given: readonly string[], has: (option: string) => boolean) => AddedBody;
  };
  /** Options of `remove`, which are sent as parameters of the query string. */
  readonly removeOptions?: readonly OptionSpec[];
  readonly examples: Readonly<Partial<Record<Verb | 'list', string>>>;
}

/** Body of `add`, and the index of the collection to which the row is added. */
export interface AddedBody {
  readonly collection: number;
  readonly body: Readonly<Record<string, unknown>>;
}

const GROUP = { name: 'group', value: 'GROUP', field: 'group_id', kind: 'group' } as const;
const COMMENT = { name: 'comment', value: 'TEXT', field: 'comment', help: 'a comment' } as const;
const SWITCHES: readonly FieldOption[] = [
  { name: 'enable', field: 'enabled', sets: true, help: 'enable it' },
  { name: 'disable', field: 'enabled', sets: false, help: 'disable it' },
];
const NEW_NAME = {
  name: 'name',
  value: 'NAME',
  field: 'name',
  help: 'new name',
  only: 'change',
} as const;
const ROLE = { name: 'role', value: 'ROLE', field: 'role' } as const;
const ID: NounColumn = { title: 'ID', fields: ['id'], kind: 'count' };
const NAME: NounColumn = { title: 'NAME', fields: ['name'] };
const IS_ON: NounColumn = { title: 'ENABLED', fields: ['enabled'], kind: 'switch' };

const MAC_ADDRESS = /^[\da-f]{2}([:-])[\da-f]{2}(\1[\da-f]{2}){4}$/i;

export const NOUNS: readonly Noun[] = [
  {
    name: 'groups',
    one: 'group',
    summary: 'list groups',
    collections: [
      {
        list: 'GET /groups',
        verbs: {
          show: 'GET /groups/{id}',
          add: 'POST /groups',
          change: 'PUT /groups/{id}',
          remove: 'DELETE /groups/{id}',
        },
        names: ['name'],
      },
    ],
    columns: [
      ID,
      NAME,
      { title: 'CLIENTS', fields: ['client_count'], kind: 'count' },
      IS_ON,
      { title: 'NO IPV6', fields: ['no_ipv6'], kind: 'switch' },
      { title: 'COMMENT', fields: ['comment'] },
    ],
    fields: [
      NEW_NAME,
      COMMENT,
      ...SWITCHES,
      { name: 'no-ipv6', field: 'no_ipv6', sets: true, help: 'answer AAAA with NODATA' },
      { name: 'ipv6', field: 'no_ipv6', sets: false, help: 'answer AAAA as usual' },
    ],
    add: { arguments: '<name>', bodyOf: ([name]) => ({ collection: 0, body: { name } }) },
    removeOptions: [
      {
        name: 'cascade',
        help: 'also delete its subnets and rules; its clients move to the group of their subnet',
      },
    ],
    examples: { add: 'weir groups add Kids', remove: 'weir groups remove Kids --cascade' },
  },
  {
    name: 'clients',
    one: 'client',
    summary: 'list clients',
    collections: [
      {
        list: 'GET /clients',
        verbs: {
          show: 'GET /clients/{id}',
          add: 'POST /clients',
          change: 'PATCH /clients/{id}',
          remove: 'DELETE /clients/{id}',
        },
        names: ['ip_address', 'mac_address', 'name', 'hostname', 'client_key'],
        isPaged: true,
      },
    ],
    columns: [
      ID,
      { title: 'ADDRESS', fields: ['ip_address'] },
      { title: 'MAC', fields: ['mac_address'] },
      { title: 'NAME', fields: ['name', 'hostname'] },
      { title: 'GROUP', fields: ['group_id'], kind: 'group' },
      { title: 'BY', fields: ['group_source'] },
      { title: 'LAST SEEN (UTC)', fields: ['last_seen'], kind: 'moment' },
      { title: 'QUERIES', fields: ['query_count'], kind: 'count' },
    ],
    fields: [
      { name: 'name', value: 'NAME', field: 'name', help: 'display name' },
      { ...GROUP, help: 'group of the client; none means the group of its subnet' },
      {
        name: 'client-key',
        value: 'KEY',
        field: 'client_key',
        help: 'key with which the client identifies itself',
      },
    ],
    add: {
      arguments: '<address|mac>',
      bodyOf: ([given = '']) => ({
        collection: 0,
        body: MAC_ADDRESS.test(given) ? { mac_address: given } : { ip_address: given },
      }),
    },
    examples: {
      add: 'weir clients add 02:00:5e:10:00:01 --name Tablet --group Kids',
      change: 'weir clients change Tablet --group none',
    },
  },
  {
    name: 'rules',
    one: 'rule',
    summary: 'list domain rules, and regex rules (their IDs begin with r)',
    collections: [
      {
        list: 'GET /managed-domains',
        verbs: {
          show: 'GET /managed-domains/{id}',
          add: 'POST /managed-domains',
          change: 'PUT /managed-domains/{id}',
          remove: 'DELETE /managed-domains/{id}',
        },
        names: ['domain', 'name'],
        isPaged: true,
      },
      {
        list: 'GET /regex-filters',
        verbs: {
          show: 'GET /regex-filters/{id}',
          add: 'POST /regex-filters',
          change: 'PUT /regex-filters/{id}',
          remove: 'DELETE /regex-filters/{id}',
        },
        idPrefix: 'r',
        names: ['pattern', 'name'],
      },
    ],
    columns: [
      ID,
      { title: 'ACTION', fields: ['action'] },
      { title: 'RULE', fields: ['domain', 'pattern'] },
      { title: 'GROUP', fields: ['group_id'], kind: 'group' },
      IS_ON,
      { title: 'COMMENT', fields: ['comment'] },
    ],
    fields: [
      {
        ...{ name: 'action', value: 'ACTION', field: 'action', only: 'change', choices: ['allow', 'deny'] },
        help: 'allow or deny',
      } as const,
      { ...GROUP, help: 'group that it applies to; none means every group' },
      COMMENT,
      ...SWITCHES,
    ],
    add: {
      arguments: '<allow|deny> <domain>',
      choices: ['allow', 'deny'],
      options: [{ name: 'expression', help: 'the domain argument is a regular expression' }],
      bodyOf: ([action, text], has) =>
        has('expression')
          ? { collection: 1, body: { action, pattern: text } }
          : { collection: 0, body: { action, domain: text } },
    },
    examples: {
      add: "weir rules add deny '*.ads.example' --group Kids",
      remove: 'weir rules remove r3',
    },
  },
  {
    name: 'tokens',
    one: 'token',
    summary: 'list API tokens',
    collections: [
      {
        list: 'GET /api-tokens',
        verbs: {
          add: 'POST /api-tokens',
          change: 'PUT /api-tokens/{id}',
          remove: 'DELETE /api-tokens/{id}',
        },
        names: ['name', 'prefix'],
      },
    ],
    columns: [
      ID,
      NAME,
      { title: 'ROLE', fields: ['role'] },
      { title: 'KEY', fields: ['prefix'] },
      { title: 'LAST USED (UTC)', fields: ['last_used_at'], kind: 'moment' },
    ],
    fields: [NEW_NAME, { ...ROLE, choices: ['admin', 'viewer'], help: 'admin (default) or viewer' }],
    add: { arguments: '<name>', bodyOf: ([name]) => ({ collection: 0, body: { name } }) },
    examples: { add: 'weir tokens add Grafana --role viewer' },
  },
  {
    name: 'users',
    one: 'user',
    summary: 'list users',
    collections: [
      {
        list: 'GET /users',
        verbs: { add: 'POST /users', change: 'PATCH /users/{id}', remove: 'DELETE /users/{id}' },
        names: ['username'],
      },
    ],
    columns: [
      ID,
      { title: 'USER NAME', fields: ['username'] },
      { title: 'NAME', fields: ['display_name'] },
      { title: 'ROLE', fields: ['role'] },
      IS_ON,
      { title: 'SECOND FACTOR', fields: ['second_factor'], kind: 'switch' },
    ],
    fields: [
      { name: 'display-name', value: 'NAME', field: 'display_name', help: 'display name' },
      { ...ROLE, choices: ['admin', 'family', 'viewer'], help: 'admin, family or viewer (default)' },
      {
        ...{ name: 'clients', value: 'CLIENTS', field: 'client_ids', kind: 'clients' },
        help: 'for the role family: clients linked to the user, separated by commas; "none" removes all',
      } as const,
      ...SWITCHES,
      {
        ...{ name: 'password', field: 'password', only: 'change' },
        help: 'set a new password, read from the terminal or standard input',
      } as const,
    ],
    add: { arguments: '<username>', bodyOf: ([username]) => ({ collection: 0, body: { username } }) },
    examples: { add: 'weir users add vera --role viewer', change: 'weir users change vera --password' },
  },
  {
    name: 'nodes',
    one: 'node',
    summary: 'list the nodes of the cluster',
    collections: [{ list: 'GET /nodes', verbs: {}, names: ['node'] }],
    columns: [
      { title: 'NODE', fields: ['node'] },
      { title: 'VERSION', fields: ['version'] },
      { title: 'ADDRESS', fields: ['address'] },
      { title: 'PRESENCE', fields: ['presence'] },
      { title: 'STATE', fields: ['state'] },
      { title: 'REVISION', fields: ['policy_revision'], kind: 'count' },
      { title: 'QUERIES/S', fields: ['qps'], kind: 'count' },
      { title: 'LAST SEEN (UTC)', fields: ['last_seen'], kind: 'moment' },
    ],
    fields: [],
    examples: {},
  },
  {
    name: 'revisions',
    one: 'revision',
    summary: 'list policy changes, newest first',
    collections: [{ list: 'GET /revisions', verbs: { show: 'GET /revisions/{id}' }, names: [] }],
    columns: [
      ID,
      { title: 'WHEN (UTC)', fields: ['created_at'], kind: 'moment' },
      { title: 'AUTHOR', fields: ['author'] },
      { title: 'ROLLBACK', fields: ['can_rollback'], kind: 'switch' },
      { title: 'CHANGE', fields: ['summary'] },
    ],
    fields: [],
    examples: { show: 'weir revisions show 42' },
  },
];

/** The options of `add` or `change` that set fields. */
export function fieldsOf(noun: Noun, verb: 'add' | 'change'): FieldOption[] {
  return noun.fields.filter(({ only }) => only === undefined || only === verb);
}

/** The commands of a noun: first the list, then the verbs. */
export function nounCommands(noun: Noun): CommandSpec[] {
  const verbs = (['show', 'add', 'change', 'remove'] as const).filter(
    (verb) => noun.collections[0].verbs[verb] !== undefined,
  );
  const search = { name: 'search', value: 'TEXT', help: `only ${noun.name} that contain this text` };
  return [
    remote({
      name: noun.name,
      summary: noun.summary,
      options: noun.collections[0].isPaged === true ? [search] : [],
    }),
    ...verbs.map((verb) => verbCommand(noun, verb)),
  ];
}

const DOES: Readonly<Record<Verb, string>> = {
  show: 'show a',
  add: 'add a',
  change: 'change a',
  remove: 'remove a',
};

function verbCommand(noun: Noun, verb: Verb): CommandSpec {
  const { add, examples } = noun;
  const example = examples[verb];
  const given = verb === 'add' ? (add?.arguments ?? '') : `<${noun.one}>`;
  const count = given.split(' ').length;
  const options = {
    show: [],
    add: [...(add?.options ?? []), ...fieldsOf(noun, 'add')],
    change: fieldsOf(noun, 'change'),
    remove: noun.removeOptions ?? [],
  };
  const choices = verb === 'add' ? add?.choices : undefined;
  const spec: Parameters<typeof remote>[0] = {
    name: `${noun.name} ${verb}`,
    verbOf: noun.name,
    arguments: given,
    min: count,
    max: count,
    summary: `${DOES[verb]} ${noun.one}${verb === 'add' ? '' : ', given by ID or name'}`,
    options: options[verb],
  };
  return remote({
    ...spec,
    ...(choices === undefined ? {} : { choices }),
    ...(example === undefined ? {} : { examples: [example] }),
  });
}
