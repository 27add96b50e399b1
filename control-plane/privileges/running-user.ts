/** Who runs the Weir that another one is to take over from. */
import { join } from 'node:path';
import { loadDescriptorCalls } from '../handover/descriptor-calls.ts';
import { peerUser } from '../handover/descriptor-messages.ts';
import { HANDOVER_SOCKET } from '../handover/handover-format.ts';
import { connectUnix } from '../handover/unix-connection.ts';

const TIMEOUT_MS = 1000;

/** Whether root listens for upgrades in the data directory. Asks the kernel, as the files there may be another user's. */
export function isRunByRoot(dataDir: string): boolean {
  const loaded = loadDescriptorCalls();
  if ('reason' in loaded) return false;
  const { calls } = loaded;
  let socket: number;
  try {
    socket = connectUnix(calls, join(dataDir, HANDOVER_SOCKET), TIMEOUT_MS);
  } catch {
    return false; // Nothing runs there: the start says so.
  }
  try {
    return peerUser(calls, socket) === 0;
  } finally {
    calls.close(socket);
  }
}
