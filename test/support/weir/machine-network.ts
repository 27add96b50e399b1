/**
 * The network of this machine, which all suites share. Chromium drops every connection when an interface comes or goes
 * (ERR_NETWORK_CHANGED): suites that make interfaces have the network alone, those with a browser share it.
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
 * How long a suite waits for the others. A suite that shares the network waits in `beforeAll`, for one suite that has it
 * alone. A suite that wants it alone waits while its module loads, without a time limit of jest, for all that share it.
 */
const PATIENCE_MS = { shared: 200_000, alone: 1_200_000 } as const;

/** Waits until this suite may use the network so; resolves with what ends the use, which the end of the suite also does. */
export async function holdNetwork(use: 'shared' | 'alone'): Promise<() => Promise<void>> {
  const lock = join(process.env['WEIR_TEST_RUN'] ?? tmpdir(), 'network.lock');
  const mode = use === 'alone' ? '--exclusive' : '--shared';
  const suite = basename(expect.getState().testPath ?? 'no suite');
  // It reports that it holds the lock, and holds it until its input ends. It is one process, as a child would keep the
  // lock. The suite's name is there for `usersOf`.
  const holder = spawn('flock', [mode, '--no-fork', lock, 'sh', '-c', 'echo held; read _', suite], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(holder, 'close');
  const release = async (): Promise<void> => {
    holder.stdin.end();
    await within(`flock of ${suite} to end`, ended);
  };
  const what = `${suite} to have the network ${use === 'alone' ? 'alone' : 'with other browsers'}`;
  const limit = { withinMs: PATIENCE_MS[use], lastSeen: () => usersOf(lock) };
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

/** Gives this suite a lock that no other suite waits for, for tests of the lock. */
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

/** The suites that hold the lock or wait for it, as the kernel lists their processes (proc_locks(5)). */
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
