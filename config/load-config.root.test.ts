/**
 * Tests which configuration file root uses from the working directory.
 *
 * @needs root
 */
import { chown, chmod, lchown, mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { formatFault } from './config-fault.ts';
import { loadConfig, loadUsable } from './load-config.ts';

const STRANGER = 65_534;
const OWNER = 65_533;

describe('Weir as root', () => {
  let cwd = '';
  let file = '';
  beforeEach(async () => {
    cwd = await mkdtemp(join(tmpdir(), 'weir-found-'));
    file = join(cwd, 'config/weir.toml');
    await mkdir(join(cwd, 'config'));
    await mkdir(join(cwd, 'state'));
    await writeFile(file, '[server]\nnode_name = "found"\ndata_dir = "state"\n');
  });
  afterEach(() => rm(cwd, { recursive: true }));

  const load = async (name?: string): Promise<string> => {
    const result = await loadConfig({ file: name, env: {}, cwd });
    return result.ok ? result.value.config.server.node_name : result.faults.map(formatFault).join();
  };

  test('reads a configuration file that root or the owner of the data directory owns', async () => {
    expect(await load()).toBe('found');
    await chown(file, OWNER, OWNER);
    await chown(join(cwd, 'state'), OWNER, OWNER);
    expect(await load()).toBe('found');
  });

  test('refuses, for every command, a file that another user owns, unless the command line names the file', async () => {
    await chown(file, STRANGER, STRANGER);
    expect(await load()).toContain(`it belongs to user id ${STRANGER}`);
    expect(await loadUsable({ env: {}, cwd })).toMatchObject({ isDataDirKnown: false });
    expect(await load('config/weir.toml')).toBe('found');
  });

  test('refuses a configuration file that every user can write to', async () => {
    await chmod(file, 0o666);
    expect(await load()).toContain('every user can write to it');
  });

  test('trusts the owner of the parent directory if the data directory does not exist yet', async () => {
    const state = join(cwd, 'made/state');
    await mkdir(join(cwd, 'made'));
    await writeFile(file, `[server]\nnode_name = "found"\ndata_dir = "${state}"\n`);
    await chown(file, OWNER, OWNER);
    expect(await load()).toContain('it belongs to user id');
    await chown(join(cwd, 'made'), OWNER, OWNER);
    expect(await load()).toBe('found');
  });

  test('refuses a file and its data directory if another user owns, or every user can write to, their folder', async () => {
    for (const path of [file, join(cwd, 'config'), join(cwd, 'state'), cwd])
      await chown(path, STRANGER, STRANGER);
    expect(await load()).toContain(`user id ${STRANGER} owns the folder`);
    await chown(cwd, 0, 0);
    await chmod(cwd, 0o1777);
    expect(await load()).toContain('every user can write the folder');
    expect(await load('config/weir.toml')).toBe('found');
  });

  test('refuses a symbolic link that another user owns, and a file in a directory that another user owns', async () => {
    await rename(file, join(cwd, 'own.toml'));
    await symlink('../own.toml', file);
    expect(await load()).toBe('found');
    await lchown(file, STRANGER, STRANGER);
    expect(await load()).toContain(`it belongs to user id ${STRANGER}`);
    await lchown(file, 0, 0);
    await chown(join(cwd, 'config'), STRANGER, STRANGER);
    expect(await load()).toContain(`it belongs to user id ${STRANGER}`);
  });
});
