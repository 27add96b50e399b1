import { describe, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { COMMANDS } from './command-table.ts';
import type { CommandSpec } from './command-table.ts';
import { completionScript } from './completion.ts';
import { helpText } from './help.ts';

describe('helpText()', () => {
  test('has every command, on lines of 80 columns', () => {
    const text = helpText(undefined);
    for (const { name } of COMMANDS) expect(text).toContain(`  weir ${name}`);
    for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
    expect(text).toContain('3 the server\ncannot be reached');
  });

  test.each(COMMANDS.map((spec: CommandSpec) => [spec.name, spec] as const))(
    'tells the options of weir %s',
    (name, spec) => {
      const text = helpText(spec);
      expect(text).toMatch(new RegExp(`^usage: weir ${name}`));
      for (const option of spec.options) expect(text).toContain(`  --${option.name}`);
      for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
    },
  );
});

describe('completionScript()', () => {
  /** What bash offers for words, of which the last is being typed. */
  function offered(...words: readonly string[]): string[] {
    const script = `${completionScript('bash')}
      COMP_WORDS=(weir "$@"); COMP_CWORD=${words.length}; _weir; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const found = execFileSync('bash', ['-c', script, 'bash', ...words]).toString();
    return found.split('\n').filter((word) => word !== '');
  }

  test('completes commands, their words, and options in bash', () => {
    expect(offered('st')).toEqual(['start', 'status']);
    expect(offered('lists', 'r')).toEqual(['refresh']);
    expect(offered('top', '')).toEqual(expect.arrayContaining(['blocked', 'clients', '--period']));
    expect(offered('lists', 'refresh', '--no')).toEqual(['--no-wait']);
    expect(offered('explain', 'a.test', '--ty')).toEqual(['--type']);
    expect(offered('completion', 'z')).toEqual(['zsh']);
  });

  test('writes a script for zsh and for fish with every command', () => {
    expect(completionScript('zsh')).toMatch(/^#compdef weir\n/);
    for (const { name } of COMMANDS)
      expect(completionScript('fish')).toContain(` -a ${name.split(' ').at(-1)} -d '`);
  });
});
