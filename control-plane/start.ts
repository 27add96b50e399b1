/**
 * Starts Weir in the order of dependencies: DNS answers first, from the state on disk; the database comes up in the
 * background; the parts that need it follow. Stopping runs the same list backwards.
 */
import { readFileSync } from 'node:fs';
import type { Node } from './node.ts';
import { startDns } from './start-dns.ts';
import type { LoadedConfig } from '../config/parse-config.ts';
import { NodeState } from '../shared/threads/messages.ts';
import type { NodeStateCode } from '../shared/threads/messages.ts';
import { systemClock as clock } from '../shared/clock.ts';
import { ClientDirectory } from './clients/client-directory.ts';
import { JobLeases } from './cluster/leases.ts';
import { nodeUuid } from './cluster/node-uuid.ts';
import { ClusterSecret } from './cluster/cluster-secret.ts';
import { LeaseWatch } from './clients/lease-watch.ts';
import { openNeighbourTable } from '../shared/net/kernel/neighbour-table.ts';
import { startDatabase } from './db/database.ts';
import { databaseOptionsOf } from './db/database-target.ts';
import { openDataDir, startHandover } from './start-handover.ts';
import type { HandingOver } from './handover/handing-over.ts';
import { ServiceManager } from './handover/service-manager.ts';
import { workerDescriptors } from './handover/inherited-sockets.ts';
import { logProcessFaults } from './log/process-faults.ts';
import { createLogger } from './log/winston-logger.ts';
import type { StaysRoot } from './privileges/drop-root.ts';
import type { AdjustableLogger } from './log/winston-logger.ts';
import { AccessInForce } from './access/access-in-force.ts';
import { NodeAccess } from './access/node-access.ts';
import { clientNamesOf } from './compile/table/compiled-rules.ts';
import { Configuration } from './settings/configuration.ts';
import { nodeNameOf } from './settings/derived.ts';
import { stopInReverse } from './stopping.ts';
import type { Stops } from './stopping.ts';
import { startReleasingMemory } from './system/freed-memory.ts';
import { dnsReach, listeningOf } from './system/dns-port-help.ts';
import { greeting, greetingFields } from './system/greeting.ts';
import type { GreetingFacts } from './system/greeting.ts';
import { isInContainer, lanAddresses } from './system/lan-addresses.ts';
import { SignalEcho } from './system/signal-echo.ts';
import { answerAsFirst, putAnswersFirst } from './system/thread-priorities.ts';
import { version } from './version.ts';
import { chooseDnsPort, portState } from './workers/dns-port.ts';
import type { WorkerSupervisor } from './workers/supervisor.ts';
import { fileFaults } from './settings/threads/worker-settings.ts';

/** Milliseconds in which a database must respond when Weir stops. */
const LIFE_SIGN_MS = 700;
/** Milliseconds that a node without policy answers its own machine only. */
const HOLD_MS = 30_000;
/** Milliseconds that are kept for ending the embedded database, cleanly or not. */
const DATABASE_MS = 700;

/** How Weir is started. */
interface StartOptions {
  /** From a process that runs on the data directory, if there is one. */
  readonly takesOver?: boolean;
  /** Why this process is still root. */
  readonly staysRoot?: StaysRoot | undefined;
}

/** Starts Weir and resolves once it answers; it then runs until SIGTERM or SIGINT. A second one ends it at once. */
export async function startWeir(
  loaded: LoadedConfig,
  { takesOver = false, staysRoot }: StartOptions = {},
): Promise<void> {
  const logger = createLogger(loaded.config.logging);
  if (staysRoot !== undefined) logger.warn('Weir keeps running as root', { ...staysRoot });
  const service = new ServiceManager(process.env, logger);
  const stops: Stops = [logProcessFaults(logger)];
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopping ??= stopInReverse(stops, logger));
  const handover: HandoverState = { giving: null, isTaking: false, isTold: false };
  const start: Start = { loaded, logger, service, stops, stop, takesOver, handover };
  stopAtSignals(start);
  try {
    await startParts(start);
  } catch (error) {
    await stop();
    throw error;
  }
}

