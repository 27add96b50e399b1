import { describe, expect, test } from '@jest/globals';
import { fieldsOf, NOUNS, nounCommands } from './noun-table.ts';

describe('nounCommands()', () => {
  test('returns one command that lists the objects, and one for each operation of the API', () => {
    const names = NOUNS.map((noun) => nounCommands(noun).map(({ name }) => name));
    expect(names).toEqual([
      ...['groups', 'clients', 'rules'].map((noun) => [
        noun,
        ...['show', 'add', 'change', 'remove'].map((verb) => `${noun} ${verb}`),
      ]),
      ...['tokens', 'users'].map((noun) => [
        noun,
        ...['add', 'change', 'remove'].map((verb) => `${noun} ${verb}`),
      ]),
      ['nodes'],
      ['revisions', 'revisions show'],
    ]);
  });

  test('returns an option for each field of the operation, and no other options', () => {
    const groups = NOUNS.find(({ name }) => name === 'groups')!;
    const optionsOf = (verb: 'add' | 'change') => fieldsOf(groups, verb).map(({ name }) => name);
    expect(optionsOf('change')).toEqual(['name', ...optionsOf('add')]);
    for (const noun of NOUNS)
      for (const { name, value, sets } of fieldsOf(noun, 'change'))
        expect([name, value !== undefined || sets !== undefined || name === 'password']).toEqual([
          name,
          true,
        ]);
  });
});
