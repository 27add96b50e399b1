/**
 * The guide for homes: runs the marked code blocks of docs/home.md in order, with a real Weir server.
 *
 * @needs bind9-dnsutils
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';
import { EVERY_ADDRESS, startEchoingUpstream } from '../support/dns/echoing-upstream.ts';
import { within } from '../support/parts/until.ts';
import { Weir } from '../support/weir/weir-process.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const guide = readFileSync(join(ROOT, 'docs', 'home.md'), 'utf8');
const blocks = [...guide.matchAll(/^<!-- run -->\n```sh\n(.*?)^```$/gms)].map(([, commands]) => commands!);
/** Stands in for the machine of the guide: `weir` as a command, DNS on port 53, and a running server. */
const MACHINE = `set -eu
weir() { "${join(ROOT, 'control-plane', 'cli', 'weir')}" "$@"; }
dig() { command dig -p "$PORT" "$@"; }
until weir ready >starting 2>&1; do :; done
set -x
`;

test('all commands in docs/home.md succeed', async () => {
  expect(blocks).toHaveLength(4);
  const upstream = await startEchoingUpstream();
  const weir = await Weir.start({ upstreams: [`127.0.0.1:${String(upstream.port)}`] });
  await weir.untilHealth(({ status }) => status === 'ok');
  const { path } = weir.tempDir;
  const env = { ...process.env, PORT: String(weir.dnsPort), WEIR_CONFIG: join(path, 'weir.toml') };
  const shell = spawn('bash', ['-c', MACHINE + blocks.join('')], { cwd: path, env });
  let log = '';
  shell.stderr.on('data', (chunk: Buffer) => (log += chunk.toString()));
  const ended = Promise.all([text(shell.stdout), once(shell, 'close') as Promise<[number | null]>]);
  const printed = await within('the commands of the guide to end', ended, { lastSeen: () => log })
    .then(([output, [status]]) => {
      if (status !== 0) throw new Error(output + log);
      return output;
    })
    .finally(() => shell.kill('SIGKILL'));
  await weir.stop();
  await upstream.close();
  expect(printed).toMatch(/^ready\n/);
  expect(printed).toContain(`\n${EVERY_ADDRESS}\n`);
  expect(printed).toMatch(/query_log_days.*\b7\b/);
});
