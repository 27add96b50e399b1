/** Starts the policy side: policy in the database, lists, and their updates. */
import type { Node } from './node.ts';
import type { DnsContext } from './start-dns.ts';
import { liveAt } from './live-policy.ts';
import { ChangeFollower } from '../storage/cluster/change-follower.ts';
import { nodeIdOf } from '../storage/cluster/node-store.ts';
import { onDatabaseUp } from '../storage/db/on-up.ts';
import type { AskedServersParts } from '../insight/explain/asked-servers.ts';
import { Explainer } from '../insight/explain/explainer.ts';
import { PastExplainer } from '../insight/explain/past-explainer.ts';
import { removeEnded } from '../filtering/grants/ended-grants.ts';
import { seedFirstSource } from '../lists/sources/first-source.ts';
import { CompiledLists } from '../lists/compiled/compiled-lists.ts';
import { ListPreviews, type ListPreviewParts } from '../lists/preview/list-previews.ts';
import { DraftLists } from '../lists/sources/draft-lists.ts';
import { ListCache } from '../lists/sources/list-cache.ts';
import { MostAskedNames } from '../lists/sources/list-guard.ts';
import type { FetchBounds } from '../lists/fetch/list-host.ts';
import { ListSources } from '../lists/sources/list-sources.ts';
import { RefusedCopies } from '../lists/sources/refused-copies.ts';
import { SharedCopies } from '../lists/sources/shared-copies.ts';
import { NamesFolder } from '../lists/compiled/names-folder.ts';
import { LogClearing } from '../query-log/clearing/log-clearing.ts';
import { DayExport } from '../query-log/parquet-export/day-export.ts';
import { startLogMaintenance } from '../query-log/upkeep/log-maintenance.ts';
import { LocalSwitch } from '../filtering/schedules/local-switch.ts';
import { CatalogRefresh } from '../filtering/services/catalog-refresh.ts';
import { ServiceCatalog } from '../filtering/services/service-catalog.ts';
import { readBlockedIds } from '../filtering/services/service-store.ts';
import { blockingSettings } from '../policy/settings/derived.ts';
import { Simulator } from '../insight/simulate/simulator.ts';
import { CompilePool } from '../policy/compile/table/compile-pool.ts';
import { ActivePolicy } from '../policy/snapshot/publish/active-policy.ts';
import { PolicyChanges } from '../policy/change/change.ts';
import type { PublishedState } from '../policy/snapshot/published-state.ts';
import { PolicyMemory } from '../policy/change/policy-memory.ts';
import { readPolicy } from '../policy/change/policy-store.ts';
import { upstreamDetails } from '../resolving/upstreams/upstream-health.ts';

/** A node with its DNS side and its policy. */
export type PolicyContext = Awaited<ReturnType<typeof startPolicy>>;

/**
 * The policy side: policy in the database and lists. The function is long, because it passes each part its
 * dependencies.
 */
export async function startPolicy(dns: DnsContext) {
  const { config, configuration, logger, dataDir, database, clock, stops } = dns;
  const { supervisor, publisher, evaluator } = dns;
  const catalog = new ServiceCatalog(dataDir);
  await catalog.load(logger, config.blocking.catalog_url);
  const refused = new RefusedCopies(clock);
  const localSwitch = new LocalSwitch(dns);
  const activePolicy = startActivePolicy(dns, catalog, refused, localSwitch);
  const policy = new PolicyChanges(database, activePolicy);
  evaluator.start({
    rows: () => publisher.current().rows,
    apply: () => activePolicy.applyLive(),
    endGrants: (ids) => void removeEnded(database, logger, ids),
  });
  stops.push(() => evaluator.close());
  const bounds = boundsOf(dns);
  const pool = new CompilePool();
  const names = new NamesFolder(dataDir);
  const cache = new ListCache(dataDir);
  const copies = new SharedCopies({ ...dns, changes: policy, cache });
  const listDirs = (): readonly string[] => configuration.current().blocking.list_dirs;
  const sources = new ListSources({
    ...dns,
    policy: activePolicy,
    changes: policy,
    pool,
    cache,
    copies,
    refused,
    names,
    mostAsked: mostAskedOf(dns),
    refreshHours: () => configuration.current().blocking.list_refresh_hours,
    listDirs,
    bounds,
  });
  stops.push(async () => {
    await sources.close();
    await pool.close();
  });
  const follower = new ChangeFollower(database, activePolicy, logger, () => dns.claim.requestBeat());
  for (const table of ['list_sources', 'list_copies'] as const)
    follower.onChange(table, () => sources.checkSoon());
  stops.push(() => follower.close());
  const catalogRefresh = catalogRefreshOf(dns, catalog, bounds, activePolicy, policy);
  follower.onChange('service_catalog', () => catalogRefresh.follow());
  const servers: AskedServersParts = {
    details: () => upstreamDetails(supervisor.upstreams()),
    pools: () => configuration.current().dns.pools,
  };
  const current = (): PublishedState => publisher.current();
  return {
    ...dns,
    policy,
    activePolicy,
    localSwitch,
    follower,
    sources,
    catalog,
    catalogRefresh,
    fetchBounds: bounds,
    compiledLists: new CompiledLists({ current, names }),
    explainer: new Explainer({
      ...dns,
      ask: (question) => supervisor.requests.explain(question),
      servers,
      findLine: (sourceId, ruleName, kinds) => sources.findLine(sourceId, ruleName, kinds),
    }),
    /** Explains how queries were answered at an earlier time. */
    past: new PastExplainer({
      ...dns,
      servers,
      activeRules: () => publisher.current().compiled,
      blocking: () => blockingSettings(configuration.current()),
      liveAt: (rows, momentMs) => liveAt(dns, rows, momentMs),
    }),
    listPreviews: previewsOf(dns, { cache, bounds, listDirs, current }),
    /** Computes the effect of drafts of policy. */
    simulator: new Simulator({
      ...dns,
      log: dns.queryLog,
      blocking: () => blockingSettings(configuration.current()),
      lists: new DraftLists({ ...dns, cache, copies, pool, bounds, listDirs, current }),
      findService: (id) => catalog.find(id),
    }),
    /** Clears the query log; `startHousekeeping()` starts it. */
    logClearing: new LogClearing({ ...dns, rollupDays: () => configuration.current().database.rollup_days }),
    /** Exports finished days; `startHousekeeping()` starts it. */
    dayExport: new DayExport({ ...dns, folder: () => configuration.current().database.export_dir }),
  };
}

