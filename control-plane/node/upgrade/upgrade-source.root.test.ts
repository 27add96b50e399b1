/** @needs root */
import { spawn } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';
import { NodeState } from '../../../shared/threads/messages.ts';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { makeTempDir } from '../../../test/support/weir/data-dir.ts';
import { loadDescriptorCalls } from './descriptor-calls.ts';
import { HANDOVER_SOCKET } from './handover-format.ts';
import { UpgradeSource } from './upgrade-source.ts';

/** Id of the user `nobody`, who exists on every Linux system. */
const STRANGER = 65_534;
const never = (): Promise<never> => Promise.reject(new Error('the other user was let in'));

test('UpgradeSource refuses another user even if its socket is open to all users', async () => {
  const native = loadDescriptorCalls();
  const tempDir = makeTempDir();
  const steps = { prepare: never, stopReading: never, readAgain: never, leave: never };
  const handing = await UpgradeSource.start(
    {
      ...{ logger: new MemoryLogger(), version: '1.0.0', dnsPort: 53, niceness: 0, configFile: null },
      ...{ silenceMs: 10_000, ownRelease: '/nonexistent', nodeState: () => NodeState.READY },
      calls: 'calls' in native ? native.calls : null,
      ...steps,
      keepAnswering: never,
      gone: () => undefined,
    },
    tempDir.path,
  );
  try {
    const path = join(tempDir.path, HANDOVER_SOCKET);
    chmodSync(tempDir.path, 0o755);
    chmodSync(path, 0o666);
    const program = `require('net').connect(${JSON.stringify(path)}).pipe(process.stdout)`;
    const stranger = spawn(process.execPath, ['--eval', program], {
      ...{ uid: STRANGER, gid: STRANGER },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    expect(await text(stranger.stdout)).toMatch(/user 65534 is not the user that runs Weir/);
  } finally {
    handing.close();
    tempDir.remove();
  }
});
