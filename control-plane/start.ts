/**
 * Starts Weir, in the order in which parts may depend on each other: DNS answers from what the last run
 * left on disk before anything else is there; the database comes up in the background; what needs it
 * follows. Stopping is the same list backwards.
 */
import type { LoadedConfig } from '../config/parse-config.ts';
import type { Config } from '../config/schema.ts';
import { createAnswerCache } from '../shared/answer-cache.ts';
import { systemClock as clock } from '../shared/clock.ts';
import type { WorkerSettings } from '../shared/messages.ts';
import { RuleTable } from '../shared/snapshot/rule-table.ts';
import type { SnapshotBuffers } from '../shared/snapshot/snapshot.ts';
import type { Logger } from '../shared/log.ts';
import { Authenticator } from './auth/authenticator.ts';
import { startExpiredSessionSweep } from './auth/expired-session-sweep.ts';
import { CacheContents } from './cache/cache-contents.ts';
import { CacheFile } from './cache/cache-file.ts';
import { ClientDirectory } from './clients/client-directory.ts';
import { LeaseWatch } from './clients/lease-watch.ts';
import { openNeighbourTable } from './clients/neighbour-table.ts';
import { startClients } from './clients/start-clients.ts';
import { nodeIdOf, registerNode } from './cluster/node-store.ts';
import { lockDataDir } from './db/data-dir-lock.ts';
import { type Database, startDatabase } from './db/database.ts';
import { onDatabaseUp } from './db/on-up.ts';
import { Explainer } from './explain/explainer.ts';
import { createApp } from './http/app.ts';
import { startWebServer } from './http/server.ts';
import { seedFirstSource } from './lists/first-source.ts';
import { CompiledLists } from './lists/compiled-lists.ts';
import { ListCache } from './lists/list-cache.ts';
import { MostAskedNames, WATCHED_NAMES } from './lists/list-guard.ts';
import { ListLife } from './lists/list-life.ts';
import { NamesFolder } from './lists/names-folder.ts';
import { createLogger } from './log.ts';
import { LogDrain } from './query-log/log-drain.ts';
import { startLogMaintenance } from './query-log/log-maintenance.ts';
import { readMostAsked } from './query-log/most-asked-store.ts';
import { queryLogReader } from './query-log/query-log-reader.ts';
import { LogWriter } from './query-log/log-writer.ts';
import { recordNames } from './query-log/record-names.ts';
import { ScheduleEvaluator } from './schedules/schedule-evaluator.ts';
import { CatalogRefresh } from './services/catalog-refresh.ts';
import { ServiceCatalog } from './services/service-catalog.ts';
import {
  blockingSettings,
  configRecords,
  leaseNames,
  nodeNameOf,
  questionFlags,
} from './settings/derived.ts';
import { dnsSettings, settingsFlags } from './settings/dns-settings.ts';
import { CompilePool } from './snapshot/compile-pool.ts';
import { filterStats } from './snapshot/filter-stats.ts';
import { ZoneNumbers } from './snapshot/forward-zones.ts';
import { Generations } from './snapshot/generations.ts';
import { nameRules } from './snapshot/name-rules.ts';
import { PolicyInForce } from './snapshot/policy-in-force.ts';
import { PolicyMemory } from './snapshot/policy-memory.ts';
import { readPolicyRows } from './snapshot/policy-store.ts';
import { SnapshotPublisher } from './snapshot/publisher.ts';
import { startingState } from './snapshot/starting-state.ts';
import { type FindLivePolicy, type LivePolicy, NOTHING_LIVE } from './snapshot/compiled-rules.ts';
import { QueryRate } from './stats/query-rate.ts';
import { readCacheUse, readSummary } from './stats/stats-store.ts';
import { greeting } from './system/greeting.ts';
import { nodeHealth } from './system/node-health.ts';
import { version } from './version.ts';
import { chooseDnsPort } from './workers/dns-port.ts';
import { obeyFaultRequests } from './workers/fault-injection.ts';
import { WorkerSupervisor } from './workers/supervisor.ts';
import { workerHooks, workerSettings } from './workers/worker-settings.ts';

