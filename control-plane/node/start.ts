/**
 * Starts Weir in the order of dependencies: first, DNS threads answer queries, with the state on disk; the database
 * starts in the background; the parts that need the database follow. A process that takes over from another one starts
 * all parts before it takes the data directory, so that the other process is still complete if a step fails. Parts are
 * stopped in reverse order.
 */
import { resolve } from 'node:path';
import type { Node } from './node.ts';
import { type DnsContext, startDns } from './start-dns.ts';
import type { LoadedConfig } from '../../config/parse-config.ts';
import { NodeState } from '../../shared/threads/messages.ts';
import type { NodeStateCode } from '../../shared/threads/messages.ts';
import { systemClock as clock } from '../../shared/clock.ts';
import { startHandover } from './start-handover.ts';
import type { UpgradeSource } from './upgrade/upgrade-source.ts';
import { reportFailedStart, type UpgradeTarget } from './upgrade/upgrade-target.ts';
import { ServiceManager } from './upgrade/service-manager.ts';
import { workerDescriptors } from './upgrade/inherited-sockets.ts';
import type { RetriedWebServer } from '../web/server/retried-web-server.ts';
import { logProcessFaults } from '../host/log/process-faults.ts';
import { RecentLines } from '../host/log/recent-lines.ts';
import { createLogger } from '../host/log/winston-logger.ts';
import type { StaysRoot } from './privileges/drop-root.ts';
import type { AdjustableLogger } from '../host/log/winston-logger.ts';
import type { NodeAccess } from '../clients/access/node-access.ts';
import { reasonOf } from '../../shared/errors.ts';
import { StartSteps } from './upgrade/start-steps.ts';
import { openNode } from './start-node.ts';
import { stopInReverse } from './stopping.ts';
import type { Stops } from './stopping.ts';
import { startReleasingMemory } from './system/freed-memory.ts';
import { dnsReach, listeningOf } from './system/dns-port-help.ts';
import { greeting, greetingFields } from './system/greeting.ts';
import type { GreetingFacts } from './system/greeting.ts';
import { isInContainer, lanAddresses } from './system/lan-addresses.ts';
import { SignalEcho } from './system/signal-echo.ts';
import { adoptDnsPriority, raiseDnsPriority } from './system/thread-priorities.ts';

/** Milliseconds that the database has to respond when Weir stops. */
const LIFE_SIGN_MS = 700;
/** Milliseconds for which a node without policy answers only queries from its own machine. */
const HOLD_MS = 30_000;

/** Parameters of a start. */
interface StartOptions {
  /** Whether to take over from a process that runs on the data directory, if there is one. */
  readonly takesOver?: boolean;
  /** Reason why this process is still root. */
  readonly staysRoot?: StaysRoot | undefined;
}

/**
 * Starts Weir; resolves when it answers queries. Weir then runs until SIGTERM or SIGINT. A second signal ends it
 * immediately.
 */
export async function startWeir(
  loaded: LoadedConfig,
  { takesOver = false, staysRoot }: StartOptions = {},
): Promise<void> {
  const recentLines = new RecentLines();
  const logger = recentLines.keepFrom(createLogger(loaded.config.logging));
  if (staysRoot !== undefined) logger.warn('Weir keeps running as root', { ...staysRoot });
  const service = new ServiceManager(process.env, logger);
  const stops: Stops = [logProcessFaults(logger)];
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopping ??= stopInReverse(stops, logger));
  const handover: HandoverState = { giving: null, taking: null, isTaking: false, isStopRequested: false };
  const steps = new StartSteps();
  const start: Start = { loaded, logger, recentLines, service, stops, stop, takesOver, handover, steps };
  stopAtSignals(start);
  try {
    await startParts(start);
  } catch (error) {
    await reportFailure(start, `could not ${steps.step}: ${reasonOf(error)}`);
    await stop();
    throw error;
  }
}

/**
 * Reports the failure to the process that this one was to replace, so that it receives queries again before this
 * process stops.
 */
async function reportFailure({ loaded, takesOver, handover }: Start, reason: string): Promise<void> {
  if (!takesOver) return;
  if (handover.taking === null) await reportFailedStart(resolve(loaded.config.server.data_dir), reason);
  else await handover.taking.fail(reason);
}

/** State of a handover, used when a signal arrives. */
interface HandoverState {
  /** Hands over to a process that requests it; null = this process is not complete yet. */
  giving: UpgradeSource | null;
  /** Takes over from another process; null = this process has not requested a handover. */
  taking: UpgradeTarget | null;
  /** Whether another process still has the data directory. */
  isTaking: boolean;
  /** Whether a signal has requested a stop. */
  isStopRequested: boolean;
}

/** State of a start. */
interface Start {
  readonly loaded: LoadedConfig;
  readonly logger: AdjustableLogger;
  readonly recentLines: RecentLines;
  readonly service: ServiceManager;
  readonly stops: Stops;
  readonly stop: () => Promise<void>;
  /** Whether to take over from a process that runs on the data directory, if there is one. */
  readonly takesOver: boolean;
  readonly handover: HandoverState;
  readonly steps: StartSteps;
}

/** On a signal, stops this process, and also a successor that it has started. */
function stopAtSignals({ logger, service, stop, handover }: Start): void {
  const echo = new SignalEcho(clock);
  const onSignal = (signal: NodeJS.Signals): void => {
    if (echo.isEcho(signal)) return;
    const { giving } = handover;
    if (!handover.isStopRequested) {
      handover.isStopRequested = true;
      logger.info('stopping', { signal });
      service.stopping();
      const stopped = stop();
      void Promise.all([stopped, giving?.end(stopped)]).then(() => process.exit(0));
      return;
    }
    // In a terminal, both processes of a handover receive the signal, and the old one also forwards it to this one, so
    // a second signal is expected.
    if (handover.isTaking) return;
    logger.warn('stopping immediately; data that has not been stored is lost', { signal });
    giving?.endAtOnce();
    process.exit(1);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, onSignal);
}

