/** Starts the DNS side: threads on the last snapshot, and the path of their log records into the database. */
import type { Node } from './node.ts';
import { createAnswerCache } from '../../shared/memory/answer-cache-layout.ts';
import { addressToText } from '../../shared/net/ip.ts';
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
import type { Dnstap } from '../query-log/dnstap/dnstap.ts';
import { LogDrain } from '../query-log/drain/log-drain.ts';
import { logQuestions } from '../query-log/log-search/log-questions.ts';
import { LogScans } from '../query-log/log-search/log-scans.ts';
import { LogWriter } from '../query-log/store/log-writer.ts';
import type { QueryLogPrivacy } from '../query-log/store/privacy.ts';
import { recordNames } from './record-names.ts';
import { GrantTimes } from '../filtering/grants/grant-times.ts';
import { ScheduleEvaluator } from '../filtering/schedules/schedule-evaluator.ts';
import { certifiedAddresses, designatedResolvers } from '../web/tls/designated-resolvers.ts';
import { watchLoops } from '../resolving/upstreams/loop-watch.ts';
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
import { obeyFaultRequests } from '../threads/fault-injection.ts';
import { FollowedAnchors } from './thread-settings/trust-points.ts';
import { WorkerSupervisor } from '../threads/supervisor.ts';
import { workerHooks, workerSettings } from './thread-settings/worker-settings.ts';
import type { WorkerHooks } from './thread-settings/worker-settings.ts';

/** Milliseconds that are kept for storing the last log rows, in the database or in the spool, when Weir stops. */
const LOG_MS = 600;

/** A node with its DNS side. */
export type DnsContext = Awaited<ReturnType<typeof startDns>>;

/**
 * The DNS side: threads on the last snapshot, which `startThreads()` starts, and the path of their log records into the database. `before` is the state
 * of the process whose sockets these are; one that has ended counts as ready if it ever was.
 */
export async function startDns(node: Node, before: NodeStateCode = NodeState.HOLDING) {
  const { config, logger, dataDir, clock, stops } = node;
  const log = startLog(node);
  const generations = new Generations(dataDir, logger);
  const zones = new ZoneNumbers();
  const grantTimes = new GrantTimes(clock);
  const evaluator = new ScheduleEvaluator(clock, logger, grantTimes);
  const live = livePolicy(node, evaluator, zones);
  const initial = await startingState(generations, blockingSettings(config), live);
  const hooks = workerHooks(process.env);
  const certificates = await dnsCertificates(node);
  const threadCertificate = certificates?.threads ?? null;
  const clockFloor = await openClockFloor(node);
  const { settingsOf, numbers, anchors } = threadSettings(node, hooks, threadCertificate, clockFloor);
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
    isBesideAnother: node.isTakingOver,
  });
  const broadcast = supervisor.broadcast.bind(supervisor);
  const publisher = new SnapshotPublisher({ ...node, initial, broadcast, live, generations });
  stops.push(() => publisher.settled());
  if (hooks.faultInjection) obeyFaultRequests(supervisor, () => log.writer.counters());
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
  const names = recordNames(publisher, numbers, zones);
  const reports = await startReports(node, supervisor, names, log.writer);
  const startThreads = async (): Promise<void> => {
    await supervisor.start();
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
    /** Address of the server with an index, see `recordNames()`. */
    upstreamName: (index: number) => names.upstream(index),
    clockFloor,
    /** Null if it is not open yet. */
    webCertificate: certificates?.web ?? null,
    /** Of encrypted DNS; null = there is none. */
    dnsCertificate: certificates?.dns ?? null,
  };
}

