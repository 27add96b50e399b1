/** A Weir server for another architecture on a processor that qemu-user-static emulates. Needs root. */
import { spawn } from 'node:child_process';
import { copyFileSync, mkdirSync } from 'node:fs';
import { once } from 'node:events';
import { join } from 'node:path';
import { until, within } from '../support/parts/until.ts';
import { freePort } from '../support/weir/free-ports.ts';
import { look, run } from './trial-parts.ts';

const POLL_MS = 500;
/** Time limit of a start and of a stop on an emulated processor. */
const START_MS = 600_000;

/**
 * Starts the arm64 release in a folder of a root as a chroot; resolves once it has answered over DNS and has stopped.
 */
export async function answersEmulated(root: string, release: string): Promise<void> {
  for (const folder of ['proc', 'dev', 'tmp']) mkdirSync(join(root, folder), { recursive: true });
  copyFileSync('/usr/bin/qemu-aarch64-static', join(root, 'tmp/qemu'));
  run('chmod', '755', join(root, 'tmp/qemu'));
  const port = String(await freePort(['127.0.0.1']));
  // The emulator cannot start other programs, so there is no database.
  const settings = {
    WEIR_SERVER_DATA_DIR: '/tmp/data',
    WEIR_SERVER_DNS_PORT: port,
    WEIR_SERVER_WEB_PORT: String(await freePort(['127.0.0.1'])),
    WEIR_SERVER_BIND_ADDRESS: '127.0.0.1',
    WEIR_DATABASE_URL: 'postgres://weir@127.0.0.1:9/weir',
  };
  const node = `/tmp/qemu ${release}/node_modules/node/bin/node --disable-warning=ExperimentalWarning --single-threaded-gc`;
  const own = `mount -t proc proc ${root}/proc; mount --rbind /dev ${root}/dev; exec chroot ${root} ${node} ${release}/dist/main.js start`;
  const child = spawn('unshare', ['--mount', '--propagation', 'private', 'sh', '-c', own], {
    stdio: 'ignore',
    env: { PATH: process.env['PATH'], ...settings },
  });
  const ended = once(child, 'exit');
  const dig = ['+short', '+tries=1', '+time=5', '-p', port, '@127.0.0.1', 'A', 'localhost'];
  await until(
    'the emulated Weir to answer',
    () => {
      if (child.exitCode !== null) throw new Error(`Weir ended with ${String(child.exitCode)}`);
      return look('dig', ...dig);
    },
    (answer) => answer === '127.0.0.1',
    { pauseMs: POLL_MS, withinMs: START_MS },
  );
  child.kill('SIGTERM');
  await within('the emulated Weir to end after SIGTERM', ended, { withinMs: START_MS });
}
