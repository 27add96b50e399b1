/**
 * Entry point of the log thread: reads the log rings of the DNS threads, replaces ids and indexes in records with
 * texts, and collects, compresses and stores the rows, or spools them. API requests and the log never wait for each
 * other.
 */
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { addressToText } from '../../shared/net/ip.ts';
import { reasonOf } from '../../shared/errors.ts';
import { sentLogger } from '../../shared/threads/sent-logger.ts';
import { ProbeWatch } from '../clients/probes/probe-watch.ts';
import { LogDrain } from '../query-log/drain/log-drain.ts';
import type { Dnstap } from '../query-log/dnstap/dnstap.ts';
import type { QueryLogRow } from '../query-log/rows/row.ts';
import { LogWriter } from '../query-log/store/log-writer.ts';
import { ownRowsOf } from '../query-log/tail/own-rows.ts';
import { watchLoops } from '../resolving/upstreams/loop-watch.ts';
import { DatabaseUnavailable } from '../storage/db/database-errors.ts';
import { GivenNames } from './given-names.ts';
import { LogDatabase } from './log-database.ts';
import { LogControl } from './log-messages.ts';
import type { DaysFailure, FromLog, LogThreadStart, RefusedSample, ToLog } from './log-messages.ts';

const BEAT_MS = 1000;
/**
 * Maximum number of samples of refused clients per message; limited because a flood of forged addresses causes many.
 */
const MAX_SAMPLES = 1000;

const port = parentPort;
if (port === null)
  throw new Error('could not start the thread of the query log: this file runs only as a worker thread');
const start = workerData as LogThreadStart;
const send = (message: FromLog): void => port.postMessage(message);
const logger = sentLogger(send);
const control = new Int32Array(start.control);
const doubles = new Float64Array(start.control);
const mayWrite = Promise.withResolvers<undefined>();
const daysMade = new Map<number, (failure: DaysFailure | null) => void>();
let { settings } = start;
let lastId = 0;

const names = new GivenNames(() => {
  for (let next = receiveMessageOnPort(port); next !== undefined; next = receiveMessageOnPort(port))
    take(next.message as ToLog);
});
const probes = new ProbeWatch();
probes.use(start.probes);
const database = new LogDatabase(start.database, logger, makeDays);
const writer = new LogWriter({
  database,
  dataDir: start.dataDir,
  mayWrite: mayWrite.promise,
  nodeId: start.nodeId,
  runKey: start.runKey,
  logger,
  mayStore: () => Atomics.load(control, LogControl.MAY_STORE_WORD) === 1,
  privacy: () => settings.privacy,
  limitedPrefixes: () => settings.limitedPrefixes,
  tallyMemory: start.tally,
  onTrouble: (reason) => send({ type: 'trouble', reason }),
});
const ownRows = ownRowsOf(writer);
const dnstap = await openDnstap();
const seeLoops = watchLoops((token, client) => send({ type: 'loop-seen', token, client }));
const samples: RefusedSample[] = [];

const drain = new LogDrain(
  start.rings,
  names,
  {
    see: (row) => {
      const query = probes.find(row);
      if (query !== null) send({ type: 'probe-seen', query });
      seeLoops(row);
    },
    append: (row) => {
      // Must run even if the log is disabled, to detect forwarding loops.
      seeLoops(row);
      dnstap?.append(row);
      writer.append(row);
    },
    refuse: sampleRefused,
    lose: (rows) => writer.lose(rows),
    turned: publishState,
  },
  writer.ringLost,
);
const beat = setInterval(() => {
  Atomics.add(control, LogControl.BEAT_WORD, 1);
  publishState();
}, BEAT_MS);
port.on('message', take);
drain.start();

function take(message: ToLog): void {
  switch (message.type) {
    case 'rules':
    case 'upstream':
      return names.take(message);
    case 'settings':
      settings = message.settings;
      return;
    case 'database':
      return database.use(message.given);
    case 'probes':
      return probes.use(message.tokens);
    case 'may-write':
      return mayWrite.resolve(undefined);
    case 'tail':
      return ownRows.watch(message.isWanted);
    case 'days-made':
      return daysMade.get(message.id)?.(message.failure);
    case 'fault':
      setImmediate(() => {
        throw new Error('a fault was injected');
      });
      return;
    case 'take-tail':
      void sendTail(message.id);
      return;
    case 'flush':
    case 'stop-reading':
    case 'close':
      void handle(message);
  }
}

async function handle(request: Extract<ToLog, { type: 'flush' | 'stop-reading' | 'close' }>): Promise<void> {
  // The message may have been handled within a turn of the drain, so waits until this turn has ended.
  await new Promise(setImmediate);
  if (request.type === 'flush') {
    drain.readAll();
    await writer.flush();
  } else if (request.type === 'stop-reading') drain.stop();
  else await close(request.withinMs);
  publishState();
  send({ type: 'done', id: request.id });
}

async function sendTail(id: number): Promise<void> {
  send({ type: 'tail-rows', id, taken: await ownRows.take(), runId: writer.run.id });
}

async function close(withinMs: number): Promise<void> {
  clearInterval(beat);
  drain.stop();
  await Promise.all([dnstap?.close(withinMs), writer.close(withinMs)]);
  database.close();
  port!.off('message', take);
}

/** Writes the state that the control plane reads, and that a replacement of this thread needs, to shared memory. */
function publishState(): void {
  writer.counters();
  if (samples.length > 0) send({ type: 'refused', samples: samples.splice(0) });
  if (dnstap === null) return;
  const { sent, lost } = dnstap.counters();
  doubles[LogControl.STREAM_SENT_DOUBLE] = sent;
  doubles[LogControl.STREAM_LOST_DOUBLE] = lost;
}

function sampleRefused(row: QueryLogRow, queries: number): void {
  if (samples.length < MAX_SAMPLES)
    samples.push({ client: addressToText(row.bytes, row.client.at), queries, atMs: row.timestampMs });
}

/** Makes the control plane create partitions, which requires the role that owns the tables. */
async function makeDays(days: readonly number[]): Promise<void> {
  const id = ++lastId;
  const { promise, resolve } = Promise.withResolvers<DaysFailure | null>();
  daysMade.set(id, resolve);
  send({ type: 'make-days', id, days });
  const failure = await promise;
  daysMade.delete(id);
  if (failure === null) return;
  const reason = `could not create partitions of the query log: ${failure.reason}`;
  throw failure.isUnavailable ? new DatabaseUnavailable(reason) : new Error(reason);
}

/** The dnstap stream; null without a configured receiver, so that its code is not loaded. */
async function openDnstap(): Promise<Dnstap | null> {
  if (start.stream === null) return null;
  const { Dnstap } = await import('../query-log/dnstap/dnstap.ts');
  const privacy = (): LogThreadStart['settings']['privacy'] => settings.streamPrivacy;
  try {
    return new Dnstap({ ...start.stream, privacy, logger });
  } catch (error) {
    logger.error('could not stream queries as dnstap', { reason: reasonOf(error) });
    return null;
  }
}
