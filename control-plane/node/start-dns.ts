/** Starts the DNS side: threads with the last snapshot, and the parts that take their log records to the database. */
import type { Node } from './node.ts';
import { createAnswerCache } from '../../shared/memory/answer-cache-layout.ts';
import { NodeState } from '../../shared/threads/messages.ts';
import type { NodeStateCode, WorkerSettings } from '../../shared/threads/messages.ts';
import { RuleTable } from '../../shared/snapshot/rule-table.ts';
import type { SnapshotBuffers } from '../../shared/snapshot/snapshot.ts';
import type { Config } from '../../config/schema.ts';
import { RefusedNetworks } from '../clients/access/refused-networks.ts';
import { ClockFloor } from '../host/clock/clock-floor.ts';
import { kernelClockReader } from '../host/clock/kernel-clock.ts';
import { CacheFile } from '../resolving/cache/cache-file.ts';
import { CacheIndex } from '../resolving/cache/cache-index.ts';
import { NodeClaim } from '../storage/cluster/node-claim.ts';
import { nodeIdOf } from '../storage/cluster/node-store.ts';
import type { LogSettings } from '../log-thread/log-messages.ts';
import { NameFeed } from '../log-thread/name-feed.ts';
import { QueryLogThread, type Sighting } from '../log-thread/query-log-thread.ts';
import { logQuestions } from '../query-log/log-search/log-questions.ts';
import { LogScans } from '../query-log/log-search/log-scans.ts';
import { GrantTimes } from '../filtering/grants/grant-times.ts';
import { ScheduleEvaluator } from '../filtering/schedules/schedule-evaluator.ts';
import { certifiedAddresses, designatedResolvers } from '../web/tls/designated-resolvers.ts';
import type { ThreadCertificate } from '../web/tls/thread-certificate.ts';
import type { DnsCertificates } from './start-tls.ts';
import { livePolicy } from './live-policy.ts';
import { blockingSettings } from '../policy/settings/derived.ts';
import { LiveSettings } from './thread-settings/live-settings.ts';
import { PoolNumbers } from './thread-settings/pool-numbers.ts';
import { ZoneNumbers } from '../policy/snapshot/build/zone-numbers.ts';
import { Generations } from '../policy/snapshot/publish/generations.ts';
import { SnapshotPublisher } from '../policy/snapshot/publish/publisher.ts';
import { firstNodeState, startingState } from '../policy/snapshot/publish/starting-state.ts';
import { Probes } from '../clients/probes/probes.ts';
import { QueryRate } from '../query-log/statistics/query-rate.ts';
import { serveFaultRequests } from '../threads/fault-injection.ts';
import { FollowedAnchors } from './thread-settings/trust-points.ts';
import { WorkerSupervisor } from '../threads/supervisor.ts';
import { workerHooks, workerSettings } from './thread-settings/worker-settings.ts';
import type { WorkerHooks } from './thread-settings/worker-settings.ts';

/** Milliseconds reserved for storing the last log rows, in the database or in the spool, when Weir stops. */
const LOG_MS = 600;

/** A node with its DNS side. */
export type DnsContext = Awaited<ReturnType<typeof startDns>>;

/**
 * The DNS side: threads with the last snapshot, which `startThreads()` starts, and the path of their log records to the
 * database. `before` is the state of the process whose sockets were inherited. If that process has ended, it counts as
 * ready if it was ready at any time.
 */
