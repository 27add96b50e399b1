/**
 * The resolve thread: an ordinary event loop for everything that waits: queries to upstreams, clients on streams and,
 * if batched sockets are unavailable, UDP over node:dgram. There is one for each answer thread.
 */
import type { MessagePort } from 'node:worker_threads';
import { ClaimArea, type ClaimAreaCode } from '../../shared/memory/claim-table.ts';
import { systemClock } from '../../shared/clock.ts';
import type { Logger } from '../../shared/log.ts';
import { HeapGrowth } from '../../shared/threads/heap-growth.ts';
import {
  type Fault,
  type GivenSettings,
  type ThreadStart,
  type ToWorker,
  WorkerControl,
  type WorkerSettings,
} from '../../shared/threads/messages.ts';
import { addressFromText } from '../../shared/net/ip.ts';
import { Protocol } from '../../shared/query-log.ts';
import { CacheMemory } from '../../shared/memory/cache-memory.ts';
import { SealedRecords } from '../../shared/memory/sealed-records.ts';
import type { SnapshotBuffers } from '../../shared/snapshot/snapshot.ts';
import { CacheWriter } from '../cache/cache-writer.ts';
import { ClientNetworks } from '../policy/client-networks.ts';
import { Explainer } from './question-explainer.ts';
import { Forwarder } from '../forward/forwarder.ts';
import type { ReplacedParts } from '../forward/forwarder-parts.ts';
import { UpstreamSide } from '../forward/upstream-side.ts';
import type { NativeCalls } from '../listeners/native-calls.ts';
import { type DatagramHandler, type DatagramListener, listenDgram } from '../listeners/udp-dgram.ts';
import { ProxiedDatagrams } from '../listeners/proxied-datagrams.ts';
import { ProxySenders } from '../../shared/net/proxy-senders.ts';
import { SLOT_SIZE } from '../listeners/udp-batch.ts';
import { UdpReply } from '../listeners/udp-reply.ts';
import { MissReader } from '../misses/miss-reader.ts';
import { openPipeline, useSettings } from './open-pipeline.ts';
import type { Pipeline } from '../pipeline.ts';
import { ReplacedTables } from './replaced-tables.ts';
import { RequestIntake } from './request-intake.ts';
import { StreamListeners } from './stream-listeners.ts';
import { KeyedLogRing } from '../report/log-ring.ts';
import { KeyedSightings } from '../report/sighting-writer.ts';
import { LoopLag } from '../report/loop-lag.ts';
import { Reporter } from '../report/reporter.ts';
import { Capabilities } from '../resolve/capability/capabilities.ts';
import { FlightOutcomes } from '../resolve/flight-outcomes.ts';
import { NodeFlights } from '../resolve/node-flights.ts';
import { QuestionClaims } from '../resolve/question-claims.ts';
import { openSnapshot } from '../policy/open-snapshot.ts';
import { ThreadGuard } from '../report/thread-guard.ts';
import { ThreadMeter } from './thread-meter.ts';
import { announce, causeFault, portLogger } from './thread-port.ts';

/** Interval of heartbeats and upstream reports, in milliseconds. */
const UPSTREAM_REPORT_MS = 1000;
/**
 * When draining, the thread waits for requests in flight until this many milliseconds before the deadline; then the
 * remaining requests get an error, which takes time on a busy machine.
 */
const ERROR_REPLY_MS = 250;

/** Starts listeners and readers; `calls` is null if UDP uses node:dgram. Throws a ListenError. */
export async function runResolveThread(
  start: ThreadStart,
  port: MessagePort,
  calls: NativeCalls | null,
): Promise<void> {
  const thread = new ResolveThread(start, port, calls);
  await thread.listen();
  port.on('message', (message: ToWorker) => thread.handle(message));
  announce(port, { type: 'ready', backend: calls === null ? 'dgram' : 'batch' });
  announce(port, { type: 'snapshot-active', version: start.snapshot.version });
  announce(port, { type: 'settings-active', version: start.given.version });
}

class ResolveThread {
  private readonly start: ThreadStart;
  private readonly port: MessagePort;
  private readonly control: Int32Array;
  private readonly batched: boolean;
  private readonly reporter: Reporter;
  private readonly pipeline: Pipeline;
  private readonly upstreams: UpstreamSide;
  private readonly logger: Logger;
  private readonly forwarder: Forwarder;
  private readonly intake: RequestIntake;
  private readonly misses: MissReader;
  private readonly guard: ThreadGuard;
  private readonly udpReply: UdpReply | null;
  private readonly explainer: Explainer;
  private readonly meter = new ThreadMeter();
  private readonly replaced = new ReplacedTables();
  private settingsVersion: number;
  private readonly heap = new HeapGrowth();
  private readonly streams: StreamListeners;
  private datagrams: DatagramListener | undefined;
  private reading: Promise<void> = Promise.resolve();
  private reports: NodeJS.Timeout | undefined;

