import { describe, expect, test } from '@jest/globals';
import { parseArguments } from './arguments.ts';

describe('parseArguments()', () => {
  test.each([
    [['start'], { kind: 'start', file: undefined }],
    [['start', '--config', 'a.toml'], { kind: 'start', file: 'a.toml' }],
    [['--config=a.toml', 'check-config'], { kind: 'check-config', file: 'a.toml' }],
    [['set-password'], { kind: 'set-password', file: undefined }],
    [['--help'], { kind: 'help' }],
    [['start', '-h'], { kind: 'help' }],
    [['--version'], { kind: 'version' }],
  ])('parseArguments() reads %j', (argv, expected) => {
    expect(parseArguments(argv)).toEqual(expected);
  });

  test.each([
    [[], 'name a subcommand: start, check-config, set-password'],
    [['stop'], 'no subcommand "stop"; there are start, check-config, set-password'],
    [['start', 'now'], 'unexpected argument "now"'],
    [['start', '--port', '53'], "unknown option '--port'"],
    [['start', '--config'], "option '--config <value>' argument missing"],
    [['start', '--config='], '--config needs the name of a file'],
  ])('parseArguments() refuses %j', (argv, message) => {
    expect(parseArguments(argv)).toEqual({ kind: 'mistake', message });
  });
});
