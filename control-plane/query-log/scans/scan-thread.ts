/**
 * Entry of the thread that answers questions about the query log: reading and decoding blocks takes long, and the control
 * plane must not stand still for it. It runs at a low priority and has database connections of its own. Between two
 * blocks other questions have their turn, and a question that is cancelled ends.
 */
import { getPriority, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { LogDatabase } from './log-database.ts';
import type { FromScans, ToScans } from './scan-messages.ts';
import { ScanRun } from './scan-run.ts';

/** Lower than all that answers and the log itself, like other readers of the whole log. */
const NICENESS = 9;
const MOST = 19;

const port = parentPort;
if (port === null) throw new Error('start scans: this file runs only as a worker thread');
const send = (message: FromScans): void => port.postMessage(message);
const database = new LogDatabase(send);
const runs = new Map<number, ScanRun>();

// Only on Linux is this the priority of the thread alone.
if (process.platform === 'linux') setPriority(Math.min(getPriority() + NICENESS, MOST));

port.on('message', (message: ToScans) => {
  switch (message.type) {
    case 'ask': {
      const { id } = message;
      const run = new ScanRun(message, database.over(message.server), send);
      runs.set(id, run);
      void run.ended.then(() => runs.delete(id));
      return;
    }
    case 'more':
      runs.get(message.id)?.more();
      return;
    case 'cancel':
      runs.get(message.id)?.cancel();
      return;
    case 'database-lost':
      database.cut();
      return;
    case 'end':
      for (const run of runs.values()) run.cancel();
      database.cut();
      port.close();
  }
});
