/** Starts the web server: the dashboard and the API over the parts that run. */
import type { Node } from './node.ts';
import type { NodeAccess } from './access/node-access.ts';
import { localSources } from './live-policy.ts';
import type { Config } from '../config/schema.ts';
import { RequestLimit } from './api/request-limit.ts';
import { startAuditSweep } from './audit/audit-sweep.ts';
import { Authenticator } from './auth/authenticator.ts';
import { SetupCode } from './auth/setup-code.ts';
import { ConfigFile } from './settings/config-file.ts';
import { ConfiguredPassword } from './auth/accounts/configured-password.ts';
import { startExpiredSessionSweep } from './auth/sessions/expired-session-sweep.ts';
import { buildInProcess } from './built-dashboard/build-process.ts';
import { DashboardOnDisk } from './built-dashboard/dashboard-on-disk.ts';
import { CacheContents } from './cache/cache-contents.ts';
import { bootClock as clock } from './clock/boot-clock.ts';
import type { ClockFloor } from './clock/clock-floor.ts';
import { nodeIdOf } from './cluster/node-store.ts';
import { waitForNodes } from './cluster/wait-for-nodes.ts';
import { onDatabaseUp } from './db/on-up.ts';
import type { NetworkSights } from './clients/bypass/silent-devices.ts';
import type { ReadNeighbours } from '../shared/net/kernel/neighbour-table.ts';
import type { Explainer } from './explain/explainer.ts';
import type { PastExplainer } from './explain/past-explainer.ts';
import type { GrantTimes } from './grants/grant-times.ts';
import type { RelayQuery } from './http/relay/doh-relay.ts';
import { createApp } from './http/app.ts';
import type { WaitForNodes } from './http/preferred-wait.ts';
import { checkTable } from './http/check-table.ts';
import { compatTable } from './http/compat-table.ts';
import { startLocalServer } from './http/edge/local-server.ts';
import { WEB_RATE } from './http/edge/request-limits.ts';
import { routeTable } from './http/route-table.ts';
import { startWebServer, type WebServer } from './http/edge/server.ts';
import { SettingsImport } from './importers/import-settings.ts';
import type { ChangeFollower } from './cluster/change-follower.ts';
import type { NodeClaim } from './cluster/node-claim.ts';
import { sayFigures } from './own-figures.ts';
import type { CompiledLists } from './lists/compiled/compiled-lists.ts';
import type { ListSources } from './lists/sources/list-sources.ts';
import { nodeMetrics } from './metrics/node-metrics.ts';
import { readThreadCpu } from './metrics/thread-cpu.ts';
import type { Probes } from './probes/probes.ts';
import type { Dnstap } from './query-log/dnstap/dnstap.ts';
import type { DayExport } from './query-log/nightly/day-export.ts';
import type { LogWriter } from './query-log/store/log-writer.ts';
import type { LogQuestions } from './query-log/scans/log-questions.ts';
import { LiveTail } from './query-log/tail/live-tail.ts';
import type { ServiceCatalog } from './services/service-catalog.ts';
import { filterStats } from './snapshot/publish/filter-stats.ts';
import type { PublishedState } from './snapshot/published-state.ts';
import type { Simulator } from './simulate/simulator.ts';
import type { PolicyChanges } from './policy/change.ts';
import type { SnapshotPublisher } from './snapshot/publish/publisher.ts';
import type { QueryRate } from './stats/query-rate.ts';
import { openWebCertificate, ticketKeysOf } from './start-tls.ts';
import { SharedCertificate } from './tls/shared-certificate.ts';
import type { WebCertificate } from './tls/web-certificate.ts';
import { listeningOf } from './system/dns-port-help.ts';
import { setupNotice } from './system/greeting.ts';
import { nodeStatusReader } from './status/node-status.ts';
import { StatusStreams } from './status/status-streams.ts';
import { nodeHealth } from './system/node-health.ts';
import { version } from './version.ts';
import type { WorkerSupervisor } from './workers/supervisor.ts';

/** Parts that the API speaks to. */
interface WebParts {
  readonly logTrouble: () => string | null;
  readonly writer: Pick<LogWriter, 'counters' | 'show' | 'run'>;
  readonly dnstap: Dnstap | null;
  readonly dayExport: Pick<DayExport, 'trouble' | 'failures'>;
  readonly supervisor: WorkerSupervisor;
  readonly publisher: SnapshotPublisher;
  readonly rate: QueryRate;
  readonly claim: NodeClaim;
  readonly clockFloor: ClockFloor;
  readonly policy: { revision(): number | null };
  readonly log: LogQuestions;
  readonly cache: SharedArrayBuffer;
  readonly changes: PolicyChanges;
  readonly follower: ChangeFollower;
  readonly lists: ListSources;
  readonly compiledLists: CompiledLists;
  readonly explainer: Explainer;
  readonly past: PastExplainer;
  readonly grantTimes: GrantTimes;
  readonly simulator: Simulator;
  readonly probes: Probes;
  readonly catalog: ServiceCatalog;
  /** Null if it is not open yet. */
  readonly webCertificate: WebCertificate | null;
  readonly nodeAccess: NodeAccess;
  readonly startedAtMs: number;
  readonly dnsPort: number;
  readonly neighbours: ReadNeighbours;
}

