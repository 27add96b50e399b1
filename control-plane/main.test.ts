import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { within } from '../test/support/parts/until.ts';
import { version } from './version.ts';

const COMMAND = join(import.meta.dirname, 'cli/weir');

/** Runs the real command as a process of its own. */
function weir(args: readonly string[], options: { cwd: string; env?: Record<string, string> }) {
  const env = { PATH: process.env['PATH'], ...options.env };
  const child = spawn(COMMAND, args, { cwd: options.cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
  const ended = once(child, 'close') as Promise<[number | null]>;
  return within(
    `weir ${args.join(' ')} to end`,
    ended.then(([status]) => ({ status, out, err })),
    { lastSeen: () => ({ out, err }) },
  );
}

describe('weir', () => {
  let cwd = '';
  beforeAll(async () => {
    cwd = await mkdtemp(join(tmpdir(), 'weir-main-'));
    await writeFile(join(cwd, 'good.toml'), '[server]\nweb_port = 8081\n');
    await writeFile(join(cwd, 'bad.toml'), '[server]\nweb_port = "8081"\nbogus = 1\n');
  });
  afterAll(() => rm(cwd, { recursive: true }));

  test('weir check-config accepts a good file, from any folder', async () => {
    expect(await weir(['check-config', '--config', 'good.toml'], { cwd })).toEqual({
      status: 0,
      out: 'good.toml: ok (1 key set)\n',
      err: '',
    });
  });

  test.each(['check-config', 'start', 'set-password'])(
    'weir %s tells every fault of a bad file, a line each, and fails',
    async (subcommand) => {
      const ended = await weir([subcommand, '--config', 'bad.toml'], {
        cwd,
        env: { WEIR_CACHE_ENABLED: '?' },
      });
      expect({ status: ended.status, out: ended.out }).toEqual({ status: 1, out: '' });
      expect(ended.err.trimEnd().split('\n')).toEqual([
        'bad.toml:2: server.web_port: expected a whole number from 0 to 65535, got "8081"',
        expect.stringMatching(/^bad\.toml:3: server\.bogus: no such key; /),
        'environment: WEIR_CACHE_ENABLED: expected true or false, got "?"',
      ]);
    },
  );

  test('weir --version and --help answer on standard output', async () => {
    expect(await weir(['--version'], { cwd })).toEqual({ status: 0, out: `${version}\n`, err: '' });
    const help = await weir(['--help'], { cwd });
    expect({ status: help.status, err: help.err }).toEqual({ status: 0, err: '' });
    expect(help.out).toContain('weir check-config');
  });

  test('weir ends with status 2 on a command line that makes no sense', async () => {
    const ended = await weir(['stop'], { cwd });
    expect({ status: ended.status, out: ended.out }).toEqual({ status: 2, out: '' });
    expect(ended.err).toContain('no subcommand "stop"');
  });
});