/** What a signal may find under way. */
interface HandoverState {
  /** To whoever asks; null = this process is not yet whole. */
  giving: HandingOver | null;
  /** Another process still has the data directory. */
  isTaking: boolean;
  /** To stop, by a signal. */
  isTold: boolean;
}

/** What a start is given. */
interface Start {
  readonly loaded: LoadedConfig;
  readonly logger: AdjustableLogger;
  readonly service: ServiceManager;
  readonly stops: Stops;
  readonly stop: () => Promise<void>;
  /** From a process that runs on the data directory, if there is one. */
  readonly takesOver: boolean;
  readonly handover: HandoverState;
}

/** Stops this process, and one that it has started to take over from it. */
function stopAtSignals({ logger, service, stop, handover }: Start): void {
  const echo = new SignalEcho(clock);
  const onSignal = (signal: NodeJS.Signals): void => {
    if (echo.isEcho(signal)) return;
    const { giving } = handover;
    if (!handover.isTold) {
      handover.isTold = true;
      logger.info('stopping', { signal });
      service.stopping();
      const stopped = stop();
      void Promise.all([stopped, giving?.end(stopped)]).then(() => process.exit(0));
      return;
    }
    // Of a terminal this one and the process that it takes over from hear both, and that one passes it on.
    if (handover.isTaking) return;
    logger.warn('stopping at once: what is not stored is lost', { signal });
    giving?.endAtOnce();
    process.exit(1);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, onSignal);
}

async function startParts(start: Start): Promise<void> {
  const { logger, stops, handover } = start;
  const startedAtMs = clock.monotonicMs();
  const { node, dnsPort, neighbours, taking } = await openNode(start);
  handover.isTaking = taking !== null;
  const { config, database, clients } = node;
  const niceness = answerAsFirst(taking?.niceness, logger);
  const dns = await startDns(node, dnsPort.port, taking?.stateBefore());
  const tellState = (state: NodeStateCode): void => {
    dns.supervisor.tell(state);
    dns.claim.tellNews();
  };
  const tellReady = (): void => tellState(NodeState.READY);
  stops.push(endHoldLater(node, dns.supervisor));
  putAnswersFirst(niceness, logger);
  stops.push(startReleasingMemory());
  // Only threads and their log run until the other process has released all else.
  await taking?.finish();
  handover.isTaking = false;
  if (handover.isTold) return;
  start.service.stayAlive();
  // Threads answer already: the rest of the code is loaded only now.
  const { startHousekeeping, startPolicy } = await import('./start-policy.ts');
  const policy = await startPolicy(node, dns);
  const { startClients } = await import('./clients/start-clients.ts');
  stops.push(
    startClients({
      ...node,
      directory: clients,
      neighbours,
      clock,
      memories: dns.supervisor.memories(),
      askOwn: (message) => dns.supervisor.requests.askOwn(message),
      rows: () => dns.publisher.current().rows,
      ruleClients: () => clientNamesOf(dns.publisher.current().compiled),
      applyLive: () => policy.policy.applyLive(),
    }),
  );
  startHousekeeping(node, { ...policy, listsInForce: tellReady });
  const reload = (): void => void node.configuration.reloadLater(policy.changes);
  process.on('SIGHUP', reload);
  stops.push(() => void process.off('SIGHUP', reload));
  const { startWeb } = await import('./start-web.ts');
  const nodeAccess = new NodeAccess({ ...node, ...dns, clock });
  const known = { startedAtMs, neighbours, nodeAccess, dnsPort: dnsPort.port };
  const web = await startWeb(node, { ...dns, ...policy, ...known });
  node.inherited?.closeRest();
  const giving = { ...dns, web, niceness, dnsPort: dnsPort.port, stop: start.stop, service: start.service };
  const handing = await startHandover(node, giving);
  handover.giving = handing;
  stops.push(() => handing.close());
  stops.push(() => database.giveUpUnlessAnswering(LIFE_SIGN_MS));
  stops.push(() => tellState(NodeState.DRAINING));
  start.service.ready([...workerDescriptors(dns.supervisor.memories()), ...web.descriptors()]);
  await greet(node, dnsPort.port, { webPort: web.endpoints[0]?.port ?? config.server.web_port, nodeAccess });
}

