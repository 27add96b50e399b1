/** Starts the web server, which serves the dashboard and the API, after the other parts. */
import type { Node } from './node.ts';
import type { PolicyContext } from './start-policy.ts';
import { NodeAccess } from '../clients/access/node-access.ts';
import { localSources } from './live-policy.ts';
import type { Config } from '../../config/schema.ts';
import { RequestLimit } from '../api/request-limit.ts';
import type { AskingClients } from '../filtering/unblock-requests/asking-clients.ts';
import { addressFromText } from '../../shared/net/ip.ts';
import { admitsAddress } from '../../shared/policy/access.ts';
import { startAuditSweep } from '../policy/audit/audit-sweep.ts';
import { Authenticator } from '../web/auth/authenticator.ts';
import { callerOf } from '../web/auth/request-caller.ts';
import { SetupCode } from '../web/auth/setup-code.ts';
import { ConfigFile } from '../policy/settings/config-file.ts';
import type { TestUpstreams } from '../policy/settings/silent-pools.ts';
import { ConfiguredPassword } from '../web/auth/accounts/configured-password.ts';
import { startExpiredSessionSweep } from '../web/auth/sessions/expired-session-sweep.ts';
import { buildInProcess } from '../web/built-dashboard/build-process.ts';
import { DashboardOnDisk } from '../web/built-dashboard/dashboard-on-disk.ts';
import { CacheContents } from '../resolving/cache/cache-contents.ts';
import { nodeIdOf } from '../storage/cluster/node-store.ts';
import { waitForNodes } from '../storage/cluster/wait-for-nodes.ts';
import { onDatabaseUp } from '../storage/db/on-up.ts';
import type { RelayQuery } from '../web/relay/doh-relay.ts';
import { createApp } from '../web/server/app.ts';
import type { WaitForNodes } from '../web/server/preferred-wait.ts';
import { startLocalServer } from '../web/edge/local-server.ts';
import { WEB_RATE } from '../web/edge/request-limits.ts';
import { RetriedWebServer } from '../web/server/retried-web-server.ts';
import { checkTable, compatTable, routeTable } from './route-table.ts';
import { startWebServer } from '../web/edge/server.ts';
import { queriesByName } from '../transfer/importers/choices/recent-queries.ts';
import { SettingsImport } from '../transfer/importers/import-settings.ts';
import { testUpstreams } from '../resolving/upstreams/upstream-test.ts';
import { UpstreamTrials } from '../resolving/upstreams/upstream-trials.ts';
import { upstreamCaOf } from './thread-settings/worker-settings.ts';
import type { UsedCertificate } from '../metrics/checks/certificate-check.ts';
import { DiskSpace } from '../metrics/checks/disk-space.ts';
import { heartbeatFigures } from './heartbeat-figures.ts';
import { nodeMetrics } from '../metrics/node-metrics.ts';
import { readThreadCpu } from '../metrics/thread-cpu.ts';
import { LiveTail } from '../query-log/tail/live-tail.ts';
import { filterStats } from '../policy/snapshot/publish/filter-stats.ts';
import { openWebCertificate, ticketKeysOf } from './start-tls.ts';
import { AcmeCertificate } from '../web/acme/acme-certificate.ts';
import { HttpChallenges } from '../web/acme/http-challenges.ts';
import { SharedCertificate } from '../web/tls/shared-certificate.ts';
import type { WebCertificate } from '../web/tls/web-certificate.ts';
import { RequestWatch } from '../filtering/unblock-requests/request-watch.ts';
import { listeningOf } from './system/dns-port-help.ts';
import { setupNotice } from './system/greeting.ts';
import { nodeStatusReader } from './status/node-status.ts';
import { StatusStreams } from './status/status-streams.ts';
import { UpdateCheck } from './updates/update-check.ts';
import { nodeHealth } from './system/node-health.ts';

/** The web side of a node. */
export interface NodeWeb {
  readonly server: RetriedWebServer;
  readonly nodeAccess: NodeAccess;
  /**
   * Also accepts requests on the local socket and on inherited listeners. Call this when the process owns the data
   * directory.
   */
  open(): Promise<void>;
}

type WebApp = ReturnType<typeof createApp>;

/**
 * Starts the dashboard and the API. `isWebNeeded`: the start fails if the web port is unavailable; by default,
 * listening is retried.
 */
export async function startWeb(policy: PolicyContext, isWebNeeded = false): Promise<NodeWeb> {
  const { database, logger, stops } = policy;
  const setupCode = new SetupCode(policy.dataDir, logger);
  const context = await webContext(policy, setupCode);
  const app = createApp(context, routeTable(context), {
    compat: compatTable(context),
    check: checkTable(context),
  });
  await listenForWeb(context, app, isWebNeeded);
  stops.push(() => {
    // Streams to pages end first, because the web server cannot close while they are open.
    context.statusStreams.close();
    return context.tail.close();
  });
  const printCode = setupCodePrinter(context.auth, setupCode, policy);
  stops.push(onDatabaseUp(database, logger, 'check for a password', printCode));
  const { web, nodeAccess } = context;
  return { server: web, nodeAccess, open: () => openWeb(policy, app, web) };
}

