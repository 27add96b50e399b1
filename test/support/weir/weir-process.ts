/**
 * A real Weir: the process as a user starts it, on free ports and in a temporary data directory, with a configuration
 * file written for it. `dns-client.ts` and `api-client.ts` send its requests.
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

/** How UDP is served: batched system calls, or node:dgram where those are unavailable. */
export type BackEnd = 'batch' | 'dgram';

/** Both back ends, for suites that run on each. */
export const BACK_ENDS: readonly BackEnd[] = ['batch', 'dgram'];

/** An ordinary user of this machine. */
export interface User {
  readonly uid: number;
  readonly gid: number;
}

/** One who may do least on any Linux, where the tests run as root; else they run as an ordinary user already. */
export function ordinaryUser(): User | undefined {
  return process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : undefined;
}

/** How Weir is started. */
export interface WeirOptions {
  /** A folder that outlives this process; without it, one is made and goes away with it. */
  readonly room?: TempDir;
  /** The file that Node runs; that of the sources unless given. */
  readonly program?: string;
  /** `server.bind_address`; 127.0.0.1 unless given. */
  readonly addresses?: readonly string[];
  /** Servers of the only pool, as in `dns.pools[].servers`; none that works unless given. */
  readonly upstreams?: readonly string[];
  /** Pools as TOML, instead of `upstreams`. */
  readonly pools?: string;
  /** Further tables of the configuration, TOML. */
  readonly toml?: string;
  readonly backEnd?: BackEnd;
  readonly env?: Readonly<Record<string, string>>;
  readonly dnsPort?: number;
  readonly webPort?: number;
  /** A file that takes what Weir says, instead of `output`. */
  readonly outputFile?: string;
  /** `server.node_name`; `e2e` unless given. */
  readonly nodeName?: string;
  /** `server.alt_compat`: the native API moves to `/svc/api`. */
  readonly altCompat?: boolean;
  /** Ctrl+C at the terminal does not reach it: the process that started it ends it. */
  readonly detached?: boolean;
  /** `later`: the start does not wait for the database. `none`: there is none, as no server is at its URL. */
  readonly database?: 'later' | 'none';
  /** User that it runs as; the user of the tests unless given. The folder belongs to this user. */
  readonly user?: User;
  /** Descriptors from 3 on, as a service manager gives those that it kept. */
  readonly descriptors?: readonly number[];
}

/** How a process ended. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

const ROOT = join(import.meta.dirname, '..', '..', '..');
const NODE = process.execPath;
/** Flags of `control-plane/cli/weir`: without them, threads that help to collect garbage take a quarter of the time. */
const FLAGS =
  '--disable-warning=ExperimentalWarning --disable-sigusr1 --max-semi-space-size=2 --single-threaded-gc --v8-pool-size=1';
const SOURCES = join(ROOT, 'control-plane', 'main.ts');
const startOf = (program: string): string[] => [...FLAGS.split(' '), program, 'start'];
const CODE = join(ROOT, 'node_modules', '.cache', 'weir', 'code');
/** Runs a command with its own process id in the environment, as a service manager does. */
const NAMED_TO_ITSELF = ['sh', '-c', 'LISTEN_PID=$$ exec "$0" "$@"'] as const;
/** Upstream of a Weir that needs none: nothing listens there. */
const NOWHERE = '127.0.0.1:9';
const NO_DATABASE = { WEIR_DATABASE_URL: 'postgres://weir@127.0.0.1:9/weir' };
/** Between two looks over HTTP, which cost both processes. */
const ASK_MS = 50;
/** A process that does not end by itself within this time is killed, so that no test leaves one behind. */
const END_MS = 60_000;
/** Time for a killed process to end, and for other holders of its output pipes. */
const KILLED_MS = 30_000;

