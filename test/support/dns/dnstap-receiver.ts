/**
 * Debian's dnstap receiver, fstrm_capture, and dnstap-ldns, which decodes what it captured.
 *
 * @needs fstrm-bin dnstap-ldns
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { requireProgram } from '../parts/programs.ts';
import { makeTempDir } from '../parts/test-database.ts';
import { until, within } from '../parts/until.ts';

/** A receiver that is listening. */
export class DnstapReceiver {
  private readonly folder = makeTempDir();
  private readonly file = join(this.folder, 'taken.fstrm');
  private readonly path = join(this.folder, 'dnstap.sock');
  private readonly child;
  private readonly ended: Promise<unknown>;

  /** Listens on a local port or a Unix socket. */
  constructor(port?: string) {
    const place = port === undefined ? ['-u', this.path] : ['-a', '127.0.0.1', '-p', port];
    const flags = ['-t', 'protobuf:dnstap.Dnstap', '-w', this.file, ...place];
    this.child = spawn(requireProgram('fstrm_capture'), flags, { stdio: 'ignore' });
    this.ended = once(this.child, 'close');
  }

  /** Waits until the Unix socket exists; returns it as a dnstap target. */
  async target(): Promise<string> {
    await until(`fstrm_capture to listen on ${this.path}`, () => existsSync(this.path));
    return `unix:${this.path}`;
  }

  /** Stops the receiver and returns the captured frames as text. */
  async taken(): Promise<string> {
    await this.end('SIGINT');
    return spawnSync(requireProgram('dnstap-ldns'), ['-r', this.file, '-y']).stdout.toString();
  }

  /** Stops the receiver and deletes its files. */
  async remove(): Promise<void> {
    await this.end('SIGTERM');
    rmSync(this.folder, { recursive: true, force: true });
  }

  private async end(signal: NodeJS.Signals): Promise<void> {
    this.child.kill(signal);
    await within(`fstrm_capture to end after ${signal}`, this.ended);
  }
}