/** The services of a complete node, which the routes of all features use. */
async function webContext(policy: PolicyContext, setupCode: SetupCode) {
  const { configuration, database, clock, logger, publisher, rate, sources, nodeName } = policy;
  const auth = startAuth(policy, setupCode);
  const certificate = policy.webCertificate ?? (await openWebCertificate(policy));
  const sharedCertificate = new SharedCertificate({ ...policy, certificate });
  policy.stops.push(sharedCertificate.follow(policy.follower));
  const challenges = new HttpChallenges();
  const acme = new AcmeCertificate({ ...policy, certificate, sharedCertificate, challenges });
  policy.stops.push(acme.start());
  const disk = new DiskSpace(policy.dataDir, logger);
  policy.stops.push(disk.start());
  const updates = new UpdateCheck({
    ...policy,
    bounds: policy.fetchBounds,
    url: () => configuration.current().server.update_url,
  });
  policy.stops.push(updates.start());
  const nodeAccess = new NodeAccess(policy);
  const unblockRequests = new RequestWatch({ database, clock });
  policy.stops.push(policy.follower.onChange('unblock_requests', () => unblockRequests.follow()));
  const watched = {
    ...policy,
    unblockRequests,
    disk,
    nodeAccess,
    certificates: usedCertificates(policy, certificate, acme),
    acme,
    web: new RetriedWebServer(logger),
    cache: new CacheContents(policy.cacheMemory, (counter) => rate.total(counter)),
  };
  /** Reads the state of the node's parts, from memory. */
  const health = { checks: () => nodeHealth(watched) };
  const localDomain = (): string => configuration.current().dns.local_domain;
  const localNames = { localDomain, live: () => localSources(policy, localDomain()) };
  return {
    ...watched,
    updates,
    auth,
    callerNow: callerOf.bind(null, auth),
    tokens: auth.tokens,
    users: auth.users,
    certificate,
    sharedCertificate,
    health,
    localNames,
    requestLimit: new RequestLimit(clock, WEB_RATE),
    noteForwarding: nodeAccess.proxies.note,
    challengeAnswer: (target: string) => challenges.answerFor(target),
    relayQuery: relayTo(policy),
    dashboard: startDashboard(policy),
    waitForNodes: waiter(database),
    metrics: nodeMetrics(watched),
    nodeFigures: heartbeatFigures(watched),
    threadCpu: readThreadCpu,
    policyRows: () => publisher.current().rows,
    grants: () => policy.grantTimes.active(publisher.current().rows.grants),
    filterStats: () => filterStats(publisher.current()),
    activateRestored: () => sources.activateRestored(),
    testUpstreams: upstreamTest(policy),
    upstreamTrials: new UpstreamTrials(() => ({
      ...upstreamTestParts(policy),
      bootstrap: configuration.current().dns.bootstrap,
    })),
    dnsListening: () => listeningOf(policy.loaded, policy.dnsPort),
    /** Lists devices in the network that are known from other sources than their queries. */
    network: () => ({ neighbours: policy.neighbours(), leases: policy.leases.all() }),
    askingClients: askingClients(policy),
    statusStreams: new StatusStreams({
      read: nodeStatusReader({ ...policy, health, unblockRequests }),
      sessions: auth.sessions,
      logger,
    }),
    tail: new LiveTail({
      ...policy,
      ownRows: policy.writer,
      sessions: auth.sessions,
      node: nodeName,
      nodeId: nodeIdOf(nodeName),
      hostnameOf: (address, clientId) => policy.clients.nameAt(address, clientId),
    }),
    settingsImport: new SettingsImport({
      ...policy,
      localNames,
      site: () => configuration.current().server.site,
      listDirs: () => configuration.current().blocking.list_dirs,
      dataDir: () => policy.dataDir,
      testUpstreams: upstreamTest(policy),
      loggedQueries: () => queriesByName({ log: policy.queryLog, clock, logger }),
    }),
  };
}

/** Determines how DNS queries of a client that opens the page `/check` are handled. */
function askingClients({ access, explainer, publisher }: PolicyContext): AskingClients {
  return {
    admits: (address) => {
      const bytes = addressFromText(address);
      return bytes !== null && admitsAddress(access.current(publisher.current().rows), bytes);
    },
    statusFor: async (domain, client) => (await explainer.explain({ domain, type: 'A', client })).status,
  };
}

