/** The `weir` command itself, as a process. */
import { expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { until, within } from '../../test/support/parts/until.ts';

const LAUNCHER = join(import.meta.dirname, 'weir');

test('weir starts a process in which SIGUSR1 opens no debugger and which leaves no core file', async () => {
  // The process waits for a password on its standard input.
  const child = spawn(LAUNCHER, ['set-password'], { stdio: ['pipe', 'ignore', 'pipe'] });
  const ended = once(child, 'close');
  const commandLine = (): string[] => readFileSync(`/proc/${child.pid!}/cmdline`, 'utf8').split('\0');
  const words = await until(
    'the launcher to become Weir',
    commandLine,
    (all) => all.includes('set-password') && !all.includes(LAUNCHER),
  );
  expect(words).toContain('--disable-sigusr1');
  expect(readFileSync(`/proc/${child.pid!}/limits`, 'utf8')).toMatch(/^Max core file size +0 +0 /m);
  child.stdin.end('short\n');
  expect(await within('the command to end', ended)).toEqual([1, null]);
});
