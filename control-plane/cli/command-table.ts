/** Every subcommand of `weir` with its arguments, options and words for people. Parsing, help and completion follow it. */

import type { ImportFormat } from '../../shared/api/imports-api.ts';
import { CONFIG, type CommandSpec, here, remote } from './command-spec.ts';
import { NOUNS, nounCommands } from './noun-table.ts';

const PERIOD = { name: 'period', value: 'TIME', help: 'such as 30m, 24h (default), 7d' } as const;
const DRY_RUN = { name: 'dry-run', help: 'tell what would change, and change nothing' } as const;
const PASSPHRASE = {
  name: 'passphrase-file',
  value: 'FILE',
  help: 'its first line is the passphrase; else it is asked for, or read from standard input',
} as const;
/** As the API knows them, in a list that needs no schemas. */
const FORMATS = [
  ...['auto', 'pihole', 'adguard_home', 'technitium'],
  ...['blocky', 'nextdns', 'controld', 'dnsmasq', 'hosts'],
] as const satisfies readonly (ImportFormat | 'auto')[];
const CLIENT = { name: 'client', value: 'ADDRESS', help: 'only this client or network' } as const;

/** All commands, in the order of the help. */
export const COMMANDS: readonly CommandSpec[] = [
  {
    ...here('start', 'answers DNS, and serves the dashboard and the API'),
    options: [
      CONFIG,
      { name: 'take-over', help: 'from the server that runs on the data directory, without losing a query' },
    ],
  },
  {
    ...here('upgrade', 'has the running server replaced by this release, without losing a query'),
    examples: ['/opt/weir-1.3/control-plane/cli/weir upgrade'],
  },
  here('check-config', 'tells what is wrong with the configuration, one line each'),
  here(
    'set-password',
    "sets the administrator's password; reads it from the terminal or one line of standard input",
  ),
  here('ready', 'asks the node over DNS whether it is ready, as load balancers do; fails where it is not'),
  remote({
    name: 'status',
    summary: 'tells how the server is, and the figures of 24 hours; fails where it is degraded',
  }),
  remote({
    name: 'explain',
    arguments: '<domain>',
    least: 1,
    most: 1,
    summary: 'tells why a name is answered as it is',
    options: [
      { name: 'type', value: 'TYPE', help: 'the type of the query, A by default' },
      { name: 'client', value: 'ADDRESS', help: 'the client that would ask, 127.0.0.1 by default' },
    ],
    examples: ['weir explain ads.example.org --client 192.0.2.7'],
  }),
  remote({
    name: 'top',
    arguments: '[domains|blocked|clients]',
    most: 1,
    choices: ['domains', 'blocked', 'clients'],
    summary: 'lists the names asked or blocked most, or the busiest clients',
    options: [PERIOD, CLIENT, { name: 'limit', value: 'N', help: 'lines, 10 by default' }],
    examples: ['weir top blocked --period 7d --limit 20'],
  }),
  remote({
    name: 'tail',
    summary: 'shows queries as they are answered, until Ctrl-C',
    options: [
      CLIENT,
      { name: 'domain', value: 'TEXT', help: 'only names with this part' },
      { name: 'type', value: 'TYPE', help: 'only queries of this type' },
      { name: 'status', value: 'STATUS', help: 'only this status, such as BLOCKED_LIST' },
    ],
    examples: ['weir tail --client 192.0.2.0/24 --status BLOCKED_LIST'],
  }),
  remote({ name: 'lists', summary: 'lists the sources of block and allow lists' }),
  remote({
    name: 'lists refresh',
    summary: 'fetches all lists now, and waits for them',
    options: [{ name: 'no-wait', help: 'only ask for it' }],
  }),
  remote({
    name: 'pause',
    arguments: '[time]',
    most: 1,
    summary: 'switches blocking off, for a time or until it is resumed',
    examples: ['weir pause 10m', 'weir pause 1h30m'],
  }),
  remote({ name: 'resume', summary: 'ends a pause: the configuration decides again' }),
  remote({
    name: 'import',
    arguments: '<file>',
    least: 1,
    most: 1,
    takesFiles: true,
    summary:
      "takes over another program's settings from its export, and reports each item; - is standard input",
    options: [
      {
        name: 'format',
        value: 'FORMAT',
        help: `whose export it is: ${FORMATS.join(', ')}`,
        choices: FORMATS,
      },
      {
        name: 'settings',
        value: 'KEYS',
        help: 'set these keys that the dry run lists, separated by commas, or none; without it, those that it marks',
      },
      {
        name: 'answers',
        value: 'ANSWERS',
        help: 'answers to the questions of the dry run, such as starting_list:keep, separated by commas',
      },
      DRY_RUN,
    ],
    examples: [
      'weir import pi-hole-teleporter.zip --dry-run',
      'weir import teleporter.zip --settings none --answers starting_list:keep',
    ],
  }),
  remote({
    name: 'backup',
    arguments: '[file]',
    most: 1,
    takesFiles: true,
    summary: 'writes all that people have set to a file, or prints it',
    options: [
      {
        name: 'secrets',
        help: 'with certificates, second factors, hashes and credentials, encrypted with a passphrase',
      },
      PASSPHRASE,
      {
        name: 'full',
        help: 'the whole embedded database with the query log, on this machine, while Weir runs',
      },
    ],
    examples: ['weir backup weir.json', 'weir backup --secrets weir.json', 'weir backup --full weir.copy'],
  }),
  remote({
    name: 'restore',
    arguments: '<file>',
    least: 1,
    most: 1,
    takesFiles: true,
    summary: 'sets everything as a backup says; - is standard input',
    options: [
      DRY_RUN,
      PASSPHRASE,
      { name: 'full', help: 'a full copy into an empty data directory, before Weir is started there' },
    ],
    examples: ['weir restore weir.json --dry-run'],
  }),
  remote({
    name: 'simulate',
    arguments: '[draft.json]',
    most: 1,
    takesFiles: true,
    summary: 'tells which logged queries a draft would newly block or allow; stores nothing',
    options: [
      { name: 'deny', value: 'NAMES', help: 'names to deny, with commas between; *.x is x and all below it' },
      { name: 'allow', value: 'NAMES', help: 'names to allow' },
      { name: 'regex', value: 'PATTERN', help: 'an expression to deny' },
      { name: 'list', value: 'LIST', help: 'a block list to add, a URL or a file' },
      { name: 'drop', value: 'IDS', help: 'sources to leave out, by their ids' },
      { name: 'service', value: 'IDS', help: 'services to block, for --group' },
      { name: 'group', value: 'ID', help: 'the group that the draft is for; all groups unless given' },
      PERIOD,
      { name: 'limit', value: 'N', help: 'names and clients that are shown, 20 by default' },
    ],
    examples: ['weir simulate --list https://example.org/list.txt --period 7d'],
  }),
  remote({
    name: 'cache flush',
    summary: 'drops answers from the cache: of a name with all below it, or all',
    options: [
      { name: 'domain', value: 'NAME', help: 'only this name and all below it' },
      { name: 'type', value: 'TYPE', help: 'only answers of this type' },
    ],
    examples: ['weir cache flush --domain example.org'],
  }),
  remote({
    name: 'config get',
    arguments: '[key]',
    most: 1,
    summary: 'prints the configuration without its secrets',
    examples: ['weir config get server.web_port'],
  }),
  remote({
    name: 'remove-second-factor',
    arguments: '[user]',
    most: 1,
    summary: 'lets a user, or the administrator, log in with the password alone again',
  }),
  remote({
    name: 'config set',
    arguments: '<key> <value>',
    least: 2,
    most: 2,
    summary: 'changes a key, in force at once unless it needs a restart; lists are divided by commas',
    examples: ['weir config set blocking.mode nxdomain', 'weir config set dns.bootstrap 192.0.2.1,192.0.2.2'],
  }),
  remote({ name: 'config reload', summary: 'has the server read its configuration file again' }),
  ...NOUNS.flatMap(nounCommands),
  remote({
    name: 'revisions rollback',
    arguments: '<revision>',
    least: 1,
    most: 1,
    summary: 'sets the policy as it was at a revision, and undoes the changes since',
    verbOf: 'revisions',
    options: [{ name: 'yes', help: 'ask nothing' }],
    examples: ['weir revisions rollback 42'],
  }),
  {
    ...here('completion', 'prints a script that completes commands and options', false),
    arguments: '<bash|zsh|fish>',
    least: 1,
    most: 1,
    choices: ['bash', 'zsh', 'fish'],
    examples: ['weir completion bash > /etc/bash_completion.d/weir'],
  },
];

/** The command of these words, the longest name first; undefined if there is none. */
export function commandNamed(words: readonly string[]): CommandSpec | undefined {
  const names = [words.slice(0, 2).join(' '), words[0] ?? ''];
  for (const name of names) {
    const found = COMMANDS.find((one) => one.name === name);
    if (found !== undefined) return found;
  }
  return undefined;
}