async function openWeb(
  { stops, dataDir, logger, isTakingOver }: Node,
  app: WebApp,
  server: RetriedWebServer,
) {
  stops.push(await startLocalServer(app, dataDir, logger));
  if (isTakingOver) server.resume();
}

/** Settings for testing upstreams before they are stored in a configuration. */
function upstreamTestParts({ configuration, dnsPort }: PolicyContext) {
  return { ...upstreamCaOf(configuration.current()), dnsPort };
}

/** Tests servers once; their host names are resolved by the resolvers in `bootstrap`. */
function upstreamTest(policy: PolicyContext): TestUpstreams {
  return (servers, bootstrap, gone) =>
    testUpstreams(servers, { ...upstreamTestParts(policy), bootstrap }, gone);
}

/** Starts reading and, if necessary, building the dashboard, while the other parts start. */
function startDashboard({ logger, stops }: Node): DashboardOnDisk {
  const dashboard = new DashboardOnDisk({ logger, build: buildInProcess });
  stops.push(() => dashboard.stop());
  void dashboard.state();
  return dashboard;
}

/** Returns a function that waits for other nodes. */
function waiter(database: Node['database']): WaitForNodes {
  return (withinMs, gone) => waitForNodes(database, withinMs, gone);
}

/** Returns a function that passes DNS over HTTPS from the web port to the DNS threads, if this is enabled. */
function relayTo({ config, supervisor }: PolicyContext): RelayQuery | undefined {
  if (!config.server.encrypted_dns.doh_enabled) return undefined;
  return (message, client, clientKey) => supervisor.requests.relay(message, client, clientKey);
}

/** Authentication, and the removal of expired sessions and old entries of the audit log. */
function startAuth(node: PolicyContext, setupCode: SetupCode): Authenticator {
  const { configuration, logger, follower, stops } = node;
  const config = (): Config => configuration.current();
  const { file: name, config: loaded } = node.loaded;
  const file = name === undefined ? null : new ConfigFile(name, loaded.server.data_dir);
  const configured = new ConfiguredPassword({ config: loaded, file }, (hash) =>
    configuration.noteInFile('auth.admin.password_hash', hash),
  );
  configuration.onChange((next) => configured.take(next.auth.admin.password_hash));
  const auth = new Authenticator({ ...node, config, configured, setupCode });
  follower.onChange('access', () => auth.rightsMayHaveEnded());
  stops.push(startExpiredSessionSweep(auth, logger));
  stops.push(startAuditSweep({ ...node, keptDays: () => config().database.audit_days }));
  return auth;
}

/** The certificates that are in use. */
function usedCertificates(
  { config, dnsCertificate }: PolicyContext,
  web: WebCertificate,
  acme: Pick<AcmeCertificate, 'state'>,
): () => UsedCertificate[] {
  const served = [
    ...(config.server.web_tls.enabled ? [{ use: 'web' as const, certificate: web }] : []),
    ...(dnsCertificate === null ? [] : [{ use: 'dns' as const, certificate: dnsCertificate }]),
  ];
  return () =>
    served.flatMap(({ use, certificate }) => {
      const pair = certificate.current();
      if (pair === null) return [];
      const { fault, nextMs } = acme.state();
      const isRenewed = certificate === web && nextMs !== null;
      const renewal = isRenewed && fault !== null ? { renewalFault: fault } : {};
      return [{ use, ...pair.facts, fault: certificate.fault(), ...renewal }];
    });
}

/** Listens on the web port, now or as soon as possible. */
function listenForWeb(
  context: Node & { web: RetriedWebServer; certificate: WebCertificate },
  app: WebApp,
  isStrict: boolean,
): Promise<void> {
  const { config, logger, ownPorts, inherited, isTakingOver, stops, web, certificate } = context;
  const secured = config.server.web_tls.enabled
    ? { certificate, ticketKeys: ticketKeysOf(context, 'tls tickets of the web') }
    : {};
  stops.push(() => web.close());
  return web.start({
    listen: () =>
      startWebServer(app, config, logger, {
        ...secured,
        isHeldBack: isTakingOver,
        listenerAt: (address, port, isDualStack) =>
          inherited?.takeAt({ transport: 'tcp', address, port, isDualStack })[0],
      }),
    listening: ({ endpoints }) => {
      for (const { port } of endpoints) ownPorts.add(port);
    },
    isStrict,
  });
}

/** The command that runs Weir in this installation. */
function commandName(): string {
  return process.env['npm_lifecycle_event'] === undefined ? 'weir' : 'npm run weir --';
}

/** Returns a function that prints the setup code for the first password once, if no password is set yet. */
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
    // The code is a secret, so the log only contains the path of its file.
    if (config.logging.format === 'json')
      logger.warn('no password is set; setup requires the code in a file', { path });
    else process.stdout.write(setupNotice(code, path, commandName()));
  };
}
