import { describe, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { COMMANDS } from './command-table.ts';
import { completionScript } from './completion.ts';

describe('completionScript()', () => {
  /** Completions that bash offers for these words, of which the last one is being typed. */
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
    expect(offered('import', 'a.zip', '--format', 'adg')).toEqual(['adguard_home']);
    expect(offered('users', 'add', 'x', '--role', '')).toEqual(['admin', 'family', 'viewer']);
    expect(offered('restore', 'package-l')).toEqual(['package-lock.json']);
    expect(offered('simulate', '--list', 'package-l')).toEqual(['package-lock.json']);
  });

  test('writes a script for zsh and fish that contains every command', () => {
    expect(completionScript('zsh')).toMatch(/^#compdef weir\n/);
    for (const { name } of COMMANDS)
      expect(completionScript('fish')).toContain(` -a ${name.split(' ').at(-1)} -d '`);
  });
});
