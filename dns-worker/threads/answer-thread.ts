/**
 * The answer thread: receives, decides, sends and reports. It blocks in the kernel and never runs its event loop, so
 * that no answer from policy or cache waits for a timer or a handshake, or for more than a few signatures. It tries to
 * resolve an unresolved query itself with one query to upstreams over UDP; all other unresolved queries go through the
 * miss ring to the worker's resolve thread.
 */
import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { systemClock } from '../../shared/clock.ts';
import { SealedRecords } from '../../shared/memory/sealed-records.ts';
import { CacheMemory } from '../../shared/memory/cache-memory.ts';
import { ClaimArea } from '../../shared/memory/claim-table.ts';
import { Counter } from '../../shared/memory/counters.ts';
import {
  type GivenSettings,
  type ThreadStart,
  type ToWorker,
  WorkerControl,
  type WorkerSettings,
} from '../../shared/threads/messages.ts';
import { CacheWriter } from '../cache/cache-writer.ts';
import { cutContext } from '../dnssec/cut-cache.ts';
import { AtOnceValidator } from '../first-try/at-once-validator.ts';
import type { TrustPoints } from '../dnssec/trust-chain.ts';
import { FirstServers } from '../first-try/first-servers.ts';
import { FirstTries, type FirstTrySettings } from '../first-try/first-tries.ts';
import { TriedAnswers } from '../first-try/tried-answers.ts';
import { ArrivalClock } from '../query/arrival-clock.ts';
import type { SnapshotBuffers } from '../../shared/snapshot/snapshot.ts';
import { ClientNetworks } from '../policy/client-networks.ts';
import type { NativeCalls } from '../listeners/native-calls.ts';
import { ProxiedDatagrams } from '../listeners/proxied-datagrams.ts';
import { ProxySenders } from '../../shared/net/proxy-senders.ts';
import { BATCH_SIZE, SLOT_SIZE, UdpBatch } from '../listeners/udp-batch.ts';
import { UdpReply } from '../listeners/udp-reply.ts';
import { openUdpSockets, type UdpSocket } from '../listeners/udp-sockets.ts';
import { UdpWait } from '../listeners/udp-wait.ts';
import { MissWriter } from '../misses/miss-writer.ts';
import type { Pipeline } from '../pipeline.ts';
import { type Query, StageResult, type StageResultCode } from '../query/query.ts';
import { GROUP_SIZE, QueryGroup } from './query-group.ts';
import { Capabilities } from '../resolve/capability/capabilities.ts';
import { FlightOutcomes } from '../resolve/flight-outcomes.ts';
import { QuestionClaims } from '../resolve/question-claims.ts';
import { ReplacedTables } from './replaced-tables.ts';
import { Reporter } from '../report/reporter.ts';
import { ClientSightings } from '../report/sighting-writer.ts';
import { openPipeline, useSettings } from './open-pipeline.ts';
import { openSnapshot } from '../policy/open-snapshot.ts';
import { ThreadMeter } from './thread-meter.ts';
import { announce, causeFault } from './thread-port.ts';

/** Runs the loop; returns after a drain message. Throws a ListenError if a socket cannot be opened. */
export function runAnswerThread(start: ThreadStart, port: MessagePort, calls: NativeCalls): void {
  const thread = new AnswerThread(start, port, calls);
  announce(port, { type: 'ready', backend: 'batch' });
  announce(port, { type: 'snapshot-active', version: start.snapshot.version });
  announce(port, { type: 'settings-active', version: start.given.version });
  thread.run();
  announce(port, { type: 'drained' });
}

class AnswerThread {
  private readonly start: ThreadStart;
  private readonly port: MessagePort;
  private readonly sockets: readonly UdpSocket[];
  private readonly reporter: Reporter;
  private readonly batch: UdpBatch;
  private readonly wait: UdpWait;
  private readonly pipeline: Pipeline;
  private readonly misses: MissWriter;
  private readonly tries: FirstTries;
  private readonly triedAnswers: TriedAnswers;
  private readonly group: QueryGroup;
  private readonly replaced = new ReplacedTables();
  private readonly meter = new ThreadMeter();
  private readonly arrivals = new ArrivalClock();
  private readonly proxied: ProxiedDatagrams;

  constructor(start: ThreadStart, port: MessagePort, calls: NativeCalls) {
    const { memory } = start;
    const { settings, rateBuckets } = start.given;
    const control = new Int32Array(memory.control);
    this.start = start;
    this.port = port;
    this.sockets = openUdpSockets(calls, control, settings.bindAddresses, settings.dnsPort);
    this.reporter = new Reporter(memory.answerCounters, memory.answerLog);
    this.batch = new UdpBatch(calls, this.sockets, (counter) => this.reporter.count(counter));
    this.proxied = new ProxiedDatagrams(new ProxySenders(settings.proxyProtocol), this.reporter);
    this.wait = new UdpWait(calls, control, this.sockets, settings.coalesceUs);
    this.pipeline = openPipeline(start, this.reporter, new ClientSightings(memory.answerClients));
    const networks = new ClientNetworks(rateBuckets, settings.rateLimit);
    this.misses = new MissWriter(memory.missRing, control, networks);
    const { pipeline, misses, reporter } = this;
    const countUnsent = (counter: number): void => reporter.count(counter);
    const replies = new UdpReply(calls, control, countUnsent, () => undefined);
    const writer = new CacheWriter(new CacheMemory(start.cache), start.asker);
    this.triedAnswers = new TriedAnswers({ pipeline, reporter, writer, replies }, settings.cache);
    const parts = { calls, misses, reporter, answers: this.triedAnswers };
    this.tries = new FirstTries(parts, this.triedBy(start.given));
    Atomics.store(control, WorkerControl.TRIES_FD_WORD, this.tries.fd);
    this.wait.follow(this.tries);
    this.group = new QueryGroup(this.batch, SLOT_SIZE);
  }