/** Parts that were started and how each is stopped, in the order of starting. */
type Stops = (() => Promise<void> | void)[];

/** Starts Weir and resolves once it answers; it then runs until SIGTERM or SIGINT. */
export async function startWeir(loaded: LoadedConfig): Promise<void> {
  const logger = createLogger(loaded.config.logging);
  const stops: Stops = [];
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopping ??= stopInReverse(stops, logger));
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      logger.info('stopping', { signal });
      void stop().then(() => process.exit(0));
    });
  }
  try {
    await startParts(loaded, logger, stops);
  } catch (error) {
    await stop();
    throw error;
  }
}

/** What every part is started with. */
interface Node {
  readonly loaded: LoadedConfig;
  readonly config: Config;
  readonly name: string;
  readonly logger: Logger;
  readonly dataDir: string;
  readonly database: Database;
  readonly clients: ClientDirectory;
  readonly leases: LeaseWatch;
  readonly stops: Stops;
}

async function startParts(loaded: LoadedConfig, logger: Logger, stops: Stops): Promise<void> {
  const startedAtMs = clock.monotonicMs();
  const { config } = loaded;
  const lock = lockDataDir(config.server.data_dir);
  stops.push(() => lock.release());
  const dnsPort = await chooseDnsPort(
    config.server.bind_address,
    config.server.dns_port,
    loaded.explicit.has('server.dns_port'),
  );
  const database = startDatabase({
    urls: config.database.url,
    lock,
    logger: logger.child({ part: 'database' }),
  });
  stops.push(() => database.close());
  const name = nodeNameOf(config);
  const clients = new ClientDirectory();
  const neighbours = openNeighbourTable(logger);
  // The first snapshot already knows where clients are that are known by MAC.
  clients.locateAll(neighbours());
  const leases = new LeaseWatch({ paths: () => config.dns.dhcp_leases, clock, logger });
  const node: Node = {
    loaded,
    config,
    name,
    logger,
    dataDir: lock.dataDir,
    database,
    clients,
    leases,
    stops,
  };
  const dns = await startDns(node, dnsPort.port);
  const policy = await startPolicy(node, dns);
  stops.push(
    startClients({
      ...node,
      directory: clients,
      neighbours,
      clock,
      memories: dns.supervisor.memories(),
      dnsPort: dnsPort.port,
      rows: () => dns.publisher.current().rows,
      applyLive: () => policy.policy.applyLive(),
    }),
  );
  startHousekeeping(node, policy);
  const webPort = await startWeb(node, { ...dns, ...policy, startedAtMs, dnsPort: dnsPort.port });
  const bindAddresses = config.server.bind_address;
  process.stdout.write(
    greeting({ version, configFile: loaded.file, dataDir: lock.dataDir, bindAddresses, dnsPort, webPort }),
  );
}

/** Local names that are in no database; bare host names of leases are of `localDomain`. */
function localSources(
  { config, leases }: Node,
  localDomain: string,
): Pick<LivePolicy, 'configRecords' | 'leases'> {
  return { configRecords: configRecords(config), leases: leaseNames(leases.all(), localDomain) };
}

