/**
 * A real Weir server: the process as a user starts it, on free ports and in a temporary data directory, with a
 * generated configuration file. `dns-client.ts` and `api-client.ts` send requests to it.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { chownSync, closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Health } from '../../../shared/api/system-api.ts';
import type { MeasureReply } from '../../../control-plane/threads/fault-injection.ts';
import type { Fault, ThreadRole } from '../../../shared/threads/messages.ts';
import { until, within } from '../parts/until.ts';
import { ApiClient } from './api-client.ts';
import { makeTempDir, prepareDataDir } from './data-dir.ts';
import type { TempDir } from './data-dir.ts';
import { killSuccessor } from './holder.ts';
import { httpCall } from './http-call.ts';
import { freePort } from './free-ports.ts';

/** The UDP back end: batched system calls, or node:dgram if batched calls are unavailable. */
export type BackEnd = 'batch' | 'dgram';

/** Both back ends, for suites that run with each. */
export const BACK_ENDS: readonly BackEnd[] = ['batch', 'dgram'];

/** An ordinary local user. */
export interface User {
  readonly uid: number;
  readonly gid: number;
}

/**
 * A user without special rights that exists on any Linux, if the tests run as root. Undefined if the tests already run
 * as an ordinary user.
 */
export function ordinaryUser(): User | undefined {
  return process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : undefined;
}

/** Options of a Weir server. */
export interface WeirOptions {
  /** A folder that outlives this process; without it, a folder is created and deleted with the process. */
  readonly tempDir?: TempDir;
  /** The file that Node runs; by default `control-plane/main.ts`. */
  readonly program?: string;
  /** `server.bind_address`; 127.0.0.1 by default. */
  readonly addresses?: readonly string[];
  /** Servers of the only pool, as in `dns.pools[].servers`; by default a server that does not answer. */
  readonly upstreams?: readonly string[];
  /** Pools as TOML, instead of `upstreams`. */
  readonly pools?: string;
  /** Additional tables of the configuration, as TOML. */
  readonly toml?: string;
  readonly backEnd?: BackEnd;
  readonly env?: Readonly<Record<string, string>>;
  readonly dnsPort?: number;
  readonly webPort?: number;
  /** A file that receives Weir's output instead of `output`. */
  readonly outputFile?: string;
  /** `server.node_name`; `e2e` by default. */
  readonly nodeName?: string;
  /** `server.alt_compat`: the native API moves to `/svc/api`. */
  readonly altCompat?: boolean;
  /** Whether Ctrl+C in the terminal does not reach this process, so that the process that started it must end it. */
  readonly detached?: boolean;
  /** `later`: the start does not wait for the database. `none`: no server listens at the URL of the database. */
  readonly database?: 'later' | 'none';
  /** User that Weir runs as, who owns the folder; by default the user of the tests. */
  readonly user?: User;
  /** File descriptors to pass to Weir from 3 on, as a service manager passes the descriptors that it has stored. */
  readonly descriptors?: readonly number[];
}

/** Result of a process. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

const ROOT = join(import.meta.dirname, '..', '..', '..');
const NODE = process.execPath;
/**
 * Flags from `control-plane/cli/weir`. Without them, helper threads of the garbage collector use a quarter of the CPU
 * time.
 */
const FLAGS =
  '--disable-warning=ExperimentalWarning --disable-sigusr1 --max-semi-space-size=2 --single-threaded-gc --v8-pool-size=1';
const SOURCES = join(ROOT, 'control-plane', 'main.ts');
const startOf = (program: string): string[] => [...FLAGS.split(' '), program, 'start'];
const CODE = join(ROOT, 'node_modules', '.cache', 'weir', 'code');
/** Runs a command with its own process id in the environment, as a service manager does. */
const NAMED_TO_ITSELF = ['sh', '-c', 'LISTEN_PID=$$ exec "$0" "$@"'] as const;
/** Upstream of a Weir server that needs no upstream: nothing listens at this address. */
const NOWHERE = '127.0.0.1:9';
const NO_DATABASE = { WEIR_DATABASE_URL: 'postgres://weir@127.0.0.1:9/weir' };
/** Polling interval over HTTP. A shorter interval would cost both processes CPU time. */
const ASK_MS = 50;
/**
 * Time within which a process must end. A process that still runs then is killed, so that no test leaves a process
 * running.
 */
