/**
 * A running demo: a complete Weir server with the sample household, in its own folder, which later starts use again.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withDatabase } from '../support/parts/made-cluster.ts';
import { ApiClient } from '../support/weir/api-client.ts';
import { Weir } from '../support/weir/weir-process.ts';
import { addDevices } from './demo-devices.ts';
import { startDemoInternet } from './demo-internet.ts';
import type { DemoInternet } from './demo-internet.ts';
import { fillLog } from './demo-log.ts';
import { makePolicy } from './demo-policy.ts';
import { BALANCER, LiveTraffic } from './live-traffic.ts';
import { Progress, silent } from './progress.ts';
import type { ProgressOutput } from './progress.ts';

/** Options of a demo. */
export interface DemoOptions {
  /** Folder with all its files. */
  readonly dir: string;
  readonly ports: { readonly web: number; readonly dns: number; readonly lists: number };
  /** Days of query log to generate. */
  readonly days: number;
  /** Number of queries on an ordinary day. */
  readonly perDay: number;
  /** Output for the progress of the start; none by default. */
  readonly output?: ProgressOutput;
}

/** State of the demo in a folder. */
interface DemoState {
  readonly password: string;
  /** Whether everything was created; if not, the next start begins from scratch. */
  readonly isMade: boolean;
}

const NODE_NAME = 'demo';
const RESTART_STEPS = 3;
/** One more step than at a restart: to set up the policy over the API of the running server. */
const FIRST_START_STEPS = RESTART_STEPS + 1;
/** Prevents that a first start adds a public list. */
const NO_PUBLIC_LIST = "INSERT INTO meta (key, value) VALUES ('first_source_seeded', 'true')";
const BELIEVED = {
  WEIR_SERVER_PROXY_PROTOCOL_ENABLED: 'true',
  WEIR_SERVER_PROXY_PROTOCOL_TRUSTED: `${BALANCER}/32`,
};

/** A demo. */
export class Demo {
  readonly weir: Weir;
  /** Session of the administrator. */
  readonly api: ApiClient;
  /** Password of the user `admin`. */
  readonly password: string;
  private readonly internet: DemoInternet;
  private readonly traffic: LiveTraffic;
  private closing: Promise<void> | undefined;

  private constructor(
    parts: Pick<Demo, 'weir' | 'api' | 'password'> & { internet: DemoInternet; traffic: LiveTraffic },
  ) {
    this.weir = parts.weir;
    this.api = parts.api;
    this.password = parts.password;
    this.internet = parts.internet;
    this.traffic = parts.traffic;
  }

  /** Starts everything, and creates missing data. @throws {Error} if the folder belongs to another program */
  static async open({ dir, ports, days, perDay, output = silent }: DemoOptions): Promise<Demo> {
    const tempDir = { path: dir, dataDir: join(dir, 'data'), remove: () => undefined };
    const state = openState(dir, tempDir.dataDir);
    const progress = new Progress(output, state.isMade ? RESTART_STEPS : FIRST_START_STEPS);
    const internet = await startDemoInternet(ports.lists);
    let weir: Weir | undefined;
    try {
      const upstreams = internet.resolvers.map((resolver) => `udp://${resolver}`);
      progress.next(state.isMade ? 'Opening the database' : 'Creating the database');
      await withDatabase(tempDir.dataDir, '', async (database) => {
        if (!state.isMade) await database.query(NO_PUBLIC_LIST);
        if (!state.isMade) await addDevices(database);
        progress.next('Writing the query log');
        await fillLog(database, { nodeName: NODE_NAME, days, perDay, upstreams }, progress);
      });
      progress.next('Starting the server');
      weir = await Weir.start({
        tempDir,
        webPort: ports.web,
        dnsPort: ports.dns,
        nodeName: NODE_NAME,
        outputFile: join(dir, 'weir.log'),
        detached: true,
        env: BELIEVED,
        pools: poolOf(upstreams),
      });
      const api = await ApiClient.signIn(ports.web, '127.0.0.1', '/api', state.password);
      if (!state.isMade) {
        progress.next('Adding lists, rules, records and users');
        await makePolicy(api, internet);
      } else internet.shortenLastList();
      keepState(dir, { ...state, isMade: true });
      const traffic = await LiveTraffic.start(weir.dnsPort, perDay);
      return new Demo({ weir, api, password: state.password, internet, traffic });
    } catch (error) {
      await weir?.stop();
      await internet.close();
      throw error;
    } finally {
      progress.end();
    }
  }

  /** URL of the dashboard. */
  get origin(): string {
    return `http://127.0.0.1:${String(this.weir.webPort)}`;
  }

  /** Stops everything, once. */
  close(): Promise<void> {
    return (this.closing ??= this.end());
  }

  private async end(): Promise<void> {
    this.traffic.stop();
    await this.weir.stop();
    await this.internet.close();
  }
}

/** The pool of resolvers that are used in turn, as TOML. */
function poolOf(servers: readonly string[]): string {
  return `[[dns.pools]]\nname = "made-up"\nstrategy = "Balanced"\nservers = ${JSON.stringify(servers)}\n`;
}

/** State of the demo in the folder. A folder that is new, or whose first start was interrupted, gets a new password. */
function openState(dir: string, dataDir: string): DemoState {
  const file = join(dir, 'demo.json');
  const known = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as DemoState) : null;
  if (known?.isMade === true) return known;
  if (known === null && existsSync(dataDir))
    throw new Error(`open the demo: ${dataDir} is not a demo's; choose another folder with --dir`);
  rmSync(dataDir, { recursive: true, force: true });
  mkdirSync(dir, { recursive: true });
  const state = { password: randomBytes(9).toString('base64url'), isMade: false };
  keepState(dir, state);
  return state;
}

function keepState(dir: string, state: DemoState): void {
  writeFileSync(join(dir, 'demo.json'), `${JSON.stringify(state)}\n`, { mode: 0o600 });
}
