// Weir, through its ordinary entry: a configuration file, one worker, everything on. Its list comes in through the
// REST API on a first run; the measured start is the one after it, as on any day but the first.
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { lastLines } from '../process/child.ts';
import { probe } from '../probe.ts';
import type { BenchServer, Room } from './server.ts';
import { signIn } from './weir-api.ts';

const API_TIMEOUT_MS = 60_000;
const LIST_TIMEOUT_MS = 300_000;
/** Threads that answer queries; whatever else the process does is "other". */
const WORKER_THREAD = /answer|resolve|worker-?\d|^dns/i;

/** Weir from the checkout at `root`, where its entry exists. */
export function weir(root: string, version: string): BenchServer {
  const entry = join(root, 'control-plane', 'main.ts');
  const node = join(root, 'node_modules', '.bin', 'node');
  return {
    name: 'weir',
    filters: true,
    logsQueries: true,
    installed: () =>
      existsSync(entry) ? { binary: existsSync(node) ? node : process.execPath, version } : undefined,
    prepare: (room, binary) => {
      mkdirSync(listDir(room), { recursive: true });
      const file = join(room.dir, 'weir.toml');
      writeFileSync(file, configuration(room));
      const flags = ['--disable-warning=ExperimentalWarning'];
      return { command: binary, args: [...flags, entry, 'start', '--config', file], cwd: root };
    },
    firstRun: async (room, launch) => {
      const list = join(listDir(room), 'names.txt');
      copyFileSync(room.lists.file('plain'), list);
      const child = await room.start(launch);
      const alive = (): void => {
        if (child.ended() !== undefined) throw new Error(`first run of weir: ${lastLines(child)}`);
      };
      try {
        const api = await signIn(room.webPort, API_TIMEOUT_MS, alive);
        await api.removeSources();
        const { id } = await api.addSource(list);
        await untilInForce(room, async () => (await api.source(id)).last_error, alive);
      } finally {
        await child.stop();
      }
    },
    threadGroup: (comm) => (WORKER_THREAD.test(comm) ? 'workers' : 'other'),
  };
}

function listDir(room: Room): string {
  return join(room.dir, 'lists');
}

/** Waits until the first and the last name of the list are blocked: the answers, not a status, are the proof. */
async function untilInForce(
  room: Room,
  lastError: () => Promise<string | null | undefined>,
  alive: () => void,
): Promise<void> {
  const deadline = performance.now() + LIST_TIMEOUT_MS;
  for (const name of [room.lists.names[0]!, room.lists.names.at(-1)!]) {
    while ((await probe(room.port, name)) !== 'blocked') {
      alive();
      const error = await lastError();
      if (typeof error === 'string' && error !== '') throw new Error(`load the list into weir: ${error}`);
      if (performance.now() > deadline) throw new Error(`load the list into weir: ${name} is still allowed`);
      await delay(100);
    }
  }
}

function configuration(room: Room): string {
  return `[server]
dns_port = ${room.port}
web_port = ${room.webPort}
bind_address = ["127.0.0.1"]
workers = 1
node_name = "bench"
data_dir = "${join(room.dir, 'data')}"

[[dns.pools]]
name = "bench"
strategy = "Failover"
priority = 1
servers = ["127.0.0.1:${room.upstreamPort}"]

[cache]
max_bytes = ${128 << 20}

[database]
log_queries = ${room.queryLog}

[blocking]
list_dirs = ["${listDir(room)}"]

[logging]
level = "warn"
`;
}
