/**
 * The answer thread: receive, decide, send, report. It blocks in the kernel and never runs its event loop, so that no
 * answer from policy or cache waits for a timer, a handshake or a signature. Unresolved queries go to the worker's
 * resolve thread through the miss ring.
 */
import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { systemClock } from '../../shared/clock.ts';
import { Counter } from '../../shared/memory/counters.ts';
import type { ThreadStart, ToWorker } from '../../shared/threads/messages.ts';
import { Protocol } from '../../shared/query-log.ts';
import { ArrivalClock } from '../query/arrival-clock.ts';
import { CachePrefetch } from './cache-prefetch.ts';
import { AnswerCache } from '../cache/answer-cache.ts';
import { CacheMemory } from '../../shared/memory/cache-memory.ts';
import type { SnapshotBuffers } from '../../shared/snapshot/snapshot.ts';
import { ClientNetworks } from '../policy/client-networks.ts';
import { ClientSightings } from '../report/sighting-writer.ts';
import { ServerCookies } from '../cookies/server-cookies.ts';
import type { NativeCalls } from '../listeners/native-calls.ts';
import { BATCH_SIZE, SLOT_SIZE, UdpBatch } from '../listeners/udp-batch.ts';
import { openUdpSockets } from '../listeners/udp-sockets.ts';
import { UdpWait } from '../listeners/udp-wait.ts';
import { MissWriter } from './miss-writer.ts';
import { Pipeline } from '../pipeline.ts';
import { Query, StageResult } from '../query/query.ts';
import { RateLimiter } from '../policy/rate-limiter.ts';
import { ReplacedTables } from './replaced-tables.ts';
import { Reporter } from '../report/reporter.ts';
import { openSnapshot } from '../policy/open-snapshot.ts';
import { ThreadMeter } from './thread-meter.ts';
import { announce, obeyFault } from './thread-port.ts';

/** Runs the loop; returns when told to drain. Throws a ListenError if a socket cannot be opened. */
export function runAnswerThread(start: ThreadStart, port: MessagePort, calls: NativeCalls): void {
  const control = new Int32Array(start.memory.control);
  const sockets = openUdpSockets(calls, control, start.settings.bindAddresses, start.settings.dnsPort);
  const reporter = new Reporter(start.memory.answerCounters, start.memory.answerLog);
  const batch = new UdpBatch(calls, sockets, (counter) => reporter.count(counter));
  const wait = new UdpWait(calls, control, sockets, start.settings.coalesceUs);
  const pipeline = pipelineOf(start, reporter);
  const misses = missWriterOf(start, control);
  const replaced = new ReplacedTables();
  const meter = new ThreadMeter();
  const arrivals = new ArrivalClock();
  const touch = new CachePrefetch(BATCH_SIZE, SLOT_SIZE);
  const query = queryOver(batch);
  announce(port, { type: 'ready', backend: 'batch' });
  announce(port, { type: 'snapshot-in-force', version: start.snapshot.version });

  /** One turn: answers the datagrams of one receive by one send. */
  function answerBatch(socketIndex: number, block: boolean): number {
    const count = batch.receive(socketIndex, block);
    if (count === 0) return 0;
    arrivals.stamp(query);
    const { version } = pipeline.snapshot;
    touch.touch(batch, count, pipeline.snapshot, pipeline.judge, pipeline.cache);
    for (let slot = 0; slot < count; slot++) {
      query.clientAt = slot * 16;
      query.begin(batch.slots, slot * SLOT_SIZE, batch.lengthOf(slot), SLOT_SIZE);
      const result = pipeline.run(query);
      if (result === StageResult.ANSWERED) {
        batch.reply(slot, query.replyLength);
        reporter.answered(query, version);
        // Where the ring is full the answer ends in its time.
        if (query.wantsRefresh) misses.write(query, batch, slot, version);
      } else if (result === StageResult.UNRESOLVED && !misses.write(query, batch, slot, version)) {
        reporter.count(Counter.UNRESOLVED_DROPPED);
      }
    }
    batch.send();
    misses.publish();
    // An integer: a fraction would be allocated on the heap.
    reporter.publish(((systemClock.monotonicMs() - query.arrivedMonotonicMs) * 1000) | 0);
    return count;
  }

  /** A separate function: a frame with the old table in a register would keep it alive. */
  function swap(snapshot: SnapshotBuffers): boolean {
    return pipeline.replaceSnapshot(openSnapshot(snapshot, pipeline.snapshot));
  }

  /** Reads the port after the control plane has bumped the mail word; true = drain. */
  function readMail(): boolean {
    for (let mail = receiveMessageOnPort(port); mail !== undefined; mail = receiveMessageOnPort(port)) {
      const message = mail.message as ToWorker;
      if (message.type === 'drain') return true;
      if (message.type === 'snapshot') {
        if (swap(message.snapshot)) replaced.freeYoung();
        announce(port, { type: 'snapshot-in-force', version: message.snapshot.version });
      } else if (message.type === 'fault' && start.settings.faultInjection) {
        obeyFault(message.fault);
      } else if (message.type === 'measure' && start.settings.faultInjection) {
        announce(port, { type: 'measures', measures: meter.read() });
      }
    }
    return false;
  }

  wait.forever(answerBatch, readMail, () => replaced.freeRest());
  // Answers what the kernel has queued.
  for (let index = 0; index < sockets.length; index++) while (answerBatch(index, false) === BATCH_SIZE);
  announce(port, { type: 'drained' });
}

function missWriterOf({ rateBuckets, settings, memory }: ThreadStart, control: Int32Array): MissWriter {
  return new MissWriter(memory.missRing, control, new ClientNetworks(rateBuckets, settings.rateLimit));
}

function pipelineOf(
  { snapshot, cache, rateBuckets, cookieKeys, settings, memory }: ThreadStart,
  reporter: Reporter,
): Pipeline {
  return new Pipeline(openSnapshot(snapshot), {
    cache: new AnswerCache(new CacheMemory(cache), settings.cache.optimisticRefresh),
    reporter,
    sightings: new ClientSightings(memory.answerClients),
    limiter: new RateLimiter(rateBuckets, settings.rateLimit),
    cookies: new ServerCookies(cookieKeys),
    forwardsEcs: settings.forwardsEcs,
  });
}

/** The query of the thread; its client addresses are those of the batch. */
function queryOver(batch: UdpBatch): Query {
  const query = new Query();
  query.clientBytes = batch.clients;
  query.protocol = Protocol.udp;
  return query;
}
