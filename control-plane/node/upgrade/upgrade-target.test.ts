import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { within } from '../../../test/support/parts/until.ts';
import { makeTempDir } from '../../../test/support/weir/data-dir.ts';
import type { TempDir } from '../../../test/support/weir/data-dir.ts';
import { lockDataDir } from '../../storage/db/data-dir-lock.ts';
import type { DataDirLock } from '../../storage/db/data-dir-lock.ts';
import { HandoverChannel } from './handover-channel.ts';
import { HANDOVER_FORMAT, HANDOVER_SOCKET } from './handover-format.ts';
import { UpgradeTarget } from './upgrade-target.ts';

const TIMEOUT_MS = 10_000;
/** Time limit that is long enough for the messages before the missing one. */
const SHORT_MS = 1000;

let tempDir: TempDir;
let server: Server;
let old: DataDirLock;
let taking: UpgradeTarget;
/** Channel of the side that is replaced. */
let talk: HandoverChannel;
let logger: MemoryLogger;

beforeEach(async () => {
  tempDir = makeTempDir();
  logger = new MemoryLogger();
  old = lockDataDir(tempDir.path);
  server = createServer().listen(join(tempDir.path, HANDOVER_SOCKET));
  await once(server, 'listening');
  await begin();
});

async function begin(silenceMs = TIMEOUT_MS): Promise<void> {
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const begun = UpgradeTarget.begin(tempDir.path, '2.0.0', logger, silenceMs);
  talk = new HandoverChannel((await within('the connection', accepted))[0]);
  expect(await talk.expect('take-over', TIMEOUT_MS)).toMatchObject({
    format: HANDOVER_FORMAT,
    version: '2.0.0',
  });
  talk.send({ type: 'welcome', version: '1.0.0', dnsPort: 5353, niceness: -5 });
  taking = await within('the taking over to begin', begun);
}

afterEach(() => {
  talk.end();
  server.close();
  taking.lock.release();
  old.release();
  tempDir.remove();
});

describe('UpgradeTarget', () => {
  test('takes the lock of the data directory when it is free, and reports when its start is complete', async () => {
    expect([taking.dnsPort, taking.niceness]).toEqual([5353, -5]);
    const finished = taking.finish();
    await talk.expect('reading', TIMEOUT_MS);
    talk.send({ type: 'stopped' });
    await talk.expect('go', TIMEOUT_MS);
    old.release();
    talk.send({ type: 'free' });
    await within('the taking over to finish', finished);
    await taking.lock.taken;
    expect(() => lockDataDir(tempDir.path)).toThrow('in use');
    const completed = taking.complete();
    await talk.expect('holding', TIMEOUT_MS);
    talk.end();
    await within('the other process to end', completed);
  });

  test('continues if the other process has released the data directory but does not end', async () => {
    talk.end();
    await begin(SHORT_MS);
    old.release();
    for (const type of ['stopped', 'free']) talk.send({ type });
    await taking.finish();
    await taking.complete();
    expect(() => lockDataDir(tempDir.path)).toThrow('in use');
    expect(logger.lines.map(({ message }) => message)).toContain('the previous process did not end in time');
  });

  test('continues if the other process has died', async () => {
    const finished = taking.finish();
    await talk.expect('reading', TIMEOUT_MS);
    talk.end();
    old.release();
    await within('the taking over to finish', finished);
    expect(() => lockDataDir(tempDir.path)).toThrow('in use');
  });

  test('reports why it fails, and waits until the other process answers queries again', async () => {
    const failed = taking.fail('could not load the policy: no memory');
    expect(await talk.next(TIMEOUT_MS)).toEqual({
      type: 'failed',
      reason: 'could not load the policy: no memory',
    });
    talk.end();
    await within('the other process to read again', failed);
  });

  test('gives up if the other process cancels the upgrade', async () => {
    const finished = taking.finish();
    await talk.expect('reading', TIMEOUT_MS);
    talk.send({ type: 'failed', reason: 'it changed its mind' });
    await expect(finished).rejects.toThrow('the upgrade was rolled back: it changed its mind');
  });

  test('works without sockets if the other process has no sockets to pass', async () => {
    const sockets = taking.sockets();
    await talk.expect('loaded', TIMEOUT_MS);
    talk.send({ type: 'sockets', ticket: 'x', count: 0 });
    expect(await sockets).toBeNull();
  });
});
