/** All subcommands of `weir` with their arguments, options and help texts, for parsing, help and completion. */

import type { ImportFormat } from '../../shared/api/imports-api.ts';
import { CONFIG, type CommandSpec, here, remote } from './command-spec.ts';
import { NOUNS, nounCommands } from './noun-table.ts';

const PERIOD = { name: 'period', value: 'TIME', help: 'such as 30m, 24h (default), 7d' } as const;
const DRY_RUN = { name: 'dry-run', help: 'show what would change without changing it' } as const;
const PASSPHRASE = {
  name: 'passphrase-file',
  value: 'FILE',
  help: 'file whose first line is the passphrase; by default it is read from the terminal or standard input',
} as const;
/** The formats of the API; they are repeated here, so that no schemas are loaded. */
const FORMATS = [
  ...['auto', 'pihole', 'adguard_home', 'technitium'],
  ...['blocky', 'nextdns', 'controld', 'dnsmasq', 'hosts'],
] as const satisfies readonly (ImportFormat | 'auto')[];
const CLIENT = { name: 'client', value: 'ADDRESS', help: 'only this client or network' } as const;

/** All commands, in the order of the help. */
export const COMMANDS: readonly CommandSpec[] = [
  {
    ...here('start', 'answer DNS, and serve the dashboard and the API'),
    options: [
      CONFIG,
      {
        name: 'take-over',
        help: 'take over from the server that uses this data directory, without dropping queries',
      },
    ],
  },
  {
    ...here('upgrade', 'upgrade the running server to this release without dropping queries'),
    examples: ['/opt/weir-1.3/control-plane/cli/weir upgrade'],
  },
  here('check-config', 'check the configuration, and print one line for each error'),
  here(
    'set-password',
    "set the administrator's password, read from the terminal or a line of standard input",
  ),
  here('ready', 'ask the node over DNS whether it is ready, as load balancers do; exits 1 if not'),
  remote({
    name: 'status',
    summary: 'show server health and 24-hour statistics; exits 1 if degraded',
  }),
  remote({
    name: 'explain',
    arguments: '<domain>',
    min: 1,
    max: 1,
    summary: 'explain the answer for a name',
    options: [
      { name: 'type', value: 'TYPE', help: 'query type, A by default' },
      { name: 'client', value: 'ADDRESS', help: 'client to explain for, 127.0.0.1 by default' },
    ],
    examples: ['weir explain ads.example.org --client 192.0.2.7'],
  }),
  remote({
    name: 'top',
    arguments: '[domains|blocked|clients]',
    max: 1,
    choices: ['domains', 'blocked', 'clients'],
    summary: 'list the most frequently queried or blocked names, or the most active clients',
    options: [PERIOD, CLIENT, { name: 'limit', value: 'N', help: 'lines, 10 by default' }],
    examples: ['weir top blocked --period 7d --limit 20'],
  }),
  remote({
    name: 'tail',
    summary: 'show queries as they are answered, until Ctrl-C',
    options: [
      CLIENT,
      { name: 'domain', value: 'TEXT', help: 'only names that contain this text' },
      { name: 'type', value: 'TYPE', help: 'only queries of this type' },
      { name: 'status', value: 'STATUS', help: 'only this status, such as BLOCKED_LIST' },
    ],
    examples: ['weir tail --client 192.0.2.0/24 --status BLOCKED_LIST'],
  }),
  remote({ name: 'lists', summary: 'list the blocklists and allowlists' }),
  remote({
    name: 'lists refresh',
    summary: 'update all lists now, and wait for the result',
    options: [{ name: 'no-wait', help: 'do not wait' }],
  }),
  remote({
    name: 'pause',
    arguments: '[time]',
    max: 1,
    summary: 'pause blocking for a duration, or until it is resumed',
    examples: ['weir pause 10m', 'weir pause 1h30m'],
  }),
  remote({ name: 'resume', summary: 'resume blocking' }),
  remote({
    name: 'import',
    arguments: '<file>',
    min: 1,
    max: 1,
    takesFiles: true,
    summary:
      'import the settings of another program from its export, and report each item; - reads standard ' +
      'input',
    options: [
      {
        name: 'format',
        value: 'FORMAT',
        help: `program that made the export: ${FORMATS.join(', ')}`,
        choices: FORMATS,
      },
      {
        name: 'settings',
        value: 'KEYS',
        help: 'comma-separated keys of the settings to import, or none; by default those that the dry run selects',
      },
      {
        name: 'answers',
        value: 'ANSWERS',
        help: 'comma-separated answers to the questions of the dry run, such as starting_list:keep',
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
    max: 1,
    takesFiles: true,
    summary: 'write a backup of all settings to a file, or print it',
    options: [
      {
        name: 'secrets',
        help: 'include certificates, second factors, password hashes and credentials, encrypted with a passphrase',
      },
      PASSPHRASE,
      {
        name: 'full',
        help: 'copy the whole embedded database, including the query log, on this machine while Weir runs',
      },
    ],
    examples: ['weir backup weir.json', 'weir backup --secrets weir.json', 'weir backup --full weir.copy'],
  }),
  remote({
    name: 'restore',
    arguments: '<file>',
    min: 1,
    max: 1,
    takesFiles: true,
    summary: 'restore a backup; - reads standard input',
    options: [
      DRY_RUN,
      PASSPHRASE,
      {
        name: 'full',
        help: 'restore a full copy into an empty data directory, before Weir is started there',
      },
    ],
    examples: ['weir restore weir.json --dry-run'],
  }),
  remote({
    name: 'simulate',
    arguments: '[draft.json]',
    max: 1,
    takesFiles: true,
    summary:
      'show which logged queries a draft of rules would newly block or allow, without changing anything',
    options: [
      {
        name: 'deny',
        value: 'NAMES',
        help: 'comma-separated names to block; *.x is x and its subdomains',
      },
      { name: 'allow', value: 'NAMES', help: 'names to allow' },
      { name: 'regex', value: 'PATTERN', help: 'a regex to block' },
      { name: 'list', value: 'LIST', help: 'a blocklist to add: a URL or a file' },
      { name: 'drop', value: 'IDS', help: 'IDs of lists to leave out' },
      { name: 'service', value: 'IDS', help: 'IDs of services to block for --group' },
      { name: 'group', value: 'ID', help: 'apply the draft to this group; by default to all groups' },
      PERIOD,
      { name: 'limit', value: 'N', help: 'maximum number of names and clients to show, 20 by default' },
    ],
    examples: ['weir simulate --list https://example.org/list.txt --period 7d'],
  }),
  remote({
    name: 'cache flush',
    summary: 'clear the cache, or the answers for a name and its subdomains',
    options: [
      { name: 'domain', value: 'NAME', help: 'only this name and its subdomains' },
      { name: 'type', value: 'TYPE', help: 'only answers of this type' },
    ],
    examples: ['weir cache flush --domain example.org'],
  }),
  remote({
    name: 'config get',
    arguments: '[key]',
    max: 1,
    summary: 'print the configuration without secrets',
    examples: ['weir config get server.web_port'],
  }),
  remote({
    name: 'remove-second-factor',
    arguments: '[user]',
    max: 1,
    summary: 'remove the second factor of a user, or of the administrator',
  }),
  remote({
    name: 'config set',
    arguments: '<key> <value>',
    min: 2,
    max: 2,
    summary: 'change a key; lists are comma-separated',
    options: [{ name: 'force', help: 'also store pools whose servers do not answer' }],
    examples: ['weir config set blocking.mode nxdomain', 'weir config set dns.bootstrap 192.0.2.1,192.0.2.2'],
  }),
  remote({ name: 'config reload', summary: 'reload the configuration file' }),
  ...NOUNS.flatMap(nounCommands),
  remote({
    name: 'revisions rollback',
    arguments: '<revision>',
    min: 1,
    max: 1,
    summary: 'roll the policy back to a revision',
    verbOf: 'revisions',
    options: [{ name: 'yes', help: 'do not ask for confirmation' }],
    examples: ['weir revisions rollback 42'],
  }),
  {
    ...here('completion', 'print a shell completion script', false),
    arguments: '<bash|zsh|fish>',
    min: 1,
    max: 1,
    choices: ['bash', 'zsh', 'fish'],
    examples: ['weir completion bash > /etc/bash_completion.d/weir'],
  },
];

/** The command with these first words, trying the longest name first; undefined if no command matches. */
export function commandNamed(words: readonly string[]): CommandSpec | undefined {
  const names = [words.slice(0, 2).join(' '), words[0] ?? ''];
  for (const name of names) {
    const found = COMMANDS.find((one) => one.name === name);
    if (found !== undefined) return found;
  }
  return undefined;
}