type WebApp = ReturnType<typeof createApp>;

/** Dashboard and API; returns what listens. Longer than others, as one table names what every feature's routes take. */
export async function startWeb(node: Node, parts: WebParts): Promise<WebServer> {
  const { name, logger, database, stops } = node;
  const { supervisor, publisher, nodeAccess } = parts;
  const { reports: access, state: accessState, proxies } = nodeAccess;
  const setupCode = new SetupCode(node.dataDir, logger);
  const auth = startAuth(node, setupCode, parts.follower);
  const localDomain = (): string => node.configuration.current().dns.local_domain;
  const tail = liveTail(node, parts, auth);
  const cache = new CacheContents(parts.cache, (counter) => parts.rate.total(counter));
  const state = stateOf(node, parts, auth);
  const known = {
    version,
    nodeName: name,
    clock,
    logger,
    auth,
    ...{ requestLimit: new RequestLimit(clock, WEB_RATE), dnsPort: () => parts.dnsPort },
    ...{ secret: () => node.secret.current(), config: () => node.configuration.current() },
    relayQuery: node.config.server.encrypted_dns.doh_enabled ? relayTo(supervisor) : undefined,
    ...{ dashboard: startDashboard(node), waitForNodes: waiter(database), noteForwarding: proxies.note },
    metrics: nodeMetrics({ ...node, ...parts, version, cache, cacheBytes: parts.cache.byteLength }),
  };
  const served = {
    ...known,
    ...{ claim: parts.claim, nodeFigures: sayFigures(node, { ...parts, cache }) },
    ...(await certificatesOf(node, parts)),
    tokens: auth.tokens,
    users: auth.users,
    startedAtMs: parts.startedAtMs,
    threadCpu: readThreadCpu,
    ...{ probes: parts.probes, database },
    policy: parts.changes,
    configuration: node.configuration,
    blockingSwitch: () => publisher.current().rows.blockingSwitch,
    grants: () => parts.grantTimes.inForce(publisher.current().rows.grants),
    policyRows: () => publisher.current().rows,
    ...{ clients: node.clients, network: networkOf(node, parts) },
    localNames: { localDomain, live: () => localSources(node, localDomain()) },
    sources: parts.lists,
    settingsImport: settingsImport(node, parts, localDomain),
    bringBack: () => parts.lists.bringBack(),
    ...{ queryLog: parts.log, stats: parts.log, addressCounts: parts.log },
    tail,
    counters: parts.rate,
    compiledLists: parts.compiledLists,
    ...{ explainer: parts.explainer, past: parts.past, simulator: parts.simulator, catalog: parts.catalog },
    filterStats: () => filterStats(publisher.current()),
    ...{ access, accessState, ...state, dnsListening: () => listeningOf(node.loaded, parts.dnsPort) },
    upstreams: { reports: () => supervisor.upstreams() },
    cache,
  };
  const app = createApp(known, routeTable(served), {
    compat: compatTable(served),
    check: checkTable(served),
  });
  const web = await listenForWeb(node, app, served.certificate);
  stops.push(() => closeStreams(state.statusStreams, tail));
  stops.push(onDatabaseUp(database, logger, 'look for a password', setupCodePrinter(auth, setupCode, node)));
  return web;
}

/** What says which devices are in the network, besides their queries. */
function networkOf({ leases }: Node, { neighbours }: WebParts): () => NetworkSights {
  return () => ({ neighbours: neighbours(), leases: leases.all() });
}

/** The dashboard, read and if need be built while all else starts. */
function startDashboard({ logger, stops }: Node): DashboardOnDisk {
  const dashboard = new DashboardOnDisk({ logger, build: buildInProcess });
  stops.push(() => dashboard.stop());
  void dashboard.state();
  return dashboard;
}

/** What waits for other nodes. */
function waiter(database: Node['database']): WaitForNodes {
  return (withinMs, gone) => waitForNodes(database, withinMs, gone);
}

/** Has the DNS threads answer what comes to the web port. */
function relayTo({ requests }: WorkerSupervisor): RelayQuery {
  return (message, client, clientKey) => requests.relay(message, client, clientKey);
}

