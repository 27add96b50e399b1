import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import express from 'express';
import { chmod, mkdtemp, mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { isLocal } from '../../api/local-requests.ts';
import { startLocalServer } from './local-server.ts';

let folder: string;
let logger: MemoryLogger;
let stops: (() => Promise<void>)[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-local-'));
  logger = new MemoryLogger();
  stops = [];
});

afterEach(async () => {
  for (const stop of stops) await stop();
  await rm(folder, { recursive: true });
});

async function start(dataDir = folder): Promise<void> {
  const app = express();
  app.get('/', (request, response) => void response.send(`local: ${isLocal(request)}`));
  stops.push(await startLocalServer(app, dataDir, logger));
}

async function ask(): Promise<string> {
  const socket = connect(join(folder, 'weir.sock'));
  socket.write('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
  return text(socket);
}

describe('startLocalServer(), the API on a UNIX socket,', () => {
  test('serves the app on a socket for its owner only, and removes the socket at the end', async () => {
    await start();
    expect(await ask()).toContain('local: true');
    const found = await stat(join(folder, 'weir.sock'));
    expect([found.isSocket(), found.mode & 0o777]).toEqual([true, 0o600]);
    await writeFile(join(folder, 'other'), '');
    expect((await stat(join(folder, 'other'))).mode & 0o400).toBe(0o400);
    await rm(join(folder, 'other'));
    await stops.pop()!();
    expect(await readdir(folder)).toEqual([]);
  });

  test('replaces the socket of a dead process', async () => {
    await writeFile(join(folder, 'weir.sock'), 'left');
    await chmod(join(folder, 'weir.sock'), 0o666);
    await start();
    expect(await ask()).toContain('local: true');
    expect((await stat(join(folder, 'weir.sock'))).mode & 0o777).toBe(0o600);
  });

  test.each([
    ['a folder is in the way', () => folder],
    ['the path is too long for a socket', () => join(folder, 'x'.repeat(120))],
  ])('logs a warning and continues if %s', async (_, dataDir) => {
    await mkdir(join(folder, 'weir.sock'));
    await mkdir(dataDir(), { recursive: true });
    await start(dataDir());
    expect(logger.lines.map(({ level }) => level)).toEqual(['warn']);
    expect(logger.text()).toContain('--url');
  });
});
