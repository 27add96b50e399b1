/** Starts the policy side: policy of the database, lists, and their refresh. */
import type { Node } from './node.ts';
import { liveAt } from './live-policy.ts';
import { systemClock as clock } from '../shared/clock.ts';
import { ChangeFollower } from './cluster/change-follower.ts';
import type { NodeClaim } from './cluster/node-claim.ts';
import { nodeIdOf } from './cluster/node-store.ts';
import { onDatabaseUp } from './db/on-up.ts';
import type { AskedServersParts } from './explain/asked-servers.ts';
import { Explainer } from './explain/explainer.ts';
import { PastExplainer } from './explain/past-explainer.ts';
import { removeEnded } from './grants/ended-grants.ts';
import { seedFirstSource } from './lists/sources/first-source.ts';
import { CompiledLists } from './lists/compiled/compiled-lists.ts';
import { DraftLists } from './lists/sources/draft-lists.ts';
import { ListCache } from './lists/sources/list-cache.ts';
import { MostAskedNames } from './lists/sources/list-guard.ts';
import type { FetchBounds } from './lists/fetch/list-host.ts';
import { ListSources } from './lists/sources/list-sources.ts';
import { RefusedCopies } from './lists/sources/refused-copies.ts';
import { SharedCopies } from './lists/sources/shared-copies.ts';
import { NamesFolder } from './lists/compiled/names-folder.ts';
import { DayExport } from './query-log/nightly/day-export.ts';
import { startLogMaintenance } from './query-log/upkeep/log-maintenance.ts';
import type { LogQuestions } from './query-log/scans/log-questions.ts';
import { LocalSwitch } from './schedules/local-switch.ts';
import type { ScheduleEvaluator } from './schedules/schedule-evaluator.ts';
import { CatalogRefresh } from './services/catalog-refresh.ts';
import { ServiceCatalog } from './services/service-catalog.ts';
import { readBlockedIds } from './services/service-store.ts';
import { blockingSettings } from './settings/derived.ts';
import type { LiveSettings } from './settings/threads/live-settings.ts';
import { Simulator } from './simulate/simulator.ts';
import { CompilePool } from './compile/table/compile-pool.ts';
import type { Generations } from './snapshot/publish/generations.ts';
import { PolicyInForce } from './snapshot/publish/policy-in-force.ts';
import { PolicyChanges } from './policy/change.ts';
import { PolicyMemory } from './policy/policy-memory.ts';
import { readPolicy } from './policy/policy-store.ts';
import type { PublishedState } from './snapshot/published-state.ts';
import type { SnapshotPublisher } from './snapshot/publish/publisher.ts';
import { upstreamDetails } from './upstreams/upstream-health.ts';
import type { WorkerSupervisor } from './workers/supervisor.ts';

/** Parts of the answering side that policy is put into force with. */
interface DnsParts {
  readonly supervisor: WorkerSupervisor;
  readonly publisher: SnapshotPublisher;
  readonly liveSettings: LiveSettings;
  readonly generations: Generations;
  readonly evaluator: ScheduleEvaluator;
  readonly claim: Pick<NodeClaim, 'tellNews'>;
  readonly log: LogQuestions;
  /** Address of the server with an index, see `recordNames()`. */
  readonly upstreamName: (index: number) => string | undefined;
}