/** The answering side: threads on the last snapshot, and the way of their log records into the database. */
async function startDns(node: Node, dnsPort: number) {
  const { config, logger, dataDir, database, clients, stops } = node;
  const writer = new LogWriter({
    database,
    dataDir,
    nodeId: nodeIdOf(node.name),
    logger,
    privacy: () => (config.database.log_queries ? config.database.query_log_privacy : 'off'),
  });
  stops.push(() => writer.close());
  const generations = new Generations(dataDir, logger);
  const zones = new ZoneNumbers();
  const evaluator = new ScheduleEvaluator(clock, logger);
  const live: FindLivePolicy = (rows) => {
    const settings = dnsSettings(config, rows.dnsSettings);
    return {
      ...NOTHING_LIVE,
      ...evaluator.evaluate(rows),
      clientAddresses: clients.follow(rows),
      names: nameRules(rows, settings, config, zones),
      ...localSources(node, settings.local_domain),
      questionFlags: questionFlags(config) | settingsFlags(settings),
    };
  };
  const initial = await startingState(generations, blockingSettings(config), live);
  const hooks = workerHooks(process.env);
  const settings = workerSettings(config, dnsPort, hooks);
  const cache = await openCache(node, settings, initial.snapshot);
  const supervisor = new WorkerSupervisor({
    workers: config.server.workers,
    settings,
    cache,
    snapshot: initial.snapshot,
    logger: logger.child({ part: 'dns' }),
  });
  const broadcast = supervisor.broadcast.bind(supervisor);
  const publisher = new SnapshotPublisher({ initial, broadcast, live, generations, logger });
  stops.push(() => publisher.settled());
  await supervisor.start();
  if (hooks.faultInjection) obeyFaultRequests(supervisor);
  const names = recordNames(publisher, settings.pools, zones);
  const drain = new LogDrain(supervisor.memories(), names, (row) => writer.append(row));
  const rate = new QueryRate(supervisor.memories());
  drain.start();
  rate.start();
  stops.push(async () => {
    await supervisor.drain();
    drain.stop();
    rate.stop();
  });
  return { supervisor, publisher, generations, rate, cache, evaluator, logTrouble: () => writer.trouble() };
}

/** The answer cache, with the answers of the last run where they are kept; written back after the threads' end. */
async function openCache(
  { config, dataDir, logger, stops }: Node,
  { pools, dnssec }: WorkerSettings,
  { rules }: SnapshotBuffers,
): Promise<SharedArrayBuffer> {
  const cache = createAnswerCache(config.cache.max_bytes);
  if (!config.cache.persist) return cache;
  const { seedLow, seedHigh } = new RuleTable(rules);
  const file = new CacheFile(dataDir, { pools, dnssec, seedLow, seedHigh }, logger);
  logger.info('answers of the last run', { entries: await file.load(cache, clock.nowMs()) });
  stops.push(async () => {
    await file.save(cache, clock.nowMs());
  });
  return cache;
}

/** Parts of the answering side that policy is put into force with. */
interface DnsParts {
  readonly supervisor: WorkerSupervisor;
  readonly publisher: SnapshotPublisher;
  readonly generations: Generations;
  readonly evaluator: ScheduleEvaluator;
}

/** What decides: the policy in the database and the lists. */
async function startPolicy(node: Node, dns: DnsParts) {
  const { config, logger, dataDir, database, stops } = node;
  const { supervisor, publisher, generations, evaluator } = dns;
  const catalog = new ServiceCatalog(dataDir);
  await catalog.load(logger);
  const memory = new PolicyMemory();
  const policy = new PolicyInForce({
    publisher,
    readRows: () => readPolicyRows(database, (id) => catalog.find(id), memory),
    blocking: () => blockingSettings(config),
    logger,
  });
  evaluator.start({ rows: () => publisher.current().rows, apply: () => policy.applyLive() });
  stops.push(() => evaluator.close());
  const pool = new CompilePool();
  const names = new NamesFolder(dataDir);
  const readMostAskedNames = (): Promise<readonly string[]> =>
    readMostAsked(database, nodeIdOf(node.name), clock.nowMs(), WATCHED_NAMES);
  const lists = new ListLife({
    database,
    policy,
    publisher,
    pool,
    clock,
    logger,
    cache: new ListCache(dataDir),
    generations,
    names,
    mostAsked: new MostAskedNames(readMostAskedNames, clock),
    refreshHours: () => config.blocking.list_refresh_hours,
    listDirs: () => config.blocking.list_dirs,
  });
  stops.push(async () => {
    await lists.close();
    await pool.close();
  });
  const compiledLists = new CompiledLists({ current: () => publisher.current(), names });
  const listDirs = (): readonly string[] => config.blocking.list_dirs;
  const catalogRefresh = new CatalogRefresh({
    catalog,
    dataDir,
    listDirs,
    clock,
    logger,
    url: () => config.blocking.catalog_url,
    refreshHours: () => config.blocking.catalog_refresh_hours,
    apply: () => policy.apply(),
  });
  stops.push(() => catalogRefresh.close());
  const explainer = new Explainer({
    ask: (question) => supervisor.explain(question),
    publisher,
    findLine: (sourceId, ruleName, kinds) => lists.findLine(sourceId, ruleName, kinds),
  });
  return { policy, lists, explainer, compiledLists, catalog, catalogRefresh };
}