/** Processes that have not ended; whatever ends this one takes them along. */
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** A process whose output is kept. */
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

  /** Standard output and standard error so far. */
  get output(): string {
    return this.captured;
  }

  get hasEnded(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  /** Resolves when the output matches; rejects when the process ends before. */
  async untilOutput(pattern: RegExp): Promise<void> {
    const isMatch = (): boolean => pattern.test(this.captured);
    await until(
      `output of ${this.command} that matches ${String(pattern)}`,
      async () => {
        if (!this.hasEnded || isMatch()) return this.captured;
        await this.closed; // Its last words may still be in the pipe.
        if (isMatch()) return this.captured;
        throw new Error(`wait for ${String(pattern)}: the process ended; it said: ${this.captured}`);
      },
      isMatch,
    );
  }

  /** Ends what a test started with `await using`, whatever became of the test. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.end('SIGKILL');
  }

  /** Sends a signal, if any, and waits for the end; kills the process when that has not come in time. */
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

/** A running Weir. */
export class Weir extends OwnProcess {
  readonly dnsPort: number;
  readonly webPort: number;
  readonly room: TempDir;
  readonly user: User | undefined;
  private readonly address: string;
  private readonly apiPath: string;
  private readonly ownsRoom: boolean;
  private signedIn: ApiClient | undefined;
  private measured = 0;

  private constructor(
    options: WeirOptions,
    room: TempDir,
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
      ...{ cwd: room.path, env: { ...env, ...kept }, ipc: true, outputFile, detached, descriptors },
      ...options.user,
    });
    this.dnsPort = ports.dns;
    this.webPort = ports.web;
    this.room = room;
    this.user = options.user;
    this.ownsRoom = options.room === undefined;
    this.apiPath = options.altCompat === true ? '/svc/api' : '/api';
    this.address = webAddress(options.addresses?.[0] ?? '127.0.0.1');
  }

  /** Starts Weir; resolves when it answers DNS and, unless `database` is given, its database is up. */
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

  /** Starts Weir and waits for nothing. */
  static async launch(options: WeirOptions = {}): Promise<Weir> {
    const room = options.room ?? makeTempDir();
    if (options.room === undefined && options.database === undefined) await prepareDataDir(room.dataDir);
    const addresses = options.addresses ?? ['127.0.0.1'];
    const ports = {
      dns: options.dnsPort ?? (await freePort(addresses)),
      web: options.webPort ?? (await freePort(addresses)),
    };
    const file = join(room.path, 'weir.toml');
    writeFileSync(file, configuration(options, room, addresses, ports));
    if (options.user !== undefined) chownSync(room.path, options.user.uid, options.user.gid);
    return new Weir(options, room, ports, ['--config', file]);
  }

  async health(): Promise<{ status: number; body: Health }> {
    const { status, text } = await httpCall(
      'GET',
      `http://${this.address}:${String(this.webPort)}${this.apiPath}/health`,
    );
    return { status, body: JSON.parse(text) as Health };
  }

  /** Waits until `/health` says what is wanted, and returns that. */
  async untilHealth(isWanted: (health: Health) => boolean): Promise<Health> {
    const read = async (): Promise<Health | null> => {
      if (this.hasEnded) throw new Error(`wait for health: weir ended; it said: ${this.output}`);
      const answer = await this.health().catch(() => null); // Not listening yet.
      return answer?.body ?? null;
    };
    const isDone = (health: Health | null): boolean => health !== null && isWanted(health);
    return (await until(`/health that fits ${String(isWanted)}`, read, isDone, { pauseMs: ASK_MS }))!;
  }

  /** Closes the ends of the pipes that Weir writes to. */
  deafen(): void {
    this.child.stdout?.destroy();
    this.child.stderr?.destroy();
  }

  /** The API, signed in once. */
  async api(): Promise<ApiClient> {
    return (this.signedIn ??= await ApiClient.signIn(this.webPort, this.address, this.apiPath));
  }

  /** Breaks a thread. */
  injectFault(worker: number, role: ThreadRole, fault: Fault): void {
    this.child.send({ worker, role, fault });
  }

  /** Breaks the thread of the query log; resolves when it is being replaced. */
  async breakLog(): Promise<void> {
    this.child.send('break-log');
    await this.untilOutput(/replace the query log thread/);
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

  /** Halts the control plane for good: only SIGKILL ends it. */
  async haltControlPlane(): Promise<void> {
    this.child.send('halt');
    await this.untilOutput(/the control plane halts/);
  }

  /** Threads replaced so far, counted in the log. */
  get replacedThreads(): number {
    return [...this.output.matchAll(/replace a DNS thread that died/g)].length;
  }

  /** Process id of the embedded database. */
  get databasePid(): number {
    const file = join(this.room.dataDir, 'postgres', 'cluster', 'postmaster.pid');
    return Number.parseInt(readFileSync(file, 'utf8'), 10);
  }

  /** Ends Weir as a service manager does, and removes what was made for it. */
  async stop(): Promise<Ended> {
    const ended = await this.end('SIGTERM');
    if (this.ownsRoom) this.room.remove();
    return ended;
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    // A test that failed in the midst of an upgrade leaves two, with the same pipes.
    await killSuccessor(this, this.pid);
    await this.stop();
  }
}

/** The environment without what is meant for another Weir; compiled code is kept, as for a user's. */
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

/** Command and arguments of a start without a configuration file. */
export const START_COMMAND: readonly [string, readonly string[]] = [NODE, startOf(SOURCES)];

function configuration(
  options: WeirOptions,
  room: TempDir,
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
data_dir = ${JSON.stringify(room.dataDir)}

${pools}
${withOwnFiles(withoutCatalog(options.toml ?? ''))}`;
}

/** A process under test keeps its certificate in its own folder, not where the machine's Weir would. */
function withOwnFiles(toml: string): string {
  if (toml.includes('[server.web_tls]')) return toml;
  return `${toml}\n[server.web_tls]\ntls_cert_path = "web-cert.pem"\ntls_key_path = "web-key.pem"\n`;
}

/** Disables the service catalog, so that no process under test asks other machines, unless a test gives its URL. */
function withoutCatalog(toml: string): string {
  if (toml.includes('catalog_url')) return toml;
  const own = '[blocking]\ncatalog_url = ""\n';
  return toml.includes('[blocking]\n') ? toml.replace('[blocking]\n', own) : `${toml}\n${own}`;
}

/** Where the API is reached when Weir listens on `bound`. */
function webAddress(bound: string): string {
  if (bound === '0.0.0.0') return '127.0.0.1';
  if (bound === '::') return '[::1]';
  return bound.includes(':') ? `[${bound}]` : bound;
}
