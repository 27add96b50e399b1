import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { formatFault } from './config-fault.ts';
import { loadConfig } from './load-config.ts';

describe('loadConfig()', () => {
  let cwd = '';
  beforeEach(async () => {
    cwd = await mkdtemp(join(tmpdir(), 'weir-config-'));
  });
  afterEach(() => rm(cwd, { recursive: true }));

  const nodeName = (name: string): string => `[server]\nnode_name = "${name}"\n`;
  const load = async (file?: string, env: Record<string, string> = {}) => {
    const result = await loadConfig({ file, env, cwd });
    return result.ok
      ? `${result.value.file ?? 'none'}: ${result.value.config.server.node_name}`
      : result.faults.map(formatFault).join('\n');
  };

  test('prefers the file given on the command line, then $WEIR_CONFIG, then ./config/weir.toml', async () => {
    await mkdir(join(cwd, 'config'));
    await writeFile(join(cwd, 'config/weir.toml'), nodeName('third'));
    await writeFile(join(cwd, 'env.toml'), nodeName('second'));
    await writeFile(join(cwd, 'named.toml'), nodeName('first'));
    expect(await load('named.toml', { WEIR_CONFIG: 'env.toml' })).toBe('named.toml: first');
    expect(await load(undefined, { WEIR_CONFIG: 'env.toml' })).toBe('env.toml: second');
    expect(await load(undefined, { WEIR_CONFIG: '' })).toBe('config/weir.toml: third');
    expect(await load()).toBe('config/weir.toml: third');
  });

  test('reads a file by its absolute path', async () => {
    const file = join(cwd, 'a.toml');
    await writeFile(file, nodeName('a'));
    expect(await load(file)).toBe(`${file}: a`);
  });

  test('refuses a missing file that the command line names, even if another configuration file exists', async () => {
    await mkdir(join(cwd, 'config'));
    await writeFile(join(cwd, 'config/weir.toml'), '');
    expect(await load('no.toml')).toBe('no.toml: could not read the configuration file: no such file');
    expect(await load(undefined, { WEIR_CONFIG: 'config/weir.toml/x' })).toBe(
      'config/weir.toml/x: could not read the configuration file: no such file',
    );
  });

  test('reads weir.local.toml in the data directory, and reports the path and the line of each fault in this file', async () => {
    await mkdir(join(cwd, 'config'));
    await mkdir(join(cwd, 'state'));
    const local = join(cwd, 'state/weir.local.toml');
    await writeFile(join(cwd, 'config/weir.toml'), `${nodeName('file')}data_dir = "state"\n`);
    await writeFile(local, `${nodeName('local')}\n[weir]\nreplaced = '{"server.node_name":"file"}'\n`);
    expect(await load()).toBe('config/weir.toml: local');
    await writeFile(join(cwd, 'config/weir.toml'), `${nodeName('edited')}data_dir = "state"\n`);
    expect(await load()).toBe('config/weir.toml: edited');
    await writeFile(local, '[server]\ndata_dir = "/etc"\n');
    expect(await load()).toBe(`${local}:2: server.data_dir: can only be set in the configuration file`);
    await rm(local);
    await symlink('/etc/passwd', local);
    expect(await load()).toBe(`${local}: could not read the configuration file: a link`);
  });

  test('refuses a path that is a directory', async () => {
    expect(await load(cwd)).toBe(`${cwd}: could not read the configuration file: a directory, not a file`);
    await mkdir(join(cwd, 'config/weir.toml'), { recursive: true });
    expect(await load()).toBe(
      'config/weir.toml: could not read the configuration file: a directory, not a file',
    );
  });

  test('refuses bytes that are not UTF-8', async () => {
    await writeFile(join(cwd, 'latin1.toml'), Buffer.from([0x23, 0xe4, 0x0a]));
    expect(await load('latin1.toml')).toBe(
      'latin1.toml: could not read the configuration file: its bytes are not UTF-8',
    );
  });

  test('reports an unreadable file; as root, reads it', async () => {
    const file = join(cwd, 'secret.toml');
    await writeFile(file, nodeName('a'));
    await chmod(file, 0);
    const root = process.getuid?.() === 0;
    expect(await load('secret.toml')).toBe(
      root ? 'secret.toml: a' : 'secret.toml: could not read the configuration file: permission denied',
    );
  });
});