export async function startDns(node: Node, before: NodeStateCode = NodeState.HOLDING) {
  const { config, logger, dataDir, clock, stops } = node;
  const log = startLog(node);
  const generations = new Generations(dataDir, logger);
  const zones = new ZoneNumbers((number, server) => log.names.upstream(number - 1, server));
  const grantTimes = new GrantTimes(clock);
  const evaluator = new ScheduleEvaluator(clock, logger, grantTimes);
  const live = livePolicy(node, evaluator, zones);
  const initial = await startingState(generations, blockingSettings(config), live);
  const hooks = workerHooks(process.env);
  const certificates = await dnsCertificates(node);
  const threadCertificate = certificates?.threads ?? null;
  const clockFloor = await openClockFloor(node);
  const { settingsOf, numbers, anchors } = threadSettings(
    node,
    hooks,
    threadCertificate,
    clockFloor,
    log.names,
  );
  const settings = await settingsOf(config);
  const inCache = { of: (): WorkerSettings | null => settings };
  const { cacheMemory, cacheImage } = await openCache(node, () => inCache.of(), initial.snapshot);
  const supervisor = new WorkerSupervisor({
    workers: config.server.workers,
    settings,
    cache: cacheMemory,
    secret: () => node.secret.current(),
    snapshot: initial.snapshot,
    nodeState: firstNodeState(initial, (await generations.wasReady()) ? NodeState.READY : before),
    certificate: threadCertificate?.current() ?? null,
    logger: logger.child({ part: 'dns' }),
    equip: (memories) => node.inherited?.giveTo(memories, settings),
    sharesSockets: node.isTakingOver,
  });
  const broadcast = supervisor.broadcast.bind(supervisor);
  const beforeUse = log.names.rules.bind(log.names);
  const publisher = new SnapshotPublisher({ ...node, initial, broadcast, live, generations, beforeUse });
  stops.push(() => publisher.settled());
  if (hooks.faultInjection) serveFaultRequests(supervisor, log.writer);
  const followAnchors = (): void => followTrust(anchors, supervisor);
  const liveSettings = new LiveSettings(config, settings, {
    settingsOf,
    deliver: (next) => supervisor.useSettings(next),
    delivered: followAnchors,
    emptyCache: () => new CacheIndex(cacheMemory).drop({ matches: () => true }),
    logger,
  });
  node.configuration.onChange((next) => liveSettings.use(next));
  if (threadCertificate !== null) {
    const stopFollowing = threadCertificate.follow((next) => {
      supervisor.useCertificate(next);
      void liveSettings.use(node.configuration.current());
    });
    stops.push(stopFollowing);
  }
  inCache.of = () => liveSettings.ofCache();
  void node.mayWrite.then(() => clockFloor.start(() => void liveSettings.use(node.configuration.current())));
  const reports = startReports(node, supervisor, log.writer);
  const startThreads = async (): Promise<void> => {
    await supervisor.start();
    // The code of the log thread is loaded only after the threads answer queries.
    log.writer.start({ memories: supervisor.memories(), seen: reports.seen });
    followAnchors();
  };
  return {
    ...node,
    ...log,
    ...reports,
    startThreads,
    supervisor,
    publisher,
    liveSettings,
    generations,
    evaluator,
    grantTimes,
    cacheMemory,
    /** The answer cache as bytes; null = it cannot be handed over. */
    cacheImage,
    /** Configured text of a server, by its number in log records. */
    upstreamName: (index: number) => numbers.addressOf(index) ?? zones.upstreamOf(index + 1),
    clockFloor,
    /** Certificate of the web; null if it is not open yet. */
    webCertificate: certificates?.web ?? null,
    /** Certificate of encrypted DNS; null = none. */
    dnsCertificate: certificates?.dns ?? null,
  };
}

/** Starts counting answered queries each second, and handling events that the log thread detects in log records. */
function startReports({ config, clock, stops }: Node, supervisor: WorkerSupervisor, writer: QueryLogThread) {
  const probes = new Probes(clock, (tokens) => writer.watchProbes(tokens));
  const refusedNetworks = new RefusedNetworks();
  const seen = (sighting: Sighting): void => {
    if (sighting.type === 'probe-seen') probes.note(sighting.query);
    else if (sighting.type === 'loop-seen') supervisor.reportLoop(sighting.token, sighting.client);
    else
      for (const { client, queries, atMs } of sighting.samples) refusedNetworks.note(client, queries, atMs);
  };
  const rate = new QueryRate(supervisor.memories());
  rate.start();
  stops.push({
    stop: async (withinMs) => {
      await supervisor.drain(withinMs);
      rate.stop();
      await writer.stopReading();
    },
  });
  /** The dnstap stream; null if no receiver is configured. */
  const dnstap = config.logging.dnstap === '' ? null : { counters: () => writer.streamCounters() };
  return { probes, dnstap, rate, refusedNetworks, seen };
}

/** Null without encrypted DNS, so that no code for certificates is loaded before queries are answered. */
async function dnsCertificates(node: Node): Promise<DnsCertificates | null> {
  const { dot_enabled: dot, doh_enabled: doh } = node.config.server.encrypted_dns;
  if (!dot && !doh) return null;
  const { openDnsCertificates } = await import('./start-tls.ts');
  return openDnsCertificates(node);
}

async function openClockFloor(node: Node): Promise<ClockFloor> {
  const floor = await ClockFloor.open({ ...node, kernelClock: kernelClockReader() });
  node.stops.push(() => floor.close());
  return floor;
}