/** Starts what takes the answered queries out of the threads, and counts them each second. */
async function startReports(
  node: Node,
  supervisor: WorkerSupervisor,
  names: ReturnType<typeof recordNames>,
  writer: LogWriter,
) {
  const probes = new Probes(node.clock);
  const dnstap = await startDnstap(node);
  const refusedNetworks = new RefusedNetworks();
  const seeLoops = watchLoops((token, client) => supervisor.reportLoop(token, client));
  const drain = new LogDrain(supervisor.memories(), names, {
    see: (row) => {
      probes.see(row);
      seeLoops(row);
    },
    append: (row) => {
      // Before the log, which may be off.
      seeLoops(row);
      dnstap?.append(row);
      writer.append(row);
    },
    refuse: (row, queries) =>
      refusedNetworks.note(addressToText(row.bytes, row.client.at), queries, row.timestampMs),
    lose: (rows) => writer.lose(rows),
  });
  const rate = new QueryRate(supervisor.memories());
  drain.start();
  rate.start();
  node.stops.push({
    stop: async (withinMs) => {
      await supervisor.drain(withinMs);
      drain.stop();
      rate.stop();
    },
  });
  return { probes, dnstap, rate, refusedNetworks };
}

/** Null where no DNS is encrypted: then no code of certificates is loaded before DNS answers. */
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

/** What makes settings of the threads out of a configuration. */
function threadSettings(
  node: Node,
  hooks: WorkerHooks,
  certificate: ThreadCertificate | null,
  clockFloor: ClockFloor,
) {
  const numbers = new PoolNumbers();
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

/** What writes the query log, and what answers questions about it. */
function startLog(node: Node) {
  const { clients, stops } = node;
  const claim = startNodeClaim(node);
  const writer = new LogWriter({
    ...node,
    nodeId: nodeIdOf(node.nodeName),
    runKey: claim.run,
    mayStore: () => claim.isHeld(),
    privacy: () => {
      const { log_queries: isOn, query_log_privacy: privacy } = node.configuration.current().database;
      return isOn ? privacy : 'off';
    },
    limitedPrefixes: () => {
      const { ipv4_prefix_len, ipv6_prefix_len } = node.configuration.current().dns.rate_limit;
      return { ipv4PrefixLength: ipv4_prefix_len, ipv6PrefixLength: ipv6_prefix_len };
    },
  });
  stops.push({ stop: (withinMs) => writer.close(withinMs), keptMs: LOG_MS });
  const scans = new LogScans(node);
  stops.push(() => scans.close());
  const queryLog = logQuestions({
    ...node,
    scans,
    flush: () => writer.flush(),
    hostnameOf: (address, clientId) => clients.nameAt(address, clientId),
  });
  return {
    claim,
    writer,
    // One reader, which features see as the log or as its statistics.
    queryLog,
    stats: queryLog,
    /** Why rows of the query log cannot be stored; null = they can. */
    logTrouble: () => claim.trouble() ?? writer.trouble(),
  };
}

/** The stream of answered queries; none where no receiver is configured: then no code of it is loaded. */
async function startDnstap({
  config,
  configuration,
  nodeName,
  version,
  logger,
  stops,
}: Node): Promise<Dnstap | null> {
  const target = config.logging.dnstap;
  if (target === '') return null;
  const { Dnstap } = await import('../query-log/dnstap/dnstap.ts');
  const privacy = (): QueryLogPrivacy => configuration.current().database.query_log_privacy;
  const dnstap = new Dnstap({ target, identity: nodeName, version: `Weir ${version}`, privacy, logger });
  stops.push((withinMs) => dnstap.close(withinMs));
  return dnstap;
}

/** Claims the node's name in the database, as soon as there is one. */
function startNodeClaim(node: Node): NodeClaim {
  const claim = new NodeClaim(node);
  claim.start();
  node.stops.push(() => claim.stop());
  return claim;
}

/**
 * The answer cache, with the answers of the last run where they are kept; written back after the threads' end, for
 * settings like those that its answers came about by: null = by several.
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
    logger.info('answers of the earlier process', { entries: first.fill(cacheMemory, clock, image) });
    void mayWrite.then(() => first.discard());
  } else if (first !== null && config.cache.persist) {
    logger.info('answers of the last run', { entries: await first.load(cacheMemory, clock) });
  }
  stops.push(async () => {
    if (configuration.current().cache.persist) await file()?.save(cacheMemory, clock);
  });
  return { cacheMemory, cacheImage: () => file()?.image(cacheMemory, clock) ?? null };
}