const END_MS = 60_000;
/** Time within which a killed process and all other processes with its output pipes must end. */
const KILLED_MS = 30_000;

/** Running processes; they are ended together with this process. */
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** A process whose output is captured. */
export class OwnProcess {
  readonly child: ChildProcess;
  private readonly command: string;
  private captured = '';
  private readonly closed: Promise<unknown>;

  constructor(
    command: string,
    args: readonly string[],
    options: {
      cwd?: string;
      env: Readonly<Record<string, string>>;
      ipc?: boolean;
      detached?: boolean;
      uid?: number;
      gid?: number;
      outputFile?: string | undefined;
      descriptors?: readonly number[] | undefined;
    },
  ) {
    const { ipc = false, outputFile, descriptors = [], ...others } = options;
    this.command = [command, ...args].join(' ');
    const output = outputFile === undefined ? 'pipe' : openSync(outputFile, 'w');
    this.child = spawn(command, args, {
      ...others,
      stdio: ['ignore', output, output, ...descriptors, ...(ipc ? ['ipc' as const] : [])],
    });
    if (output !== 'pipe') closeSync(output);
    running.add(this.child);
    this.closed = new Promise((resolve) => this.child.once('close', resolve));
    this.child.once('exit', () => running.delete(this.child));
    for (const stream of [this.child.stdout, this.child.stderr])
      stream?.on('data', (chunk: Buffer) => (this.captured += chunk.toString()));
    this.child.on('error', (error) => (this.captured += error.message));
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  /** Output and error output so far. */
  get output(): string {
    return this.captured;
  }

  get hasEnded(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  /** Resolves when the output matches; rejects if the process ends first. */
  async untilOutput(pattern: RegExp): Promise<void> {
    const isMatch = (): boolean => pattern.test(this.captured);
    await until(
      `output of ${this.command} that matches ${String(pattern)}`,
      async () => {
        if (!this.hasEnded || isMatch()) return this.captured;
        await this.closed; // The last part of the output may still be in the pipe.
        if (isMatch()) return this.captured;
        throw new Error(`wait for ${String(pattern)}: the process ended; it said: ${this.captured}`);
      },
      isMatch,
    );
  }

  /** Ends a process that a test started with `await using`, even if the test failed. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.end('SIGKILL');
  }

  /** Sends a signal, if any, and waits until the process ends; kills the process after a time-out. */
  async end(signal?: NodeJS.Signals, patienceMs: number = END_MS): Promise<Ended> {
    if (!this.hasEnded) {
      if (signal !== undefined) this.child.kill(signal);
      const late = setTimeout(() => this.child.kill('SIGKILL'), patienceMs);
      const limit = { withinMs: patienceMs + KILLED_MS, lastSeen: () => this.captured };
      try {
        await within(`the end of ${this.command}, also by SIGKILL`, this.closed, limit);
      } finally {
        clearTimeout(late);
      }
    }
    return { code: this.child.exitCode, signal: this.child.signalCode };
  }
}

/** A running Weir server. */
export class Weir extends OwnProcess {
  readonly dnsPort: number;
  readonly webPort: number;
  readonly tempDir: TempDir;
  readonly user: User | undefined;
  private readonly address: string;
  private readonly apiPath: string;
  private readonly ownsTempDir: boolean;
  private signedIn: ApiClient | undefined;
  private measured = 0;

  private constructor(
    options: WeirOptions,
    tempDir: TempDir,
    ports: { dns: number; web: number },
    args: readonly string[],
  ) {
    const backEnd: Record<string, string> = options.backEnd === 'dgram' ? { WEIR_UDP_BACKEND: 'dgram' } : {};
    const database = options.database === 'none' ? NO_DATABASE : {};
    const env = { ...ownEnvironment(), WEIR_FAULT_INJECTION: '1', ...backEnd, ...database, ...options.env };
    const { outputFile, detached = false, descriptors } = options;
    const kept = { LISTEN_FDS: String(descriptors?.length ?? 0) };
    const [command, ...words] = descriptors === undefined ? [NODE] : [...NAMED_TO_ITSELF, NODE];
    super(command, [...words, ...startOf(options.program ?? SOURCES), ...args], {
      ...{ cwd: tempDir.path, env: { ...env, ...kept }, ipc: true, outputFile, detached, descriptors },
      ...options.user,
    });
    this.dnsPort = ports.dns;
    this.webPort = ports.web;
    this.tempDir = tempDir;
    this.user = options.user;
    this.ownsTempDir = options.tempDir === undefined;
    this.apiPath = options.altCompat === true ? '/svc/api' : '/api';
    this.address = webAddress(options.addresses?.[0] ?? '127.0.0.1');
  }

  /** Starts Weir; resolves when Weir answers DNS and, unless `database` is given, its database is available. */
  static async start(options: WeirOptions = {}): Promise<Weir> {
    const weir = await Weir.launch(options);
    try {
      if (options.outputFile === undefined) await weir.untilOutput(/Weir \S+ is running\./);
      if (options.database === undefined)
        await weir.untilHealth(({ checks }) => checks.database.status === 'ok');
      return weir;
    } catch (error) {
      await weir.stop();
      throw error;
    }
  }

  /** Starts Weir without waiting. */
  static async launch(options: WeirOptions = {}): Promise<Weir> {
    const tempDir = options.tempDir ?? makeTempDir();
    if (options.tempDir === undefined && options.database === undefined)
      await prepareDataDir(tempDir.dataDir);
    const addresses = options.addresses ?? ['127.0.0.1'];
    const ports = {
      dns: options.dnsPort ?? (await freePort(addresses)),
      web: options.webPort ?? (await freePort(addresses)),
    };
    const file = join(tempDir.path, 'weir.toml');
    writeFileSync(file, configuration(options, tempDir, addresses, ports));
    if (options.user !== undefined) chownSync(tempDir.path, options.user.uid, options.user.gid);
    return new Weir(options, tempDir, ports, ['--config', file]);
  }

  async health(): Promise<{ status: number; body: Health }> {
    const { status, text } = await httpCall(
      'GET',
      `http://${this.address}:${String(this.webPort)}${this.apiPath}/health`,
    );
    return { status, body: JSON.parse(text) as Health };
  }

  /** Waits until `/health` matches, and returns its body. */
  async untilHealth(isWanted: (health: Health) => boolean): Promise<Health> {
    const read = async (): Promise<Health | null> => {
      if (this.hasEnded) throw new Error(`wait for health: weir ended; it said: ${this.output}`);
      const answer = await this.health().catch(() => null); // Weir does not listen yet.
      return answer?.body ?? null;
    };
    const isDone = (health: Health | null): boolean => health !== null && isWanted(health);
    return (await until(`/health that fits ${String(isWanted)}`, read, isDone, { pauseMs: ASK_MS }))!;
  }

  /** Closes the read ends of Weir's output pipes. */
  closeOutput(): void {
    this.child.stdout?.destroy();
    this.child.stderr?.destroy();
  }

  /** A session of the API, logged in once. */
  async api(): Promise<ApiClient> {
    return (this.signedIn ??= await ApiClient.signIn(this.webPort, this.address, this.apiPath));
  }

  /** Injects a fault into a thread. */
  injectFault(worker: number, role: ThreadRole, fault: Fault): void {
    this.child.send({ worker, role, fault });
  }

  /** Injects a fault into the thread of the query log; resolves when the thread is being replaced. */
  async breakLog(): Promise<void> {
    this.child.send('break-log');
    await this.untilOutput(/query log thread died/);
  }

  /** Counters and memory of the DNS threads. */
  measure(): Promise<MeasureReply> {
    const number = ++this.measured;
    const reply = new Promise<MeasureReply>((resolve) => {
      const take = (message: unknown): void => {
        if ((message as MeasureReply).measure !== number) return;
        this.child.off('message', take);
        resolve(message as MeasureReply);
      };
      this.child.on('message', take);
    });
    this.child.send({ measure: number });
    return within('the measures of the DNS threads', reply);
  }

  /** Halts the control plane permanently. Afterwards, only SIGKILL ends it. */
  async haltControlPlane(): Promise<void> {
    this.child.send('halt');
    await this.untilOutput(/the control plane halts/);
  }

  /** Number of replaced threads so far, from the log. */
  get replacedThreads(): number {
    return [...this.output.matchAll(/replacing a DNS thread that died/g)].length;
  }

  /** Process id of the embedded database. */
  get databasePid(): number {
    const file = join(this.tempDir.dataDir, 'postgres', 'cluster', 'postmaster.pid');
    return Number.parseInt(readFileSync(file, 'utf8'), 10);
  }

  /** Ends Weir as a service manager does, and removes its folder. */
  async stop(): Promise<Ended> {
    const ended = await this.end('SIGTERM');
    if (this.ownsTempDir) this.tempDir.remove();
    return ended;
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    // Also ends a second process, because a test that fails during an upgrade leaves two processes with the same pipes.
    await killSuccessor(this, this.pid);
    await this.stop();
  }
}

/** The environment without variables that configure another Weir server. The compile cache is enabled, as for users. */
export function ownEnvironment(): Record<string, string> {
  const wanted = Object.entries(process.env).filter(
    ([name]) => !name.startsWith('WEIR_') && !name.startsWith('NODE_'),
  );
  return {
    ...(Object.fromEntries(wanted) as Record<string, string>),
    NODE_COMPILE_CACHE: CODE,
    MALLOC_ARENA_MAX: '2',
  };
}

/** Command and arguments to start without a configuration file. */
export const START_COMMAND: readonly [string, readonly string[]] = [NODE, startOf(SOURCES)];

function configuration(
  options: WeirOptions,
  tempDir: TempDir,
  addresses: readonly string[],
  ports: { readonly dns: number; readonly web: number },
): string {
  const pools =
    options.pools ??
    `[[dns.pools]]\nname = "upstreams"\nstrategy = "Failover"\nservers = ${JSON.stringify(options.upstreams ?? [NOWHERE])}\n`;
  return `[server]
dns_port = ${String(ports.dns)}
web_port = ${String(ports.web)}
bind_address = ${JSON.stringify(addresses)}
alt_compat = ${String(options.altCompat ?? false)}
node_name = ${JSON.stringify(options.nodeName ?? 'e2e')}
data_dir = ${JSON.stringify(tempDir.dataDir)}

${pools}
${withOwnFiles(withoutCatalog(options.toml ?? ''))}`;
}

/**
 * Makes a process under test store its certificate in its own folder, not in the folder of the Weir server that is
 * installed on the machine.
 */
function withOwnFiles(toml: string): string {
  if (toml.includes('[server.web_tls]')) return toml;
  return `${toml}\n[server.web_tls]\ntls_cert_path = "web-cert.pem"\ntls_key_path = "web-key.pem"\n`;
}

/** Disables the service catalogue, so that no process under test queries other machines, unless a test sets its URL. */
function withoutCatalog(toml: string): string {
  if (toml.includes('catalog_url')) return toml;
  const own = '[blocking]\ncatalog_url = ""\n';
  return toml.includes('[blocking]\n') ? toml.replace('[blocking]\n', own) : `${toml}\n${own}`;
}

/** URL of the API if Weir listens on `bound`. */
function webAddress(bound: string): string {
  if (bound === '0.0.0.0') return '127.0.0.1';
  if (bound === '::') return '[::1]';
  return bound.includes(':') ? `[${bound}]` : bound;
}
