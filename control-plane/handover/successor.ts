/** The process that is to take over: it is started from the folder of a release. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';

/** The folder of the release that this process runs. */
export const OWN_RELEASE = join(import.meta.dirname, '..', '..');

/** Set by a service manager for this process alone. */
const OWN_VARIABLES = ['LISTEN_FDS', 'LISTEN_PID', 'LISTEN_FDNAMES', 'WATCHDOG_PID'];

/** Runs from its making; it is killed where it does not come to take over. */
export class Successor {
  /** How it ended, in words. */
  readonly ended: Promise<string>;
  private readonly child: ChildProcess;
  private readonly silence: NodeJS.Timeout;
  private wasSilent = false;

  /** Of a release in a folder; killed after `silenceMs` unless it `hasCome()`. Throws where the folder holds no release. */
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
          resolve(`the new process says nothing for ${String(silenceMs / 1000)} s, and was ended`);
        else if (signal === null) resolve(`the new process ended with ${String(code)}; its log says why`);
        else resolve(`the new process was ended by ${signal}`);
      });
    });
    void this.ended.then(() => this.hasCome());
  }

  /** Undefined where it cannot be run. */
  get pid(): number | undefined {
    return this.child.pid;
  }

  /** It may be silent from now on. */
  hasCome(): void {
    clearTimeout(this.silence);
  }

  /** Tells it to stop, and kills it after `withinMs` milliseconds. Resolves when it has ended. */
  stop(withinMs: number): Promise<string> {
    this.child.kill('SIGTERM');
    return this.endWithin(withinMs);
  }

  /** How it ends by itself, or killed after `withinMs` milliseconds. */
  async endWithin(withinMs: number): Promise<string> {
    const late = setTimeout(() => this.kill(), withinMs);
    const end = await this.ended;
    clearTimeout(late);
    return end;
  }

  /** Ends it at once. */
  kill(): void {
    this.child.kill('SIGKILL');
  }
}

/** With the standard output of this process. */
function spawnRelease(release: string, configFile: string | null): ChildProcess {
  const command = join(release, 'control-plane', 'cli', 'weir');
  accessSync(command, constants.X_OK);
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !OWN_VARIABLES.includes(name)),
  );
  const config = configFile === null ? [] : ['--config', configFile];
  return spawn(command, ['start', '--take-over', ...config], {
    stdio: ['ignore', 'inherit', 'inherit'],
    env,
  });
}