/** JavaScript heap and CPU time of a preview: half of those of a compilation. */
const PREVIEW_HEAP_MIB = 256;
const PREVIEW_DEADLINE = { baseMs: 10_000, msPerMib: 1000 };

/** Previews lists before they are added, in a separate thread, so that compilations do not wait. */
function previewsOf({ stops }: DnsContext, parts: Omit<ListPreviewParts, 'pool'>): ListPreviews {
  const pool = new CompilePool(PREVIEW_HEAP_MIB, PREVIEW_DEADLINE);
  stops.push(() => pool.close());
  return new ListPreviews({ ...parts, pool });
}

/** Creates the part that applies the policy and the configuration in the database. */
function startActivePolicy(
  { configuration, database, logger, publisher, liveSettings, claim, stops }: DnsContext,
  catalog: ServiceCatalog,
  refused: RefusedCopies,
  localSwitch: LocalSwitch,
): ActivePolicy {
  const memory = new PolicyMemory();
  const policy = new ActivePolicy({
    publisher,
    readPolicy: () => configuration.follow(() => readPolicy(database, (id) => catalog.find(id), memory)),
    rowsHere: (rows) => localSwitch.over(rows),
    isRefused: (id, inputKey) => refused.reasonFor(id, inputKey) !== undefined,
    settingsBehind: () => liveSettings.threadsBehind(),
    blocking: () => blockingSettings(configuration.current()),
    logger,
    moved: () => claim.requestBeat(),
  });
  stops.push(() => policy.close());
  stops.push(
    onDatabaseUp(database, logger, 'write local blocking changes to the audit log', () =>
      localSwitch.record(database),
    ),
  );
  return policy;
}

/** Creates the updates of the service catalog, which `startHousekeeping()` starts. */
function catalogRefreshOf(
  dns: DnsContext,
  catalog: ServiceCatalog,
  bounds: FetchBounds,
  activePolicy: ActivePolicy,
  changes: PolicyChanges,
): CatalogRefresh {
  const { configuration, logger, database, stops } = dns;
  const refresh = new CatalogRefresh({
    ...dns,
    catalog,
    changes,
    listDirs: () => configuration.current().blocking.list_dirs,
    bounds,
    url: () => configuration.current().blocking.catalog_url,
    refreshHours: () => configuration.current().blocking.catalog_refresh_hours,
    blocked: () => readBlockedIds(database),
    apply: () => activePolicy.apply(),
  });
  configuration.onChange(async (next, before) => {
    const { catalog_url: url } = next.blocking;
    if (url === before.blocking.catalog_url) return;
    await catalog.load(logger, url);
    void refresh.check();
  });
  stops.push(() => refresh.close());
  return refresh;
}

/**
 * The most queried names, with which a new list is checked. They are from all nodes, because the list is fetched for
 * all nodes.
 */
function mostAskedOf({ queryLog, clock }: DnsContext): MostAskedNames {
  const untilAnswered = new AbortController().signal;
  const read = (days: number, limit: number): Promise<readonly string[]> => {
    return queryLog.mostAsked({ nowMs: clock.nowMs(), days, limit }, untilAnswered);
  };
  return new MostAskedNames(read, clock);
}

/** Addresses from which lists and the catalog may be fetched. */
function boundsOf({ configuration, ownPorts }: Node): FetchBounds {
  return {
    localDomain: () => configuration.current().dns.local_domain,
    ownPorts: () => ownPorts,
  };
}

/**
 * Starts the work that is due each time the database becomes available, and periodically. `onListsActive` is called
 * when every due list is either active or has failed.
 */
export function startHousekeeping(context: PolicyContext, onListsActive: () => void): void {
  const { configuration, logger, database, policy, sources, catalogRefresh, logClearing, stops } = context;
  stops.push(
    logClearing.start(),
    startLogMaintenance({
      ...context,
      nodeId: nodeIdOf(context.nodeName),
      queryLogDays: () => configuration.current().database.query_log_days,
      rollupDays: () => configuration.current().database.rollup_days,
    }),
    onDatabaseUp(database, logger, 'apply lists', async () => {
      await configuration.settle(policy);
      await seedFirstSource(database);
      await sources.start();
      catalogRefresh.start();
      void sources.idle().then(onListsActive);
    }),
  );
}
