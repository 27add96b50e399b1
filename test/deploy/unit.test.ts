/** The systemd unit, and its agreement with the guide that installs it. */
import { execFile, spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { WAIT_MS } from '../support/parts/until.ts';

const read = (file: string): string => readFileSync(new URL(`../../deploy/${file}`, import.meta.url), 'utf8');
const unit = read('weir.service');
const guide = read('../docs/operations/service.md');

describe('weir.service', () => {
  test('starts Weir with the configuration file named in the guide', () => {
    const [, file = 'none'] = /^ExecStart=.* --config (\S+)$/m.exec(unit) ?? [];
    expect(guide).toMatch(
      new RegExp(`^install .* config/weir\\.toml ${file.replaceAll('.', '\\.')}\\b`, 'm'),
    );
  });

  test('has only the capability for low ports, and hides its data from other users (Pi-hole 2026.04)', () => {
    const set = (key: string): string[] =>
      [...unit.matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map(([, value]) => value!);
    expect(set('User')).not.toEqual(['root']);
    expect([set('AmbientCapabilities'), set('CapabilityBoundingSet')]).toEqual([
      ['CAP_NET_BIND_SERVICE'],
      ['CAP_NET_BIND_SERVICE'],
    ]);
    expect([set('NoNewPrivileges'), set('ProtectSystem'), set('ProtectHome')]).toEqual([
      ['yes'],
      ['strict'],
      ['yes'],
    ]);
    expect(set('StateDirectoryMode')).toEqual(['0700']);
  });

  test('is notified of a new main process, and stores the sockets of a replaced or killed process', () => {
    expect(unit).toMatch(/^Type=notify$/m);
    expect(unit).toMatch(/^FileDescriptorStoreMax=\d{3}$/m);
    const [, command = 'none'] = /^ExecReload=(.*)$/m.exec(unit) ?? [];
    const [, start = 'none'] = /^ExecStart=(.*)$/m.exec(unit) ?? [];
    expect(command).toBe(start.replace(' start ', ' upgrade '));
  });

  test('is not restarted with an invalid configuration', () => {
    expect(unit).toMatch(/^RestartPreventExitStatus=78$/m);
  });

  describe('ExecStop of weir.service', () => {
    const [, command = 'false'] = /^ExecStop=\/bin\/sh -c '(.*)'$/m.exec(unit) ?? [];
    const stop = (env: NodeJS.ProcessEnv): Promise<unknown> =>
      promisify(execFile)('sh', ['-c', command], {
        env: { PATH: process.env['PATH'], ...env },
        timeout: WAIT_MS,
      });

    test('waits for the end of a process that took over, which systemd would kill immediately', async () => {
      const main = spawn('sleep', ['1000']);
      try {
        await stop({ MAINPID: String(main.pid) });
        expect(main.signalCode).toBe('SIGTERM');
      } finally {
        main.kill('SIGKILL');
      }
    });

    test('does not fail if the process has already ended, or ends at the same time', async () => {
      const { pid } = spawnSync('true');
      await expect(stop({})).resolves.toBeDefined();
      await expect(stop({ MAINPID: String(pid) })).resolves.toBeDefined();
    });
  });

  test('runs the release in the folder of the guide as the user named in the guide', () => {
    const [, user = 'none'] = /^User=(\S+)$/m.exec(unit) ?? [];
    const [, folder = 'none'] = /^ExecStart=(\S+)\/control-plane\//m.exec(unit) ?? [];
    expect(guide).toMatch(new RegExp(`^useradd --system .* ${user}$`, 'm'));
    expect(guide).toMatch(new RegExp(`^git clone .* ${folder} `, 'm'));
  });
});
