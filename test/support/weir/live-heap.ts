/**
 * Live memory of a Weir server's control plane, measured through Node's inspector. The resident size would also depend
 * on the last garbage collection. Weir is started with `INSPECTED` in its environment.
 */
import { once } from 'node:events';
import { z } from 'zod';
import { within } from '../parts/until.ts';
import type { Weir } from './weir-process.ts';

/** Environment of a Weir server that can be measured. */
export const INSPECTED = { NODE_OPTIONS: '--inspect=127.0.0.1:0' } as const;

const ADDRESS = /Debugger listening on (ws:\S+)/;
const Reply = z.object({ id: z.number(), result: z.unknown() });
const HeapUsage = z.object({ usedSize: z.number(), backingStorageSize: z.number() });

/** Bytes that remain after a garbage collection: objects and their buffers. */
export async function liveHeapBytes(weir: Weir): Promise<number> {
  const socket = new WebSocket(ADDRESS.exec(weir.output)![1]!);
  await within('a connection to the inspector', once(socket, 'open'));
  let calls = 0;
  const call = (method: string): Promise<unknown> => {
    const id = ++calls;
    const replied = new Promise<unknown>((resolve) => {
      const listener = ({ data }: MessageEvent): void => {
        const reply = Reply.safeParse(JSON.parse(String(data)));
        if (!reply.success || reply.data.id !== id) return;
        socket.removeEventListener('message', listener);
        resolve(reply.data.result);
      };
      socket.addEventListener('message', listener);
      socket.send(JSON.stringify({ id, method }));
    });
    return within(`the inspector's reply to ${method}`, replied);
  };
  // The second pass frees objects whose finalizers ran in the first pass.
  for (let pass = 0; pass < 2; pass++) await call('HeapProfiler.collectGarbage');
  const { usedSize, backingStorageSize } = HeapUsage.parse(await call('Runtime.getHeapUsage'));
  socket.close();
  return usedSize + backingStorageSize;
}