/** Authentication, and what removes expired sessions and old entries of the audit log. */
function startAuth(node: Node, setupCode: SetupCode, follower: ChangeFollower): Authenticator {
  const { configuration, logger, database, stops } = node;
  const config = (): Config => configuration.current();
  const { file: name, config: loaded } = node.loaded;
  const file = name === undefined ? null : new ConfigFile(name, loaded.server.data_dir);
  const configured = new ConfiguredPassword({ config: loaded, file }, (hash) =>
    configuration.noteInFile('auth.admin.password_hash', hash),
  );
  configuration.onChange((next) => configured.take(next.auth.admin.password_hash));
  const auth = new Authenticator({ config, configured, database, clock, logger, setupCode });
  follower.onChange('access', () => auth.rightsMayHaveEnded());
  stops.push(startExpiredSessionSweep(auth, logger));
  stops.push(startAuditSweep({ database, clock, logger, keptDays: () => config().database.audit_days }));
  return auth;
}

/** The certificate in force here, and what it has to do with those of other nodes. */
async function certificatesOf(node: Node, { webCertificate, follower }: WebParts) {
  const certificate = webCertificate ?? (await openWebCertificate(node));
  const sharedCertificate = new SharedCertificate({ ...node, certificate, clock });
  node.stops.push(sharedCertificate.follow(follower));
  return { certificate, sharedCertificate };
}

/** Listens on the web port. */
async function listenForWeb(node: Node, app: WebApp, certificate: WebCertificate): Promise<WebServer> {
  const { config, logger, stops, ownPorts, inherited } = node;
  const secured = config.server.web_tls.enabled
    ? { certificate, ticketKeys: ticketKeysOf(node, 'tls tickets of the web') }
    : {};
  const web = await startWebServer(app, config, logger, {
    ...secured,
    listenerAt: (address, port, isDualStack) =>
      inherited?.takeAt({ transport: 'tcp', address, port, isDualStack })[0],
  });
  stops.push(() => web.close());
  stops.push(await startLocalServer(app, node.dataDir, logger));
  for (const { port } of web.endpoints) ownPorts.add(port);
  return web;
}

/** What takes over the settings of other programs. */
function settingsImport(
  node: Node,
  { changes, lists, catalog }: WebParts,
  localDomain: () => string,
): SettingsImport {
  const { configuration, clients, dataDir, logger } = node;
  return new SettingsImport({
    policy: changes,
    clients,
    sources: lists,
    catalog,
    localNames: { live: () => localSources(node, localDomain()) },
    nodeName: node.name,
    listDirs: () => configuration.current().blocking.list_dirs,
    dataDir: () => dataDir,
    logger,
  });
}

/** What shows the log as it grows. */
function liveTail({ database, logger, name, clients }: Node, parts: WebParts, auth: Authenticator): LiveTail {
  return new LiveTail({
    ...parts,
    database,
    logger,
    sessions: auth.sessions,
    node: name,
    nodeId: nodeIdOf(name),
    hostnameOf: (address, clientId) => clients.nameAt(address, clientId),
  });
}

/** How the commands of Weir are called here. */
function commandName(): string {
  return process.env['npm_lifecycle_event'] === undefined ? 'weir' : 'npm run weir --';
}

/** The state of this node, and what streams it to pages. */
function stateOf({ configuration, database, logger, name }: Node, parts: WebParts, auth: Authenticator) {
  const { nodeAccess, publisher, startedAtMs } = parts;
  const health = { checks: () => nodeHealth({ ...parts, database, access: () => nodeAccess.check() }) };
  const config = (): Config => configuration.current();
  const published = (): PublishedState => publisher.current();
  const read = nodeStatusReader({ health, version, nodeName: name, clock, startedAtMs, config, published });
  return { health, statusStreams: new StatusStreams({ read, sessions: auth.sessions, logger }) };
}

/** Ends the streams of pages, so that the web server can close. */
function closeStreams(statusStreams: StatusStreams, tail: LiveTail): Promise<void> {
  statusStreams.close();
  return tail.close();
}

/** Prints the code for the first password, once, if it is pending. */
function setupCodePrinter(
  auth: Authenticator,
  setupCode: SetupCode,
  { config, logger }: Node,
): () => Promise<void> {
  let isPrinted = false;
  return async () => {
    const code = await auth.pendingSetupCode();
    if (code === null || isPrinted) return;
    isPrinted = true;
    const { path } = setupCode;
    // The code is a secret, so a log has only its file.
    if (config.logging.format === 'json')
      logger.warn('no password is set; setup asks for the code in a file', { path });
    else process.stdout.write(setupNotice(code, path, commandName()));
  };
}
