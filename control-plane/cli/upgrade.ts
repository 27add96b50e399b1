/** Replaces the running server with this release, and prints each step. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { join, resolve } from 'node:path';
import { reasonOf } from '../../shared/errors.ts';
import { HandoverChannel, textField } from '../node/upgrade/handover-channel.ts';
import { HANDOVER_SOCKET, SILENCE_MS } from '../node/upgrade/handover-format.ts';
import { OWN_RELEASE } from '../node/upgrade/successor.ts';
import type { Terminal } from './terminal.ts';

/**
 * Maximum milliseconds between two steps: SILENCE_MS until a process counts as hung, and the same time until it has
 * ended.
 */
const STEP_MS = 2 * SILENCE_MS;

/** Returns the exit status: 0 = replaced, 1 = the old server continues, 3 = there is no server to replace. */
export async function upgradeRunning(
  dataDir: string,
  terminal: Pick<Terminal, 'out' | 'err'>,
): Promise<number> {
  const socket = connect(join(resolve(dataDir), HANDOVER_SOCKET));
  try {
    await once(socket, 'connect');
  } catch (error) {
    terminal.err(`weir: could not replace the running server of ${dataDir}: ${reasonOf(error)}`);
    return 3;
  }
  const talk = new HandoverChannel(socket);
  talk.send({ type: 'upgrade', release: OWN_RELEASE });
  try {
    for (;;) {
      const message = await talk.next(STEP_MS);
      if (message.type === 'step') terminal.out(textField(message, 'text'));
      else if (message.type === 'done') {
        terminal.out(`upgraded to ${textField(message, 'version')}, process ${String(message['pid'])}`);
        return 0;
      } else {
        terminal.err(
          `weir: the upgrade failed, and the running server continues: ${textField(message, 'reason')}`,
        );
        return 1;
      }
    }
  } catch (error) {
    terminal.err(`weir: could not wait for the upgrade: ${reasonOf(error)}`);
    return 1;
  } finally {
    talk.end();
  }
}
