import { describe, expect, test } from '@jest/globals';
import { parseArguments } from './arguments.ts';
import { COMMANDS } from './command-table.ts';

/** A command line, parsed and shortened. */
function read(...argv: readonly string[]): unknown {
  const command = parseArguments(argv);
  switch (command.kind) {
    case 'run':
      return [command.spec.name, command.arguments, command.options];
    case 'help':
      return ['help', command.spec?.name];
    default:
      return command;
  }
}

describe('parseArguments()', () => {
  test.each([
    [['start'], ['start', [], {}]],
    [
      ['start', '--config', 'a.toml'],
      ['start', [], { config: 'a.toml' }],
    ],
    [
      ['--config=a.toml', 'check-config'],
      ['check-config', [], { config: 'a.toml' }],
    ],
    [['set-password'], ['set-password', [], {}]],
    [
      ['explain', 'a.test', '--json'],
      ['explain', ['a.test'], { json: true }],
    ],
    [['lists'], ['lists', [], {}]],
    [
      ['lists', '--no-wait', 'refresh'],
      ['lists refresh', [], { 'no-wait': true }],
    ],
    [
      ['explain', '--', '--json'],
      ['explain', ['--json'], {}],
    ],
    [
      ['tokens', 'add', 'Grafana', '--role', 'viewer'],
      ['tokens add', ['Grafana'], { role: 'viewer' }],
    ],
    [
      ['pause', '10m', '--url', 'https://weir.test'],
      ['pause', ['10m'], { url: 'https://weir.test' }],
    ],
  ])('reads %j', (argv, expected) => {
    expect(read(...argv)).toEqual(expected);
  });

  test.each([
    [['--help'], ['help', undefined]],
    [['-h'], ['help', undefined]],
    [
      ['start', '-h'],
      ['help', 'start'],
    ],
    [
      ['lists', 'refresh', '--help'],
      ['help', 'lists refresh'],
    ],
    [
      ['explain', '--help'],
      ['help', 'explain'],
    ],
    [['--version'], { kind: 'version' }],
  ])('reads %j as a request for help', (argv, expected) => {
    expect(read(...argv)).toEqual(expected);
  });

  const names = COMMANDS.map(({ name }) => name).join(', ');
  test.each([
    [[], `name a subcommand: ${names}`],
    [['stop'], `unknown subcommand "stop"; use one of ${names}`],
    [['start', 'now'], 'unexpected argument "now"'],
    [['start', '--port', '53'], "unknown option '--port'"],
    [['start', '--config'], "option '--config <value>' argument missing"],
    [['start', '--config='], '--config needs FILE'],
    [['start', '--json'], '"weir start" has no option --json'],
    [['status', '--token', 'x'], "unknown option '--token'"],
    [['explain'], '"weir explain" needs <domain>'],
    [['top', 'names'], 'expected domains, blocked, clients, got "names"'],
    [['lists', 'fetch'], 'unexpected argument "fetch"'],
    [['completion', 'csh'], 'expected bash, zsh, fish, got "csh"'],
  ])('refuses %j', (argv, message) => {
    expect(parseArguments(argv)).toEqual({ kind: 'mistake', message });
  });
});