/** The policy side: policy of the database and lists. Longer than others, as it only names what each part takes. */
export async function startPolicy(node: Node, dns: DnsParts) {
  const { config, configuration, logger, dataDir, database, stops } = node;
  const { supervisor, publisher, generations, evaluator } = dns;
  const catalog = new ServiceCatalog(dataDir);
  await catalog.load(logger, config.blocking.catalog_url);
  const refused = new RefusedCopies(clock);
  const localSwitch = new LocalSwitch({ dataDir, clock, logger });
  const policy = policyInForce(node, dns, { catalog, refused, localSwitch });
  const changes = new PolicyChanges(database, policy);
  evaluator.start({
    rows: () => publisher.current().rows,
    apply: () => policy.applyLive(),
    endGrants: (ids) => void removeEnded(database, logger, ids),
  });
  stops.push(() => evaluator.close());
  const bounds = boundsOf(node);
  const pool = new CompilePool();
  const names = new NamesFolder(dataDir);
  const cache = new ListCache(dataDir);
  const copies = new SharedCopies({ database, cache, logger });
  const lists = new ListSources({
    ...{ database, policy, changes, publisher, pool, clock, logger },
    ...{ cache, copies, refused, jobs: node.jobs, nodeName: node.name },
    generations,
    names,
    mostAsked: mostAskedOf(dns.log),
    refreshHours: () => configuration.current().blocking.list_refresh_hours,
    listDirs: () => configuration.current().blocking.list_dirs,
    bounds,
  });
  stops.push(async () => {
    await lists.close();
    await pool.close();
  });
  const follower = new ChangeFollower(database, policy, logger, () => dns.claim.tellNews());
  for (const table of ['list_sources', 'list_copies'] as const)
    follower.onChange(table, () => lists.lookSoon());
  stops.push(() => follower.close());
  const compiledLists = new CompiledLists({ current: () => publisher.current(), names });
  const catalogRefresh = catalogRefreshOf(node, { catalog, bounds, policy, changes });
  follower.onChange('service_catalog', () => catalogRefresh.follow());
  const explainer = new Explainer({
    ask: (question) => supervisor.requests.explain(question),
    publisher,
    servers: askedServersOf(node, supervisor),
    upstreamName: dns.upstreamName,
    findLine: (sourceId, ruleName, kinds) => lists.findLine(sourceId, ruleName, kinds),
  });
  const past = pastExplainerOf(node, dns);
  const simulator = simulatorOf(node, dns, { cache, copies, pool, bounds, catalog });
  return {
    ...{ policy, changes, follower, lists, compiledLists, catalog, catalogRefresh },
    ...{ explainer, past, simulator, dayExport: dayExportOf(node, dns.log), localSwitch },
  };
}

/** What puts the database's policy into force, with its configuration. */
function policyInForce(
  { configuration, database, logger, stops }: Node,
  { publisher, liveSettings, claim }: DnsParts,
  parts: { catalog: ServiceCatalog; refused: RefusedCopies; localSwitch: LocalSwitch },
): PolicyInForce {
  const { catalog, refused, localSwitch } = parts;
  const memory = new PolicyMemory();
  const policy = new PolicyInForce({
    publisher,
    readPolicy: () => configuration.follow(() => readPolicy(database, (id) => catalog.find(id), memory)),
    rowsHere: (rows) => localSwitch.over(rows),
    isRefused: (id, inputKey) => refused.reasonFor(id, inputKey) !== undefined,
    settingsBehind: () => liveSettings.threadsBehind(),
    blocking: () => blockingSettings(configuration.current()),
    logger,
    moved: () => claim.tellNews(),
  });
  stops.push(() => policy.close());
  stops.push(
    onDatabaseUp(database, logger, 'write local switches of blocking to the audit log', () =>
      localSwitch.record(database),
    ),
  );
  return policy;
}

/** Where explanations read the state of upstream servers. */
function askedServersOf({ configuration }: Node, supervisor: WorkerSupervisor): AskedServersParts {
  return {
    details: () => upstreamDetails(supervisor.upstreams()),
    pools: () => configuration.current().dns.pools,
  };
}

/** What explains by earlier generations. */
function pastExplainerOf(node: Node, { generations, publisher, supervisor }: DnsParts): PastExplainer {
  return new PastExplainer({
    generations,
    servers: askedServersOf(node, supervisor),
    rulesInForce: () => publisher.current().compiled,
    blocking: () => blockingSettings(node.configuration.current()),
    liveAt: (rows, momentMs) => liveAt(node, rows, momentMs),
  });
}

