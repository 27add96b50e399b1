/**
 * The network of this machine, which all suites share. Chromium closes every connection when an interface appears or
 * disappears (ERR_NETWORK_CHANGED). So suites that create interfaces use the network exclusively, and suites with a
 * browser share it.
 */
import { afterAll, beforeAll, expect } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { within } from '../parts/until.ts';
import { commandOf } from './holder.ts';

/**
 * Time-out of a suite that waits for others. A suite that shares the network waits in `beforeAll` for the suite with
 * exclusive use. A suite that needs exclusive use waits for all that share it while its module loads, because jest does
 * not limit that time.
 */
const TIMEOUT_MS = { shared: 200_000, alone: 1_200_000 } as const;

/**
 * Waits until this suite may use the network in this way; resolves with a function that ends the use. The use also ends
 * with the suite.
 */
export async function holdNetwork(use: 'shared' | 'alone'): Promise<() => Promise<void>> {
  const lock = join(process.env['WEIR_TEST_RUN'] ?? tmpdir(), 'network.lock');
  const mode = use === 'alone' ? '--exclusive' : '--shared';
  const suite = basename(expect.getState().testPath ?? 'no suite');
  // The process reports when it has the lock, and keeps the lock until its input ends. It must be a single process,
  // because a child would keep the lock. `usersOf` reads the suite's name from its arguments.
  const holder = spawn('flock', [mode, '--no-fork', lock, 'sh', '-c', 'echo held; read _', suite], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(holder, 'close');
  const release = async (): Promise<void> => {
    holder.stdin.end();
    await within(`flock of ${suite} to end`, ended);
  };
  const what = `${suite} to have the network ${use === 'alone' ? 'alone' : 'with other browsers'}`;
  const limit = { withinMs: TIMEOUT_MS[use], lastSeen: () => usersOf(lock) };
  try {
    const [said] = (await within(what, Promise.race([once(holder.stdout, 'data'), ended]), limit)) as [
      unknown,
    ];
    if (!Buffer.isBuffer(said)) throw new Error(`flock ${mode} ${lock} ended with ${String(said)}`);
  } catch (error) {
    holder.kill();
    throw error;
  }
  return release;
}

/** Gives this suite its own lock, for tests of the lock. */
export function useOwnLock(): void {
  const run = process.env['WEIR_TEST_RUN'];
  const folder = mkdtempSync(join(tmpdir(), 'weir-lock-'));
  beforeAll(() => {
    process.env['WEIR_TEST_RUN'] = folder;
  });
  afterAll(() => {
    if (run === undefined) delete process.env['WEIR_TEST_RUN'];
    else process.env['WEIR_TEST_RUN'] = run;
    rmSync(folder, { recursive: true });
  });
}

/** The suites that hold the lock or wait for it, from the kernel's list of their processes (proc_locks(5)). */
function usersOf(lock: string): string[] {
  const inode = `:${String(statSync(lock).ino)} `;
  const lines = readFileSync('/proc/locks', 'utf8').split('\n');
  return lines
    .filter((line) => line.includes(inode))
    .map((line) => {
      const [, isWaiting, mode, pid] = /^\d+: *(-> )?FLOCK +\S+ +(\S+) +(\d+)/.exec(line) ?? [];
      const suite = commandOf(pid ?? '').at(-2);
      return `${suite ?? line} ${isWaiting === undefined ? 'has' : 'waits for'} it (${String(mode)})`;
    });
}
