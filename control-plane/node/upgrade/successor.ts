/** Starts and stops the process that takes over, from the directory of a release. */
import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';

/** The directory of this process's release. */
export const OWN_RELEASE = join(import.meta.dirname, '..', '..', '..');

/** Variables that a service manager set only for this process. */
const OWN_VARIABLES = ['LISTEN_FDS', 'LISTEN_PID', 'LISTEN_FDNAMES', 'WATCHDOG_PID'];

/** Maximum length of the reported error text of an invalid configuration. */
const MAX_FAULT = 2000;

/**
 * Checks whether a release can read the configuration with which it would be started, because the process that starts
 * later may not be able to report errors. Rejects with the errors, or with the reason why the release cannot be run.
 */
export function checkRelease(release: string, configFile: string | null, withinMs: number): Promise<void> {
  const command = commandOf(release);
  const options = { env: environment(), timeout: withinMs, killSignal: 'SIGKILL' } as const;
  return new Promise((resolve, reject) => {
    execFile(command, ['check-config', ...configOption(configFile)], options, (error, stdout, stderr) => {
      if (error === null) return resolve();
      const faults = (stderr || stdout).trim().slice(0, MAX_FAULT);
      const what = error.killed === true ? `no answer in ${String(withinMs / 1000)} s` : faults;
      reject(new Error(`the new release refuses to start: ${what || error.message}`, { cause: error }));
    });
  });
}

/** A process that takes over. It runs from its creation, and is killed if it does not take over in time. */
export class Successor {
  /** Resolves with the reason when the process has ended. */
  readonly ended: Promise<string>;
  private readonly child: ChildProcess;
  private readonly silence: NodeJS.Timeout;
  private wasSilent = false;

  /**
   * Starts a release in a directory; the process is killed after `silenceMs`, unless `hasCome()` is called earlier.
   * Throws if the directory has no release.
   */
  constructor(release: string, configFile: string | null, silenceMs: number) {
    this.child = spawnRelease(release, configFile);
    this.silence = setTimeout(() => {
      this.wasSilent = true;
      this.kill();
    }, silenceMs);
    this.ended = new Promise((resolve) => {
      this.child.on('error', ({ message }) => resolve(`the new process cannot be run: ${message}`));
      this.child.on('exit', (code, signal) => {
        if (this.wasSilent)
          resolve(`the new process was silent for ${String(silenceMs / 1000)} s, and was terminated`);
        else if (signal === null)
          resolve(`the new process ended with ${String(code)}; see its log for the reason`);
        else resolve(`the new process was terminated by ${signal}`);
      });
    });
    void this.ended.then(() => this.hasCome());
  }

  /** Process id; undefined if the release cannot be run. */
  get pid(): number | undefined {
    return this.child.pid;
  }

  /** Records that the process has contacted this one, so that it is not killed for silence. */
  hasCome(): void {
    clearTimeout(this.silence);
  }

  /** Requests the process to stop, and kills it after `withinMs` milliseconds. Resolves when it has ended. */
  stop(withinMs: number): Promise<string> {
    this.child.kill('SIGTERM');
    return this.endWithin(withinMs);
  }

  /**
   * Waits for the end of the process, and kills it after `withinMs` milliseconds; resolves with the reason of its end.
   */
  async endWithin(withinMs: number): Promise<string> {
    const late = setTimeout(() => this.kill(), withinMs);
    const end = await this.ended;
    clearTimeout(late);
    return end;
  }

  /** Kills the process immediately. */
  kill(): void {
    this.child.kill('SIGKILL');
  }
}

/** Starts a release, which shares the standard output of this process. */
function spawnRelease(release: string, configFile: string | null): ChildProcess {
  return spawn(commandOf(release), ['start', '--take-over', ...configOption(configFile)], {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: environment(),
  });
}

/** The command of a release; throws if the directory contains no release. */
function commandOf(release: string): string {
  const command = join(release, 'control-plane', 'cli', 'weir');
  accessSync(command, constants.X_OK);
  return command;
}

function environment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !OWN_VARIABLES.includes(name)));
}

function configOption(configFile: string | null): string[] {
  return configFile === null ? [] : ['--config', configFile];
}