/** Derives settings of the threads from a configuration. */
function threadSettings(
  node: Node,
  hooks: WorkerHooks,
  certificate: ThreadCertificate | null,
  clockFloor: ClockFloor,
  names: NameFeed,
) {
  const numbers = new PoolNumbers((number, address) => names.upstream(number, address));
  const isClockWrong = (): boolean => clockFloor.isWrong;
  const anchors = new FollowedAnchors({ ...node, isClockWrong });
  node.stops.push(() => anchors.close());
  const settingsOf = async (next: Config): Promise<WorkerSettings> => {
    const settings = workerSettings(next, node.dnsPort, hooks);
    const designated = certificate === null ? [] : designatedResolvers(certificate.cert, settings);
    const designatedAddresses = certificate === null ? [] : certifiedAddresses(certificate.cert);
    const identity = { ...settings.identity, version: node.version, designated, designatedAddresses };
    const pools = numbers.number(settings.pools);
    return anchors.addTo({ ...settings, identity, pools, clockFloorMs: clockFloor.earliestMs }, next);
  };
  return { settingsOf, numbers, anchors };
}

function followTrust(anchors: FollowedAnchors, supervisor: WorkerSupervisor): void {
  anchors.follow({
    observe: (zone) => supervisor.requests.observe(zone),
    trust: (found) => supervisor.trust(found),
  });
}

/** Starts the writer and the reader of the query log. */
function startLog(node: Node) {
  const { clients, config, configuration, nodeName, stops } = node;
  const claim = openNodeClaim(node, (isHeld) => writer.allowStoring(isHeld));
  const names = new NameFeed();
  const { dnstap: target } = config.logging;
  const writer = new QueryLogThread({
    ...node,
    names,
    nodeId: nodeIdOf(nodeName),
    runKey: claim.run,
    settings: logSettings(configuration.current()),
    stream: target === '' ? null : { target, identity: nodeName, version: `Weir ${node.version}` },
  });
  configuration.onChange((next) => writer.use(logSettings(next)));
  stops.push({ stop: (withinMs) => writer.close(withinMs), keptMs: LOG_MS });
  const scans = new LogScans(node);
  stops.push(() => scans.close());
  const queryLog = logQuestions({
    ...node,
    scans,
    flush: () => writer.flush(),
    hostnameOf: (address, clientId) => clients.nameAt(address, clientId),
  });
  claim.start();
  return {
    claim,
    names,
    writer,
    // The same reader, under a second name for features that only use statistics.
    queryLog,
    stats: queryLog,
    /** Reason why rows of the query log cannot be stored; null = rows can be stored. */
    logTrouble: () => claim.trouble() ?? writer.trouble(),
  };
}

/** Settings of the log thread from a configuration. */
function logSettings({ database, dns }: Config): LogSettings {
  const { ipv4_prefix_len: ipv4PrefixLength, ipv6_prefix_len: ipv6PrefixLength } = dns.rate_limit;
  const { log_queries: isOn, query_log_privacy: privacy, log_pressure: pressure } = database;
  return {
    privacy: isOn ? privacy : 'off',
    streamPrivacy: privacy,
    limitedPrefixes: { ipv4PrefixLength, ipv6PrefixLength },
    pressure,
  };
}

/** Claims the node's name in the database, once the claim is started and a database is available. */
function openNodeClaim(node: Node, onHeld: (isHeld: boolean) => void): NodeClaim {
  const claim = new NodeClaim({ ...node, onHeld });
  node.stops.push(() => claim.stop());
  return claim;
}

/**
 * The answer cache, with the answers of the last run if the cache is kept between runs. It is saved after the threads
 * have ended, together with the settings that produced its answers, or with null if the answers are from several
 * settings.
 */
async function openCache(
  { config, configuration, dataDir, clock, inherited, logger, mayWrite, stops }: Node,
  settingsOf: () => WorkerSettings | null,
  { rules }: SnapshotBuffers,
) {
  const cacheMemory = createAnswerCache(config.cache.max_bytes);
  const { seedLow, seedHigh } = new RuleTable(rules);
  const file = (): CacheFile | null => {
    const settings = settingsOf();
    if (settings === null) return null;
    const { pools, dnssec } = settings;
    return new CacheFile(dataDir, { pools, dnssec, seedLow, seedHigh }, logger);
  };
  const first = file();
  const image = inherited?.takeImage() ?? null;
  if (first !== null && image !== null) {
    logger.info('took over cached answers of the previous process', {
      entries: first.fill(cacheMemory, clock, image),
    });
    void mayWrite.then(() => first.discard());
  } else if (first !== null && config.cache.persist) {
    logger.info('loaded cached answers of the last run', { entries: await first.load(cacheMemory, clock) });
  }
  stops.push(async () => {
    if (configuration.current().cache.persist) await file()?.save(cacheMemory, clock);
  });
  return { cacheMemory, cacheImage: () => file()?.image(cacheMemory, clock) ?? null };
}