  constructor(start: ThreadStart, port: MessagePort, calls: NativeCalls | null) {
    const { memory } = start;
    const { settings, rateBuckets } = start.given;
    this.start = start;
    this.port = port;
    this.settingsVersion = start.given.version;
    this.control = new Int32Array(memory.control);
    this.batched = calls !== null;
    this.reporter = new Reporter(memory.resolveCounters, memory.resolveLog, KeyedLogRing);
    this.pipeline = openPipeline(start, this.reporter, new KeyedSightings(memory.resolveClients));
    this.logger = portLogger(port, { worker: start.worker });
    this.guard = new ThreadGuard(this.reporter, systemClock, this.logger);
    this.upstreams = new UpstreamSide(settings, {
      clock: systemClock,
      logger: this.logger,
      records: new Capabilities(systemClock, start.capabilities),
      shareCuts: (context) => new SealedRecords(start.cuts, start.worker, context),
      flights: (longestMs) => this.flightsIn(ClaimArea.UPSTREAMS, longestMs),
      ...(calls === null ? {} : { firstServers: memory.firstServers }),
    });
    this.forwarder = new Forwarder({
      ...this.replacedParts(settings, rateBuckets),
      pipeline: this.pipeline,
      cache: this.pipeline.cache,
      reporter: this.reporter,
      writer: new CacheWriter(new CacheMemory(start.cache), start.asker),
      clock: systemClock,
      guard: this.guard,
    });
    this.explainer = new Explainer(this.pipeline, this.forwarder, systemClock);
    this.misses = new MissReader(memory.missRing, this.control, this.guard);
    this.udpReply =
      calls === null ? null : new UdpReply(calls, this.control, (counter) => this.reporter.count(counter));
    const { pipeline, forwarder, reporter, udpReply } = this;
    this.intake = new RequestIntake({ pipeline, forwarder, reporter, udpReply });
    this.streams = new StreamListeners({
      start,
      intake: this.intake,
      reporter,
      logger: this.logger,
      calls,
      snapshot: () => this.pipeline.snapshot,
    });
  }

  /** Opens the listeners, then reads misses and reports upstreams. Throws a ListenError. */
  async listen(): Promise<void> {
    const { bindAddresses: addresses, dnsPort: port } = this.start.given.settings;
    await this.streams.open();
    if (!this.batched) this.datagrams = await this.listenDgram(addresses, port);
    // A failed start ends the thread; later errors do not.
    this.guard.watch();
    void this.upstreams.zones.follow(this.pipeline.snapshot.zones);
    this.replaced.freeSoon(); // Frees tables that were replaced during the start.
    this.reading = this.misses.run((miss) => this.intake.takeMiss(miss));
    const lag = new LoopLag(this.start.memory.resolveCounters, systemClock, UPSTREAM_REPORT_MS);
    this.reports = setInterval(() => {
      lag.beat();
      this.heap.check();
      Atomics.add(this.control, WorkerControl.RESOLVE_BEAT_WORD, 1);
      this.reportUpstreams();
    }, UPSTREAM_REPORT_MS);
    // Report all servers at the start, even without results, so that the control plane knows them.
    this.reportUpstreams();
  }

  /** Handles a message of the control plane. */
  handle(message: ToWorker): void {
    switch (message.type) {
      case 'snapshot':
        if (this.swap(message.snapshot)) this.replaced.freeSoon();
        void this.upstreams.zones.follow(this.pipeline.snapshot.zones);
        // Report first, so that the control plane knows the servers of a changed zone before the change is announced.
        this.reportUpstreams();
        announce(this.port, { type: 'snapshot-active', version: message.snapshot.version });
        break;
      case 'settings':
        this.use(message.given);
        break;
      case 'explain':
        this.explainer.explain(message, (explanation) =>
          announce(this.port, { type: 'explained', id: message.id, explanation }),
        );
        break;
      case 'observe-trust-point':
        void this.observe(message.id, message.zone);
        break;
      case 'trust':
        this.upstreams.validateWith(message.anchors);
        break;
      case 'loop':
        this.upstreams.noteLoop(message.token, message.client);
        break;
      case 'certificate':
        this.streams.useCertificate(message.certificate);
        break;
      case 'ask':
        this.ask(message);
        break;
      case 'fault':
        if (this.start.given.settings.faultInjection) this.fail(message.fault);
        break;
      case 'measure':
        if (this.start.given.settings.faultInjection)
          announce(this.port, { type: 'measures', measures: this.meter.read() });
        break;
      case 'drain':
        void this.drain(message.keepSockets, message.withinMs);
        break;
    }
  }

