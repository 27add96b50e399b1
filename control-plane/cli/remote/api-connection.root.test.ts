/**
 * The server that commands contact if root runs them.
 *
 * @needs root
 */
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { refuseStrange } from './api-connection.ts';

const STRANGER = 65_534;

test('a process of root does not connect to a socket of a user who does not own the data directory', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'weir-socket-'));
  const socket = join(dataDir, 'weir.sock');
  refuseStrange(socket, dataDir);
  await writeFile(socket, '');
  refuseStrange(socket, dataDir);
  await chown(socket, STRANGER, STRANGER);
  expect(() => refuseStrange(socket, dataDir)).toThrow(`belongs to user id ${STRANGER}`);
  await chown(dataDir, STRANGER, STRANGER);
  refuseStrange(socket, dataDir);
  await rm(dataDir, { recursive: true });
});