  /** Answers until a drain message arrives, then answers the queries that the kernel has queued. */
  run(): void {
    this.wait.forever(
      (socketIndex, block) => this.answerBatch(socketIndex, block),
      () => this.readMessages(),
      () => this.replaced.freeRest(),
    );
    Atomics.store(new Int32Array(this.start.memory.control), WorkerControl.TRIES_FD_WORD, 0);
    this.tries.close();
    for (let index = 0; index < this.sockets.length; index++)
      while (this.answerBatch(index, false) === BATCH_SIZE);
  }

  /** One turn: answers the datagrams of one receive by one send. */
  private answerBatch(socketIndex: number, block: boolean): number {
    const { batch, pipeline, group, misses, tries } = this;
    const count = batch.receive(socketIndex, block);
    if (count === 0) return 0;
    this.proxied.takeHeaders(batch, count);
    const arrivedMs = group.stamp(this.arrivals, count);
    const { queries, outcomes } = group;
    for (let first = 0; first < count; first += GROUP_SIZE) {
      const size = group.read(batch, first, count, pipeline);
      for (let i = 0; i < size; i++)
        this.finish(queries[i]!, first + i, pipeline.runRead(queries[i]!, outcomes[i]!));
    }
    tries.flush();
    batch.send();
    misses.publish();
    // Pass an integer: a fraction would be allocated on the heap.
    this.reporter.publish(((systemClock.monotonicMs() - arrivedMs) * 1000) | 0);
    return count;
  }

  /** Queues the answer to `slot`, or passes the query on if it is unresolved. */
  private finish(query: Query, slot: number, result: StageResultCode): void {
    const { batch, misses, tries, reporter } = this;
    const { version } = this.pipeline.snapshot;
    if (result === StageResult.ANSWERED) {
      batch.reply(slot, query.replyLength);
      reporter.answered(query, version);
      // If the ring is full, the answer expires without a refresh.
      if (query.wantsRefresh) misses.write(query, batch, slot, version);
    } else if (result === StageResult.UNRESOLVED) {
      const isTaken = tries.ask(query, batch, slot, version) || misses.write(query, batch, slot, version);
      if (!isTaken) reporter.count(Counter.UNRESOLVED_DROPPED);
    }
  }

  /** Reads the messages of the port when the control plane has announced new ones in a shared word; true = drain. */
  private readMessages(): boolean {
    const { port, start } = this;
    for (let mail = receiveMessageOnPort(port); mail !== undefined; mail = receiveMessageOnPort(port)) {
      const message = mail.message as ToWorker;
      if (message.type === 'drain') return true;
      if (message.type === 'snapshot') {
        if (this.swap(message.snapshot)) this.replaced.freeYoung();
        announce(port, { type: 'snapshot-active', version: message.snapshot.version });
      } else if (message.type === 'settings') {
        this.use(message.given);
      } else if (message.type === 'trust') {
        this.tries.trust(message.anchors);
      } else if (message.type === 'fault' && start.given.settings.faultInjection) {
        causeFault(message.fault);
      } else if (message.type === 'measure' && start.given.settings.faultInjection) {
        announce(port, { type: 'measures', measures: this.meter.read() });
      }
    }
    return false;
  }

  private use(given: GivenSettings): void {
    const { settings, rateBuckets } = given;
    useSettings(this.pipeline, given, new Int32Array(this.start.memory.control));
    this.misses.networks = new ClientNetworks(rateBuckets, settings.rateLimit);
    this.triedAnswers.use(settings.cache);
    this.tries.use(this.triedBy(given));
    this.wait.coalesceUs = settings.coalesceUs;
    announce(this.port, { type: 'settings-active', version: given.version });
  }

  /** Parts of first tries that depend on these settings. */
  private triedBy({ version: settingsVersion, settings }: GivenSettings): FirstTrySettings {
    const { memory, capabilities, claims, outcomes, asker: worker } = this.start;
    const records = new Capabilities(systemClock, capabilities);
    const longestMs = settings.queryTimeoutMs;
    return {
      servers: new FirstServers(memory.firstServers, records, settings.hardening),
      claims: new QuestionClaims(
        { memory: claims, worker, clock: systemClock, longestMs },
        ClaimArea.CLIENTS,
      ),
      outcomes: new FlightOutcomes({ memory: outcomes, worker, settingsVersion }),
      validator: this.validatorBy(settings),
    };
  }

  private validatorBy({ dnssec, pools, clockFloorMs }: WorkerSettings): AtOnceValidator | null {
    if (dnssec === null) return null;
    const { cuts, worker } = this.start;
    const share = (points: TrustPoints): SealedRecords =>
      new SealedRecords(cuts, worker, cutContext(pools, points));
    return new AtOnceValidator(dnssec, { clock: systemClock, clockFloorMs, share });
  }

  /** This is a separate function, because the caller's stack frame could keep a reference to the old table. */
  private swap(snapshot: SnapshotBuffers): boolean {
    return this.pipeline.replaceSnapshot(openSnapshot(snapshot, this.pipeline.snapshot));
  }
}
