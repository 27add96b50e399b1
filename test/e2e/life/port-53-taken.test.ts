/**
 * A start on a machine where another DNS server uses port 53.
 *
 * @needs root
 */
import { createSocket } from 'node:dgram';
import type { Socket } from 'node:dgram';
import { once } from 'node:events';
import { describe, expect, test } from '@jest/globals';
import { ADDRESS, expectAnswers, startBare } from '../../support/weir/bare-start.ts';
import { makeTempDir, prepareDataDir } from '../../support/weir/data-dir.ts';

describe('weir next to another DNS server on the same machine', () => {
  let other: Socket;
  test('uses port 5300 if port 53 is in use and no port is configured, and explains why', async () => {
    other = createSocket('udp4').bind(53, ADDRESS);
    await once(other, 'listening');
    const tempDir = makeTempDir();
    await prepareDataDir(tempDir.dataDir);
    const { weir } = await startBare(tempDir.path, tempDir.dataDir);
    await using _ended = weir;
    await weir.untilOutput(/Next:/);
    expect(weir.output).toMatch(/Devices cannot use Weir on port 5300: [^]*Port 53 is in use by /);
    await expectAnswers();
    expect(await weir.end('SIGTERM')).toMatchObject({ code: 0 });
    other.close();
    tempDir.remove();
  });
});