/** What answers what a draft would change. */
function simulatorOf(
  { configuration, database, clients }: Node,
  { publisher, log }: DnsParts,
  {
    catalog,
    ...ofLists
  }: {
    cache: ListCache;
    copies: SharedCopies;
    pool: CompilePool;
    bounds: FetchBounds;
    catalog: ServiceCatalog;
  },
): Simulator {
  const current = (): PublishedState => publisher.current();
  const listDirs = (): readonly string[] => configuration.current().blocking.list_dirs;
  return new Simulator({
    ...{ publisher, database, clients, clock, log },
    blocking: () => blockingSettings(configuration.current()),
    lists: new DraftLists({ ...ofLists, database, clock, current, listDirs }),
    findService: (id) => catalog.find(id),
  });
}

/** The catalog's refresh, which starts with the housekeeping. */
function catalogRefreshOf(
  { configuration, logger, dataDir, database, jobs, stops }: Node,
  parts: { catalog: ServiceCatalog; bounds: FetchBounds; policy: PolicyInForce; changes: PolicyChanges },
): CatalogRefresh {
  const refresh = new CatalogRefresh({
    ...{ catalog: parts.catalog, changes: parts.changes, database, jobs, dataDir },
    listDirs: () => configuration.current().blocking.list_dirs,
    bounds: parts.bounds,
    clock,
    logger,
    url: () => configuration.current().blocking.catalog_url,
    refreshHours: () => configuration.current().blocking.catalog_refresh_hours,
    blocked: () => readBlockedIds(database),
    apply: () => parts.policy.apply(),
  });
  configuration.onChange(async (next, before) => {
    const { catalog_url: url } = next.blocking;
    if (url === before.blocking.catalog_url) return;
    await parts.catalog.load(logger, url);
    void refresh.look();
  });
  stops.push(() => refresh.close());
  return refresh;
}

/** The export of finished days, which starts with the housekeeping. */
function dayExportOf({ configuration, database, jobs, logger }: Node, queryLog: LogQuestions): DayExport {
  const folder = (): string => configuration.current().database.export_dir;
  return new DayExport({ database, jobs, queryLog, folder, logger });
}

/** The names that a new list is watched for: those of all nodes, as it is fetched for all. */
function mostAskedOf(log: LogQuestions): MostAskedNames {
  const untilAnswered = new AbortController().signal;
  const read = (days: number, limit: number): Promise<readonly string[]> => {
    return log.mostAsked({ nowMs: clock.nowMs(), days, limit }, untilAnswered);
  };
  return new MostAskedNames(read, clock);
}

/** Where lists and the catalog may come from. */
function boundsOf({ configuration, ownPorts }: Node): FetchBounds {
  return {
    localDomain: () => configuration.current().dns.local_domain,
    ownPorts: () => ownPorts,
  };
}

/** Starts the work that is due each time the database comes up, and periodically. */
export function startHousekeeping(
  { configuration, name, logger, database, jobs, stops }: Node,
  parts: {
    lists: ListSources;
    catalogRefresh: CatalogRefresh;
    changes: PolicyChanges;
    /** Called when each list that was due has been brought into force, or cannot be. */
    listsInForce: () => void;
    dayExport: DayExport;
  },
): void {
  const { lists, catalogRefresh, changes, listsInForce, dayExport } = parts;
  stops.push(
    startLogMaintenance({
      database,
      jobs,
      clock,
      logger,
      nodeId: nodeIdOf(name),
      dayExport,
      queryLogDays: () => configuration.current().database.query_log_days,
      rollupDays: () => configuration.current().database.rollup_days,
    }),
    onDatabaseUp(database, logger, 'bring lists into force', async () => {
      await configuration.settle(changes);
      await seedFirstSource(database);
      await lists.start();
      catalogRefresh.start();
      void lists.idle().then(listsInForce);
    }),
  );
}
