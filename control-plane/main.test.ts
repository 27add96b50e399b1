import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { freePort } from '../test/support/weir/free-ports.ts';
import { within } from '../test/support/parts/until.ts';
import { version } from './host/version.ts';

const COMMAND = join(import.meta.dirname, 'cli/weir');

/** Runs the real command as a separate process. */
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

  test('check-config accepts a valid configuration file, from any folder', async () => {
    expect(await weir(['check-config', '--config', 'good.toml'], { cwd })).toEqual({
      status: 0,
      out: 'good.toml: ok (1 key set)\n',
      err: '',
    });
  });

  test.each([
    ['check-config', 1],
    ['start', 78],
    ['set-password', 1],
  ])(
    '%s reports every fault of an invalid file, one per line, and exits with %i',
    async (subcommand, exitStatus) => {
      const ended = await weir([subcommand, '--config', 'bad.toml'], {
        cwd,
        env: { WEIR_CACHE_ENABLED: '?' },
      });
      expect({ status: ended.status, out: ended.out }).toEqual({ status: exitStatus, out: '' });
      expect(ended.err.trimEnd().split('\n')).toEqual([
        'bad.toml:2: server.web_port: expected a whole number from 0 to 65535, got "8081"',
        expect.stringMatching(/^bad\.toml:3: server\.bogus: no such key; /),
        'environment: WEIR_CACHE_ENABLED: expected true or false, got "?"',
      ]);
    },
  );

  test.each([
    ['the file', 'format = "json"\n', {}],
    ['the environment', '', { WEIR_LOGGING_FORMAT: 'json' }],
  ])('start writes each configuration fault as JSON if %s sets that format', async (_where, key, env) => {
    const text = `[logging]\n${key}[server]\nweb_port = "8081"\nbogus = 1\n`;
    await writeFile(join(cwd, 'json.toml'), text);
    const { status, err } = await weir(['start', '--config', 'json.toml'], { cwd, env });
    const lines = err.trimEnd().split('\n');
    expect(status).toBe(78);
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      { level: 'error', timestamp: expect.any(String), message: expect.stringContaining('web_port') },
      { level: 'error', timestamp: expect.any(String), message: expect.stringContaining('bogus') },
    ]);
  });

  test('start logs a configuration fault with the priority of the systemd journal', async () => {
    const log = await open(join(cwd, 'journal'), 'w');
    const { dev, ino } = await log.stat({ bigint: true });
    const env = { PATH: process.env['PATH'], JOURNAL_STREAM: `${dev}:${ino}` };
    const child = spawn(COMMAND, ['start', '--config', 'bad.toml'], {
      ...{ cwd, env },
      stdio: ['ignore', 'ignore', log.fd],
    });
    await within('weir start to end', once(child, 'close'));
    await log.close();
    expect(await readFile(join(cwd, 'journal'), 'utf8')).toMatch(/^<3>bad\.toml:2: server\.web_port: /);
  });

  test('ready and status use only the address of the node from an invalid configuration file', async () => {
    const dnsPort = await freePort(['127.0.0.1']);
    const text = `[server]\nbogus = 1\ndata_dir = "none"\nbind_address = ["127.0.0.1"]\ndns_port = ${dnsPort}\n`;
    await writeFile(join(cwd, 'server.toml'), text);
    const ready = await weir(['ready', '--config', 'server.toml'], { cwd });
    expect(ready.err).toMatch(new RegExp(`^weir: 127\\.0\\.0\\.1 port ${dnsPort} does not answer`));
    expect((await weir(['status', '--config', 'server.toml'], { cwd })).err).not.toContain('bogus');
    await writeFile(join(cwd, 'lost.toml'), '[server]\ndata_dir = 5\n');
    expect((await weir(['status', '--config', 'lost.toml'], { cwd })).err).toContain(
      'lost.toml:2: server.data_dir',
    );
  });

  test('--version and --help write to standard output', async () => {
    expect(await weir(['--version'], { cwd })).toEqual({ status: 0, out: `${version}\n`, err: '' });
    const help = await weir(['--help'], { cwd });
    expect({ status: help.status, err: help.err }).toEqual({ status: 0, err: '' });
    expect(help.out).toContain('weir check-config');
  });

  test('exits with status 2 for an invalid command line', async () => {
    const ended = await weir(['stop'], { cwd });
    expect({ status: ended.status, out: ended.out }).toEqual({ status: 2, out: '' });
    expect(ended.err).toContain('unknown subcommand "stop"');
  });
});