/** What is due each time the database comes up, and from time to time. */
function startHousekeeping(
  { config, name, logger, database, stops }: Node,
  { lists, catalogRefresh }: { lists: ListLife; catalogRefresh: CatalogRefresh },
): void {
  stops.push(
    startLogMaintenance({ database, clock, logger, queryLogDays: () => config.database.query_log_days }),
    onDatabaseUp(database, logger, 'register node', () => registerNode(database, { name, version })),
    onDatabaseUp(database, logger, 'bring lists into force', async () => {
      await seedFirstSource(database);
      await lists.start();
      catalogRefresh.start();
    }),
  );
}

/** Parts that the API speaks to. */
interface WebParts {
  readonly logTrouble: () => string | null;
  readonly supervisor: WorkerSupervisor;
  readonly publisher: SnapshotPublisher;
  readonly rate: QueryRate;
  readonly cache: SharedArrayBuffer;
  readonly policy: PolicyInForce;
  readonly lists: ListLife;
  readonly compiledLists: CompiledLists;
  readonly explainer: Explainer;
  readonly catalog: ServiceCatalog;
  readonly startedAtMs: number;
  readonly dnsPort: number;
}

/** Dashboard and API; returns the port. */
async function startWeb(node: Node, parts: WebParts): Promise<number> {
  const { config, name, logger, database, stops } = node;
  const { supervisor, publisher } = parts;
  const auth = new Authenticator({ config: () => config, database, clock, logger });
  stops.push(startExpiredSessionSweep(auth, logger));
  const localDomain = (): string => dnsSettings(config, publisher.current().rows.dnsSettings).local_domain;
  const app = createApp({
    version,
    nodeName: name,
    startedAtMs: parts.startedAtMs,
    clock,
    logger,
    database,
    policy: parts.policy,
    clients: node.clients,
    localNames: {
      localDomain,
      live: () => localSources(node, localDomain()),
    },
    config: () => config,
    dnsPort: () => parts.dnsPort,
    auth,
    sources: parts.lists,
    queryLog: queryLogReader(database, (address) => node.clients.nameAt(address)),
    stats: {
      summary: (from, to) => readSummary(database, from.getTime(), to.getTime()),
      cacheUse: (from, to) => readCacheUse(database, from.getTime(), to.getTime()),
    },
    counters: parts.rate,
    compiledLists: parts.compiledLists,
    catalog: parts.catalog,
    explainer: parts.explainer,
    filters: { stats: () => filterStats(publisher.current()) },
    health: { checks: () => nodeHealth({ supervisor, database, publisher, logTrouble: parts.logTrouble }) },
    upstreams: { reports: () => supervisor.upstreams() },
    cache: new CacheContents(parts.cache, (counter) => parts.rate.total(counter)),
  });
  const web = await startWebServer(app, config, logger);
  stops.push(() => web.close());
  return web.endpoints[0]?.port ?? config.server.web_port;
}

/** Stops all parts, last first; a part that fails to stop does not keep the others from it. */
async function stopInReverse(stops: Stops, logger: Logger): Promise<void> {
  for (const stop of stops.toReversed()) {
    try {
      await stop();
    } catch (error) {
      logger.error('stop a part', { reason: error instanceof Error ? error.message : String(error) });
    }
  }
}
