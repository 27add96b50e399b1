/**
 * The network of this machine, which all suites share. Chromium drops every connection when an interface comes or goes
 * (ERR_NETWORK_CHANGED): suites that make interfaces have the network alone, those with a browser share it.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Longer than all suites with a browser take together. */
const PATIENCE_SECS = 1800;

/** Waits until this suite may use the network so; resolves with what ends the use, which the end of the suite also does. */
export async function holdNetwork(use: 'shared' | 'alone'): Promise<() => Promise<void>> {
  const lock = join(process.env['WEIR_TEST_RUN'] ?? tmpdir(), 'network.lock');
  const mode = use === 'alone' ? '--exclusive' : '--shared';
  // It says that it holds the lock, and does so until its input ends. It is one process, as what it started would keep the lock.
  const options = [mode, '--no-fork', '--timeout', String(PATIENCE_SECS)];
  const holder = spawn('flock', [...options, lock, 'sh', '-c', 'echo held; exec cat'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(holder, 'close');
  const [said] = (await Promise.race([once(holder.stdout, 'data'), ended])) as [unknown];
  if (!Buffer.isBuffer(said))
    throw new Error(`wait for the network of this machine: flock ${mode} ${lock} ended with ${String(said)}`);
  return async () => {
    holder.stdin.end();
    await ended;
  };
}
