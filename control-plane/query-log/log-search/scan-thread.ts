/**
 * Entry point of the thread that reads the query log for the API: reading and decoding blocks takes too long for the
 * main thread. It runs at a low priority and has its own database connections. It switches between requests after each
 * block, and stops a request that is cancelled.
 */
import { getPriority, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { sentLogger } from '../../../shared/threads/sent-logger.ts';
import { BackgroundWork } from '../../storage/db/background-work.ts';
import { fromSentTarget, type SentTarget } from '../../storage/db/database-target.ts';
import { LANES } from './questions.ts';
import type { FromScans, ToScans } from './scan-messages.ts';
import { ScanRun } from './scan-run.ts';

/**
 * Lower priority than the threads that answer queries or write the log, the same as for other readers of the whole log.
 */
const NICENESS = 9;
const MAX_NICENESS = 19;
/** The name of the connections in `pg_stat_activity`. */
const CONNECTION_NAME = 'weir scans';
/** Number of connections: one for each concurrent request. */
const PLACES = LANES.quick.atOnce + LANES.sums.atOnce + LANES.scan.atOnce;

const port = parentPort;
if (port === null) throw new Error('could not start the scan thread: this file runs only as a worker thread');
const send = (message: FromScans): void => port.postMessage(message);
const logger = sentLogger(send);
const runs = new Map<number, ScanRun>();
/** Connections to the database server that the control plane uses, and that server's settings as JSON. */
let work: BackgroundWork | undefined;
let server = '';

/** Connections to `target`; connections to another server are closed, and queries running there fail. */
function over(target: SentTarget): BackgroundWork {
  const text = JSON.stringify(target);
  if (work !== undefined && text === server) return work;
  void work?.end();
  server = text;
  const own = { ...target, config: { ...target.config, application_name: CONNECTION_NAME } };
  work = new BackgroundWork(fromSentTarget(own), logger, { places: PLACES, keepsPlans: true });
  return work;
}

/** Closes every connection; running queries fail. */
function cut(): void {
  work?.cut();
  work = undefined;
}

// Only on Linux, setPriority() changes a single thread; elsewhere it would change the whole process.
if (process.platform === 'linux') setPriority(Math.min(getPriority() + NICENESS, MAX_NICENESS));

port.on('message', (message: ToScans) => {
  switch (message.type) {
    case 'ask': {
      const { id } = message;
      const run = new ScanRun(message, over(message.server), send);
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
      cut();
      return;
    case 'end':
      for (const run of runs.values()) run.cancel();
      cut();
      port.close();
  }
});
