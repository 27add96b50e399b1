import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { MemoryLogger } from '../../test/support/parts/memory-logger.ts';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { once } from 'node:events';
import { makeTempDir } from '../../test/support/weir/data-dir.ts';
import type { TempDir } from '../../test/support/weir/data-dir.ts';
import { lockDataDir } from '../storage/db/data-dir-lock.ts';
import { HANDOVER_SOCKET } from './upgrade/handover-format.ts';
import { openDataDir } from './start-handover.ts';

let tempDir: TempDir;
beforeEach(() => {
  tempDir = makeTempDir();
});
afterEach(() => tempDir.remove());

describe('openDataDir()', () => {
  test('locks an unused directory even if Weir was started with the option to take over', async () => {
    const { lock, taking } = await openDataDir(tempDir.dataDir, new MemoryLogger(), true);
    expect(taking).toBeNull();
    expect(() => lockDataDir(tempDir.dataDir)).toThrow(/is in use by another Weir process/);
    lock.release();
  });

  test.each([
    [true, /does not hand it over: connect ENOENT/],
    [false, /is in use by another Weir process(?!.*hand it over)/],
  ])(
    'reports why it does not take over from the process that uses the directory (option to take over: %s)',
    async (reported, why) => {
      const lock = lockDataDir(tempDir.dataDir);
      await expect(openDataDir(tempDir.dataDir, new MemoryLogger(), reported)).rejects.toThrow(why);
      lock.release();
    },
  );

  test('requests no handover of a data directory from before version 0.1.0', async () => {
    mkdirSync(tempDir.dataDir);
    writeFileSync(join(tempDir.dataDir, 'lock'), '');
    const running = createServer();
    let calls = 0;
    running.on('connection', (socket) => {
      calls++;
      socket.destroy();
    });
    await once(running.listen(join(tempDir.dataDir, HANDOVER_SOCKET)), 'listening');
    await expect(openDataDir(tempDir.dataDir, new MemoryLogger(), true)).rejects.toThrow(
      /older than 0\.1\.0/,
    );
    expect(calls).toBe(0);
    running.close();
  });
});
