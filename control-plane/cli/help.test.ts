import { describe, expect, test } from '@jest/globals';
import { COMMANDS } from './command-table.ts';
import type { CommandSpec } from './command-spec.ts';
import { helpText } from './help.ts';

describe('helpText()', () => {
  test('lists every command, on lines of at most 80 columns', () => {
    const text = helpText(undefined);
    for (const { name, verbOf } of COMMANDS)
      if (verbOf === undefined) expect(text).toContain(`  weir ${name}`);
      else
        expect(text.replaceAll(/\s+/g, ' ')).toMatch(
          new RegExp(`weir ${verbOf} [^;]*; more: [a-z, ]*${name.split(' ')[1]}`),
        );
    for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
    expect(text).toContain('3 the server cannot be\nreached');
  });

  test.each(COMMANDS.map((spec: CommandSpec) => [spec.name, spec] as const))(
    'lists the options of weir %s',
    (name, spec) => {
      const text = helpText(spec);
      expect(text).toMatch(new RegExp(`^usage: weir ${name}`));
      for (const option of spec.options) expect(text).toContain(`  --${option.name}`);
      for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
    },
  );
});
