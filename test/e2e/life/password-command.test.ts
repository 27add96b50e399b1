/** `weir set-password` with and without a running Weir server. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';
import { within } from '../../support/parts/until.ts';
import { httpCall } from '../../support/weir/http-call.ts';
import { makeTempDir, prepareDataDir } from '../../support/weir/data-dir.ts';
import { giveInput } from '../../support/weir/standard-input.ts';
import { ownEnvironment, START_COMMAND, Weir } from '../../support/weir/weir-process.ts';

async function setPassword(weir: Weir, password: string): Promise<{ code: number; output: string }> {
  const [node, start] = START_COMMAND;
  const file = join(weir.tempDir.path, 'weir.toml');
  const command = [...start.slice(0, -1), 'set-password', '--config', file];
  const child = spawn(node, command, { cwd: weir.tempDir.path, env: ownEnvironment() });
  const ended = once(child, 'close');
  const given = giveInput(child.stdin, `${password}\n`);
  const said = Promise.all([text(child.stdout), text(child.stderr)]);
  const output = (await within('the output of weir set-password', said)).join('');
  await given;
  const [code] = (await within('weir set-password to end', ended)) as [number];
  return { code, output };
}

async function logIn(weir: Weir, password: string): Promise<number> {
  const url = `http://127.0.0.1:${String(weir.webPort)}/api/auth/login`;
  return (await httpCall('POST', url, { username: 'admin', password })).status;
}

test('weir set-password takes effect immediately in the running server, and ends all sessions', async () => {
  const tempDir = makeTempDir();
  await prepareDataDir(tempDir.dataDir);
  await using weir = await Weir.start({ tempDir });
  const first = await setPassword(weir, 'the first password');
  expect(first).toEqual({ code: 0, output: 'the password of admin is set\n' });
  expect(await logIn(weir, 'the first password')).toBe(200);
  const url = `http://127.0.0.1:${String(weir.webPort)}/api/groups`;
  const login = await httpCall('POST', url.replace('groups', 'auth/login'), {
    username: 'admin',
    password: 'the first password',
  });
  const cookie = login.headers['set-cookie']![0]!.split(';')[0]!;
  expect((await httpCall('GET', url, undefined, cookie)).status).toBe(200);
  expect(await setPassword(weir, 'the second password')).toMatchObject({ code: 0 });
  expect((await httpCall('GET', url, undefined, cookie)).status).toBe(401);
  expect(await logIn(weir, 'the first password')).toBe(401);
  expect(await logIn(weir, 'the second password')).toBe(200);
  expect(weir.hasEnded).toBe(false);
  await weir.stop();

  expect(await setPassword(weir, 'the third password')).toMatchObject({ code: 0 });
  await using again = await Weir.start({ tempDir });
  expect(await logIn(again, 'the third password')).toBe(200);
  await again.stop();
  tempDir.remove();
});