/** Shows people where it answers. */
async function greet(
  { loaded, dataDir, config, logger }: Node,
  dnsPort: number,
  { webPort, nodeAccess }: { readonly webPort: number; readonly nodeAccess: NodeAccess },
): Promise<void> {
  const { bind_address: bindAddresses, web_tls: webTls } = config.server;
  const facts: GreetingFacts = {
    version,
    configFile: loaded.file,
    dataDir,
    bindAddresses,
    addresses: isInContainer() ? [] : lanAddresses(bindAddresses),
    dns: await dnsReach(listeningOf(loaded, dnsPort)),
    webPort,
    isSecure: webTls.enabled,
    access: nodeAccess.check(),
  };
  if (config.logging.format === 'text') process.stdout.write(greeting(facts));
  else logger.info(`Weir ${version} is running.`, greetingFields(facts));
}

/** Lets a node that has no policy in time answer all the same, where that is wished; returns how to stop that. */
function endHoldLater({ config, logger }: Node, supervisor: WorkerSupervisor): () => void {
  const endHold = (): void => {
    if (supervisor.nodeState() !== NodeState.HOLDING) return;
    const isUnfiltered = config.server.start_unfiltered;
    if (isUnfiltered) supervisor.tell(NodeState.STARTING);
    const answers = isUnfiltered ? 'all are answered unfiltered' : 'other machines get SERVFAIL';
    logger.warn(`there is no policy yet: ${answers} until there is`);
  };
  const timer = setTimeout(endHold, HOLD_MS);
  return () => clearTimeout(timer);
}

/** What all parts share, in the order in which each needs those before it: the lock first. */
async function openNode({ loaded, logger, service, stops, takesOver }: Start) {
  const { lock, taking } = await openDataDir(loaded.config.server.data_dir, logger, takesOver);
  stops.push(() => lock.release());
  const { bind_address: addresses, dns_port: port } = loaded.config.server;
  const isExplicit = loaded.explicit.has('server.dns_port');
  const stored = taking === null ? service.storedSockets() : null;
  const knownPort = taking?.dnsPort ?? stored?.dnsPort();
  // Sockets that systemd kept are on another port if that of the configuration was taken then.
  const isFreeNow = stored !== null && knownPort !== port && (await portState(addresses, port)) === 'free';
  const dnsPort =
    knownPort !== undefined && (knownPort === port || !isExplicit) && !isFreeNow
      ? { port: knownPort, notice: null }
      : await chooseDnsPort(addresses, port, isExplicit);
  const database = startDatabase({
    ...databaseOptionsOf(loaded.config.database),
    lock,
    logger: logger.child({ part: 'database' }),
  });
  stops.push({ stop: (withinMs) => database.close(withinMs), keptMs: DATABASE_MS });
  const secret = new ClusterSecret({ database, dataDir: lock.dataDir, logger });
  stops.push(secret.follow());
  const configuration = new Configuration({
    loaded,
    dataDir: lock.dataDir,
    database,
    logger,
    fileFaults,
  });
  configuration.onChange((next, before) => {
    if (next.logging !== before.logging) logger.adjust(next.logging);
  });
  const config = configuration.current();
  const name = nodeNameOf(config);
  const uuid = nodeUuid(lock.dataDir, logger);
  const clients = new ClientDirectory({ site: config.server.site });
  const neighbours = openNeighbourTable(logger, (path) => readFileSync(path, 'utf8'));
  // The first snapshot already has the addresses of clients known by MAC.
  clients.locateAll(neighbours());
  const leases = new LeaseWatch({ paths: () => configuration.current().dns.dhcp_leases, clock, logger });
  configuration.onChange(async (next, before) => {
    if (next.dns.dhcp_leases !== before.dns.dhcp_leases) await leases.refresh();
  });
  const node: Node = {
    loaded,
    config,
    configuration,
    ...{ name, uuid },
    logger,
    dataDir: lock.dataDir,
    mayWrite: lock.taken,
    inherited: (await taking?.sockets()) ?? stored,
    database,
    jobs: new JobLeases({ database, logger, node: uuid }),
    secret,
    clients,
    access: new AccessInForce({ configuration, clients, clock }),
    leases,
    ownPorts: new Set([dnsPort.port]),
    stops,
  };
  return { node, dnsPort, neighbours, taking };
}