  /** Replaces the settings, and acknowledges them immediately afterwards. */
  private use(given: GivenSettings): void {
    const { settings, rateBuckets } = given;
    this.settingsVersion = given.version;
    useSettings(this.pipeline, given, this.control);
    this.upstreams.use(settings, this.pipeline.snapshot.zones);
    this.forwarder.use(this.replacedParts(settings, rateBuckets));
    this.streams.limitBy(settings);
    this.reportUpstreams();
    announce(this.port, { type: 'settings-active', version: given.version });
  }

  /** The parts include new flights, so that no client waits for a question that was sent with the previous settings. */
  private replacedParts(settings: WorkerSettings, rateBuckets: SharedArrayBuffer): ReplacedParts {
    const { resolver, zones, trust } = this.upstreams;
    return {
      resolver,
      zones,
      trust,
      flights: this.flightsIn(ClaimArea.CLIENTS, settings.queryTimeoutMs),
      settings: settings.cache,
      networks: new ClientNetworks(rateBuckets, settings.rateLimit),
    };
  }

  /**
   * Flights of questions that this thread shares with other threads: questions of clients, or validation queries to
   * upstreams.
   */
  private flightsIn(area: ClaimAreaCode, longestMs: number): NodeFlights {
    const { claims: memory, outcomes, asker: worker } = this.start;
    const { settingsVersion } = this;
    const shared = {
      claims: new QuestionClaims({ memory, worker, clock: systemClock, longestMs }, area),
      outcomes: new FlightOutcomes({ memory: outcomes, worker, settingsVersion }),
    };
    return new NodeFlights(shared, longestMs, this.logger);
  }

  private fail(fault: Fault): void {
    if (fault === 'throw') this.guard.unwatch();
    causeFault(fault);
  }

  /** This is a separate function, because the caller's stack frame could keep a reference to the old table. */
  private swap(snapshot: SnapshotBuffers): boolean {
    return this.pipeline.replaceSnapshot(openSnapshot(snapshot, this.pipeline.snapshot));
  }

  private reportUpstreams(): void {
    announce(this.port, { type: 'upstreams', upstreams: this.upstreams.report() });
  }

  private async observe(id: number, zone: Uint8Array): Promise<void> {
    announce(this.port, { type: 'trust-point', id, keys: await this.upstreams.observe(zone) });
  }

  /** Answers a message that the web port received or that Weir itself sends. */
  private ask({ id, message, client, clientKey, isOwn }: Extract<ToWorker, { type: 'ask' }>): void {
    const asked = (reply: Uint8Array | null): void => announce(this.port, { type: 'asked', id, reply });
    this.intake.answer(message, {
      address: client,
      clientKey,
      protocol: Protocol.doh,
      isOwn,
      send: (reply) => asked(reply.slice()),
      drop: () => asked(null),
    });
  }

  private listenDgram(addresses: readonly string[], port: number): Promise<DatagramListener> {
    const senders = new ProxySenders(this.start.given.settings.proxyProtocol);
    const proxied = new ProxiedDatagrams(senders, this.reporter);
    const handle: DatagramHandler = (datagram, from, reply) => {
      const taken = proxied.takeHeader(datagram, addressFromText(from.address) ?? new Uint8Array(16));
      if (taken === null) return;
      this.intake.answer(taken.message, {
        address: taken.client,
        clientKey: '',
        protocol: Protocol.udp,
        capacity: SLOT_SIZE,
        // Copy the reply: dgram sends later, when the scratch buffer may contain another answer.
        send: (bytes) => reply(bytes.slice()),
      });
    };
    return listenDgram(addresses, port, handle, (counter) => this.reporter.count(counter));
  }

  private async drain(keepSockets: boolean, withinMs: number): Promise<void> {
    const waitMs = withinMs - ERROR_REPLY_MS;
    const deadline = new Promise((resolve) => setTimeout(resolve, waitMs).unref());
    this.misses.stop();
    await this.reading;
    const closing = this.streams.close(keepSockets);
    await this.datagrams?.stopReceiving();
    // Connections that linger can still send queries.
    await Promise.race([Promise.all([this.forwarder.idle(), closing]), deadline]);
    clearInterval(this.reports);
    // Requests that are still in flight fail, and their clients get an error.
    await this.upstreams.close();
    await this.forwarder.idle();
    await this.datagrams?.close();
    await closing;
    this.udpReply?.finish(keepSockets);
    announce(this.port, { type: 'drained' });
    this.port.close();
  }
}
