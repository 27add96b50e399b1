import { describe, expect, test } from '@jest/globals';
import { IMPORT_FORMATS } from '../../shared/api/imports-api.ts';
import { commandNamed, COMMANDS } from './command-table.ts';
import type { CommandSpec } from './command-spec.ts';

describe('commandNamed()', () => {
  test('finds each command by its words, and prefers a command of two words to a command of one word', () => {
    for (const { name } of COMMANDS) expect(commandNamed(name.split(' '))?.name).toBe(name);
    expect(commandNamed(['lists', 'refresh', 'x'])?.name).toBe('lists refresh');
    expect(commandNamed(['lists', 'x'])?.name).toBe('lists');
    expect(commandNamed(['x'])).toBeUndefined();
    expect(commandNamed([])).toBeUndefined();
  });
});

describe('the table of commands', () => {
  test('has the same import formats as the API', () => {
    const spec: CommandSpec = COMMANDS.find(({ name }) => name === 'import')!;
    const { choices } = spec.options.find(({ name }) => name === 'format')!;
    expect([...choices!].sort()).toEqual(['auto', ...IMPORT_FORMATS].sort());
  });

  test('uses an option name either always with a value or always without one, and has no option for a token', () => {
    const kinds = new Map<string, boolean>();
    for (const { name, value } of COMMANDS.flatMap((spec: CommandSpec) => spec.options)) {
      expect([name, kinds.get(name) ?? value !== undefined]).toEqual([name, value !== undefined]);
      kinds.set(name, value !== undefined);
    }
    expect(kinds.has('token')).toBe(false);
  });
});
