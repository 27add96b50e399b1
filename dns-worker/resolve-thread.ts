/**
 * The resolve thread: an ordinary event loop with everything that waits: questions for upstreams, TCP
 * clients, and, where batched sockets are not to be had, UDP over node:dgram. One for each answer thread.
 */
import type { RemoteInfo } from 'node:dgram';
import type { MessagePort } from 'node:worker_threads';
import { systemClock } from '../shared/clock.ts';
import { Counter } from '../shared/counters.ts';
import type { ThreadStart, ToWorker } from '../shared/messages.ts';
import { addressFromText } from '../shared/net/ip.ts';
import { Protocol } from '../shared/query-log.ts';
import { AnswerCache } from './cache/answer-cache.ts';
import { CacheMemory } from './cache/cache-memory.ts';
import { CacheWriter } from './cache/cache-writer.ts';
import { Forwarder, type WaitingRequest } from './forwarder.ts';
import type { NativeCalls } from './listeners/native-calls.ts';
import { listenTcp, type StreamClient } from './listeners/tcp.ts';
import { listenDgram } from './listeners/udp-dgram.ts';
import { UdpReply } from './listeners/udp-reply.ts';
import { type Miss, MissReader } from './miss-reader.ts';
import { Pipeline } from './pipeline.ts';
import { Query, Verdict } from './query.ts';
import { Reporter } from './report/reporter.ts';
import { Resolver } from './resolve/resolver.ts';
import { openSnapshot } from './state.ts';
import { announce, obeyFault, portLogger } from './thread-port.ts';

/** How often the state of the upstreams is told to the control plane, milliseconds. */
const UPSTREAM_REPORT_MS = 1000;
/** Longest wait for requests in flight when draining, milliseconds. */
const DRAIN_MS = 3500;
const SCRATCH_SIZE = 65_535;
const MAX_UDP_REPLY = 2048;

/** Starts listeners and readers; `calls` is null where UDP goes over node:dgram. Throws a ListenError. */
export async function runResolveThread(
  start: ThreadStart,
  port: MessagePort,
  calls: NativeCalls | null,
): Promise<void> {
  const { settings, memory } = start;
  const logger = portLogger(port, { worker: start.worker });
  const control = new Int32Array(memory.control);
  const cacheMemory = new CacheMemory(start.cache);
  const cache = new AnswerCache(cacheMemory);
  const reporter = new Reporter(memory.resolveCounters, memory.resolveLog);
  const pipeline = new Pipeline(openSnapshot(start.snapshot), cache, reporter);
  const resolver = new Resolver(settings, systemClock, logger);
  const forwarder = new Forwarder({
    resolver,
    pipeline,
    cache,
    reporter,
    writer: new CacheWriter(cacheMemory, start.worker),
    clock: systemClock,
    settings: settings.cache,
  });
  const query = new Query();
  const scratch = new Uint8Array(SCRATCH_SIZE);

  /** Runs a message that came to this thread itself through the pipeline. */
  function answerHere(
    message: Uint8Array,
    client: Uint8Array,
    protocol: number,
    capacity: number,
    send: (reply: Uint8Array) => void,
  ): void {
    scratch.set(message);
    query.clientBytes = client;
    query.clientAt = 0;
    query.protocol = protocol;
    query.arrivedMs = systemClock.nowMs();
    query.arrivedMonotonicMs = systemClock.monotonicMs();
    query.arrivedSecs = Math.floor(query.arrivedMs / 1000);
    query.begin(scratch, 0, message.length, capacity);
    const verdict = pipeline.run(query);
    if (verdict === Verdict.ANSWERED) {
      send(scratch.subarray(0, query.replyLength));
      reporter.answered(query, pipeline.snapshot.version);
      reporter.publish((systemClock.monotonicMs() - query.arrivedMonotonicMs) * 1000);
    } else if (verdict === Verdict.UNRESOLVED) {
      forwarder.take(waitingFrom(query, client, send));
    }
  }

  const tcp = await listenTcp(
    {
      addresses: settings.bindAddresses,
      port: settings.dnsPort,
      maxConnectionsPerIp: settings.tcpMaxConnectionsPerIp,
    },
    (message: Uint8Array, client: StreamClient) => {
      answerHere(message, client.address, client.protocol, SCRATCH_SIZE, (reply) => {
        client.send(reply);
      });
    },
  );
  const udp =
    calls === null
      ? await listenDgram(settings.bindAddresses, settings.dnsPort, (message, from: RemoteInfo, reply) => {
          const client = addressFromText(from.address) ?? new Uint8Array(16);
          answerHere(message, client, Protocol.udp, MAX_UDP_REPLY, (bytes) => {
            reply(bytes.slice());
          });
        })
      : null;
  const udpReply = calls === null ? null : new UdpReply(calls, control);
  const misses = new MissReader(memory.missRing, control);
  const reading = misses.run((miss) => {
    forwarder.take(
      waitingFromMiss(miss, (reply) => {
        if (udpReply?.send(reply, miss.origin) !== true) reporter.count(Counter.SEND_ERRORS);
      }),
    );
  });
  const reports = setInterval(() => {
    announce(port, { type: 'upstreams', upstreams: resolver.report() });
  }, UPSTREAM_REPORT_MS);

  async function drain(): Promise<void> {
    misses.stop();
    await reading;
    const closing = Promise.all([tcp.close(), udp?.close()]);
    await Promise.race([forwarder.idle(), new Promise((resolve) => setTimeout(resolve, DRAIN_MS).unref())]);
    clearInterval(reports);
    await closing;
    await resolver.close();
    udpReply?.closeSockets();
    announce(port, { type: 'drained' });
    port.close();
  }

  port.on('message', (message: ToWorker) => {
    if (message.type === 'snapshot') {
      pipeline.snapshot = openSnapshot(message.snapshot);
      announce(port, { type: 'snapshot-in-force', version: message.snapshot.version });
    } else if (message.type === 'fault' && settings.faultInjection) {
      obeyFault(message.fault);
    } else if (message.type === 'drain') {
      void drain();
    }
  });
  announce(port, { type: 'ready', backend: calls === null ? 'dgram' : 'batch' });
  announce(port, { type: 'snapshot-in-force', version: start.snapshot.version });
}

/** Copies what a request needs while it waits. */
function waitingFrom(query: Query, client: Uint8Array, send: (reply: Uint8Array) => void): WaitingRequest {
  return {
    message: headerAndQuestion(query.bytes.slice(query.at, query.at + query.questionEnd)),
    client: client.slice(),
    protocol: query.protocol,
    arrivedMs: query.arrivedMs,
    arrivedMonotonicMs: query.arrivedMonotonicMs,
    groupIndex: query.groupIndex,
    udpSize: query.hasEdns ? query.udpSize : 0,
    dnssecOk: query.dnssecOk,
    send,
  };
}

function waitingFromMiss(miss: Miss, send: (reply: Uint8Array) => void): WaitingRequest {
  return { ...miss, message: headerAndQuestion(miss.message), protocol: Protocol.udp, send };
}

/** Counts of the sections behind the question are cleared: those were not copied. */
function headerAndQuestion(message: Uint8Array): Uint8Array {
  message.fill(0, 6, 12);
  return message;
}
