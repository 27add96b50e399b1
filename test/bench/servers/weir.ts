// Weir, started in the ordinary way with a configuration file and all features enabled. A first run adds its list
// through the REST API; the second start is measured. A variant is the same Weir with one or two other settings.
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Launch } from '../process/child.ts';
import { lastLines } from '../process/child.ts';
import { probe } from './answer-probe.ts';
import { type BenchServer, type ServerEnvironment, UPSTREAM_NAME } from './peer-server.ts';
import { type WeirPolicy, addPolicy } from './weir-policy.ts';
import type { WeirApi } from './weir-api.ts';
import { signIn } from './weir-api.ts';

const API_TIMEOUT_MS = 60_000;
const LIST_TIMEOUT_MS = 300_000;
/** Threads that answer queries; the CPU time of all other threads is reported as "other". */
const WORKER_THREAD = /answer|resolve|worker-?\d|^dns/i;
/** Number and length of the lists that only some groups use, which give the groups different policies. */
const GROUP_LISTS = 8;
const GROUP_LIST_NAMES = 100;

/** Settings of a variant. */
export interface WeirVariant {
  /** Name in the report. */
  name: string;
  /** Number of answer threads; 1 by default, 0 = Weir's default. */
  workers?: number;
  /** `cache.max_bytes`; 128 MiB by default, null = Weir's default. */
  cacheBytes?: number | null;
  /** Groups in addition to Default, each with its own lists. */
  groups?: number;
  /** Clients, subnets and blocked services of the groups. */
  policy?: WeirPolicy;
  /** Enables the test hook that reports the counters and allocations of its threads. */
  testHooks?: boolean;
  /** More options of Node, for reports that Node writes to the server's folder. */
  nodeFlags?: readonly string[];
}

/** Weir from the checkout at `root`, if its entry point exists. */
export function weir(root: string, version: string, variant: WeirVariant = { name: 'weir' }): BenchServer {
  const script = join(root, 'control-plane', 'cli', 'weir');
  return {
    name: variant.name,
    filters: true,
    logsQueries: true,
    asksOverTls: true,
    installed: () => (existsSync(script) ? { binary: script, version } : undefined),
    prepare: (environment, binary) => {
      mkdirSync(listDir(environment), { recursive: true });
      const file = join(environment.dir, 'weir.toml');
      writeFileSync(file, configuration(environment, variant));
      return launchOf(root, binary, file, environment, variant);
    },
    firstRun: async (environment, launch) => {
      const list = join(listDir(environment), 'names.txt');
      copyFileSync(environment.lists.file('plain'), list);
      const child = await environment.start(launch);
      const alive = (): void => {
        if (child.ended() !== undefined) throw new Error(`first run of weir: ${lastLines(child)}`);
      };
      try {
        const api = await signIn(environment.webPort, API_TIMEOUT_MS, alive);
        await api.removeSources();
        const { id } = await api.addSource(list);
        if (variant.groups !== undefined) await addGroups(environment, api, variant.groups);
        if (variant.policy !== undefined) await addPolicy(join(environment.dir, 'data'), api, variant.policy);
        await untilActive(environment, async () => (await api.source(id)).last_error, alive);
      } finally {
        await child.stop();
      }
    },
    threadGroup: (comm) => (WORKER_THREAD.test(comm) ? 'workers' : 'other'),
    connect: async (environment, alive) => signIn(environment.webPort, API_TIMEOUT_MS, alive),
  };
}

/** The `weir` command, or the underlying Node command if Node needs more options. */
function launchOf(
  root: string,
  script: string,
  file: string,
  environment: ServerEnvironment,
  variant: WeirVariant,
): Launch {
  const ipc = variant.testHooks === true;
  const env: Record<string, string> = ipc ? { WEIR_FAULT_INJECTION: '1' } : {};
  if (environment.upstreamCa !== undefined) env['NODE_EXTRA_CA_CERTS'] = environment.upstreamCa;
  const start = ['start', '--config', file];
  if (variant.nodeFlags === undefined)
    return { command: script, args: start, cwd: environment.dir, env, ipc };
  const flags = [
    '--disable-warning=ExperimentalWarning',
    '--max-semi-space-size=2',
    '--single-threaded-gc',
    '--v8-pool-size=1',
    ...variant.nodeFlags,
  ];
  return {
    command: join(root, 'node_modules', '.bin', 'node'),
    args: [...flags, join(root, 'control-plane', 'main.ts'), ...start],
    cwd: environment.dir,
    env,
    ipc,
  };
}

function listDir(environment: ServerEnvironment): string {
  return join(environment.dir, 'lists');
}

/** Creates groups with different policies: group g has list n if bit n of g is set. */
async function addGroups(environment: ServerEnvironment, api: WeirApi, count: number): Promise<void> {
  const ids: number[] = [];
  for (let number = 1; number <= count; number++) ids.push(await api.createGroup(`group ${number}`));
  for (let list = 0; list < GROUP_LISTS; list++) {
    const file = join(listDir(environment), `group-${list}.txt`);
    const names = Array.from({ length: GROUP_LIST_NAMES }, (_, n) => `n${n}.list${list}.group.example.org\n`);
    writeFileSync(file, names.join(''));
    const groups = ids.filter((_, index) => (((index + 1) >>> list) & 1) === 1);
    if (groups.length > 0) await api.addSource(file, groups);
  }
  while ((await api.sources()).some(({ status }) => status !== 'ok')) await delay(100);
}

/**
 * Waits until the first and the last name of the list are blocked, because a status of the API does not prove that the
 * list is active.
 */
async function untilActive(
  environment: ServerEnvironment,
  lastError: () => Promise<string | null | undefined>,
  alive: () => void,
): Promise<void> {
  const deadline = performance.now() + LIST_TIMEOUT_MS;
  for (const name of [environment.lists.names[0]!, environment.lists.names.at(-1)!]) {
    while ((await probe(environment.port, name)) !== 'blocked') {
      alive();
      const error = await lastError();
      if (typeof error === 'string' && error !== '') throw new Error(`load the list into weir: ${error}`);
      if (performance.now() > deadline) throw new Error(`load the list into weir: ${name} is still allowed`);
      await delay(100);
    }
  }
}

function upstreamOf({ upstreamPort, upstreamCa }: ServerEnvironment): string {
  const plain = `127.0.0.1:${upstreamPort}`;
  return upstreamCa === undefined ? plain : `tls://${UPSTREAM_NAME}@${plain}`;
}

function cacheSize({ cacheBytes = 128 << 20 }: WeirVariant): string {
  return cacheBytes === null ? '' : `max_bytes = ${cacheBytes}`;
}

function configuration(environment: ServerEnvironment, variant: WeirVariant): string {
  return `[server]
dns_port = ${environment.port}
web_port = ${environment.webPort}
bind_address = ["127.0.0.1"]
workers = ${variant.workers ?? 1}
node_name = "bench"
data_dir = "${join(environment.dir, 'data')}"

[[dns.pools]]
name = "bench"
strategy = "Failover"
priority = 1
servers = ["${upstreamOf(environment)}"]

[cache]
${cacheSize(variant)}

[database]
log_queries = ${environment.queryLog}

[blocking]
catalog_url = ""
list_dirs = ["${listDir(environment)}"]

[logging]
level = "warn"
`;
}