async function startParts(start: Start): Promise<void> {
  const { logger, stops, handover, steps } = start;
  const { node, taking } = await openNode(start);
  handover.isTaking = taking !== null;
  const niceness = adoptDnsPriority(taking?.niceness, logger);
  steps.begin('prepare DNS');
  const dns = await startDns(node, taking?.stateBefore());
  const startThreads = async (): Promise<void> => {
    steps.begin('start the DNS threads');
    await dns.startThreads();
    raiseDnsPriority(niceness, logger);
  };
  if (!node.isTakingOver) await startThreads();
  stops.push(endHoldLater(dns));
  stops.push(startReleasingMemory());
  if (taking === null) {
    if (handover.isStopRequested) return;
    start.service.stayAlive();
  }
  // The threads already answer queries. Without a handover, the rest of the code is only loaded now.
  steps.begin('load the policy');
  const { startHousekeeping, startPolicy } = await import('./start-policy.ts');
  const context = await startPolicy(dns);
  steps.begin('start client discovery');
  const { startClients } = await import('../clients/devices/start-clients.ts');
  stops.push(startClients(context));
  startHousekeeping(context, () => becomeReady(dns));
  const reload = (): void => void node.configuration.reloadLater(context.policy);
  process.on('SIGHUP', reload);
  stops.push(() => void process.off('SIGHUP', reload));
  // The web port is only free after the other process has ended.
  if (!node.isTakingOver && !(await finishTaking(start, taking))) return;
  steps.begin('start the web server');
  const { startWeb } = await import('./start-web.ts');
  const web = await startWeb(context, node.isTakingOver && taking?.mustSucceed === false);
  if (node.isTakingOver) await startThreads();
  if (node.isTakingOver && !(await finishTaking(start, taking))) return;
  steps.begin('listen for commands');
  await web.open();
  node.inherited?.closeRest();
  await startGiving(start, dns, web.server, niceness);
  if (taking !== null) {
    await taking.complete();
    handover.taking = null;
    start.service.stayAlive();
  }
  start.service.ready([...workerDescriptors(dns.supervisor.memories()), ...web.server.descriptors()]);
  await greet(node, web.server, web.nodeAccess).catch((error: unknown) =>
    logger.warn('could not print the addresses of Weir', { reason: reasonOf(error) }),
  );
}

/** Reports the state to the DNS threads, for load balancers, and to other nodes. */
function announceState({ supervisor, claim }: DnsContext, state: NodeStateCode): void {
  supervisor.setNodeState(state);
  claim.requestBeat();
}

/** Called when every due list is either active or could not be fetched. */
function becomeReady(dns: DnsContext): void {
  announceState(dns, NodeState.READY);
  dns.generations.noteReady().catch((error: unknown) => {
    dns.logger.warn('could not record that this node was ready', { reason: reasonOf(error) });
  });
}

/** Takes over the data directory if another process hands it over; false if this process must stop. */
async function finishTaking({ handover, steps }: Start, taking: UpgradeTarget | null): Promise<boolean> {
  steps.begin('lock the data directory');
  await taking?.finish();
  handover.isTaking = false;
  return !handover.isStopRequested;
}

/** From now on, this process can hand over to another one. This part is the last to start and the first to stop. */
async function startGiving(
  { handover, stops, stop, service }: Start,
  dns: DnsContext,
  web: RetriedWebServer,
  niceness: number,
): Promise<void> {
  const handing = await startHandover(dns, web, niceness, service, stop);
  handover.giving = handing;
  stops.push(() => handing.close());
  stops.push(() => dns.database.giveUpUnlessAnswering(LIFE_SIGN_MS));
  stops.push(() => announceState(dns, NodeState.DRAINING));
}

/** Shows the addresses of Weir. */
async function greet(
  { loaded, dataDir, config, version, dnsPort, logger }: Node,
  web: RetriedWebServer,
  nodeAccess: NodeAccess,
): Promise<void> {
  const { bind_address: bindAddresses, web_tls: webTls } = config.server;
  const facts: GreetingFacts = {
    version,
    configFile: loaded.file,
    dataDir,
    bindAddresses,
    addresses: isInContainer() ? [] : lanAddresses(bindAddresses),
    dns: await dnsReach(listeningOf(loaded, dnsPort)),
    webPort: web.endpoints[0]?.port ?? config.server.web_port,
    webTrouble: web.trouble(),
    isSecure: webTls.enabled,
    access: nodeAccess.check(),
  };
  if (config.logging.format === 'text') process.stdout.write(greeting(facts));
  else logger.info(`Weir ${version} is running.`, greetingFields(facts));
}

/**
 * If configured, a node without policy answers all queries unfiltered after a time; returns a function that cancels
 * this.
 */
function endHoldLater({ config, logger, supervisor }: DnsContext): () => void {
  const endHold = (): void => {
    if (supervisor.nodeState() !== NodeState.HOLDING) return;
    const isUnfiltered = config.server.start_unfiltered;
    if (isUnfiltered) supervisor.setNodeState(NodeState.STARTING);
    const answers = isUnfiltered ? 'all clients get unfiltered answers' : 'other machines get SERVFAIL';
    logger.warn(`no policy is active yet; until then ${answers}`);
  };
  const timer = setTimeout(endHold, HOLD_MS);
  return () => clearTimeout(timer);
}
