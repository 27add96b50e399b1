// Load over connections: dnsperf for TCP and TLS, h2load for HTTPS; on persistent connections, or with one connection
// per query.
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { query } from '../../support/dns/dns-message.ts';
import { dohPath } from '../../support/dns/doh-client.ts';
import { pinned } from '../process/child.ts';
import { locate } from '../process/locate.ts';
import type { EdgePorts } from './edge-servers.ts';

const run = promisify(execFile);

/** Queried names, all in the cache. */
const NAMES = Array.from({ length: 1000 }, (_, index) => `host${index}.example.com`);
const KEPT_CONNECTIONS = 10;
const IN_FLIGHT_EACH = 20;
const GRACE_MS = 30_000;
/** Weir allows a client 60 handshakes per second, so the handshakes come from several addresses. */
const HANDSHAKE_CLIENTS = 8;
const HANDSHAKES_PER_SECOND_EACH = 50;
const HANDSHAKE_CONNECTIONS = 5;

/** A kind of load. */
export interface EdgeLoad {
  readonly name: string;
  /**
   * Sends load for `secs` seconds; resolves with the number of answers. Undefined if the program that generates the
   * load is not installed.
   */
  readonly run: ((ports: EdgePorts, secs: number) => Promise<number>) | undefined;
}

/** The loads, with files in `dir` and load generators on `core`. */
export function edgeLoads(dir: string, core: number): EdgeLoad[] {
  const questions = join(dir, 'questions.txt');
  writeFileSync(questions, NAMES.map((name) => `${name} A\n`).join(''));
  const dnsperf = locate('dnsperf');
  const h2load = locate('h2load');
  const perf = (mode: 'tcp' | 'dot', isKept: boolean): EdgeLoad['run'] => {
    if (dnsperf === undefined) return undefined;
    const program = { dnsperf, core };
    return (ports, secs) => {
      const place = placeArguments(mode, ports, secs, questions);
      return isKept ? askKept(program, place, secs) : askWithHandshakes(program, place, secs);
    };
  };
  return [
    { name: 'TCP, kept', run: perf('tcp', true) },
    { name: 'TCP, a connection each', run: perf('tcp', false) },
    { name: 'DoT, kept', run: perf('dot', true) },
    { name: 'DoT, a handshake each', run: perf('dot', false) },
    {
      name: 'DoH, kept',
      run: h2load === undefined ? undefined : (ports, secs) => askByH2load(h2load, core, dir, ports, secs),
    },
  ];
}

function placeArguments(mode: 'tcp' | 'dot', ports: EdgePorts, secs: number, questions: string): string[] {
  const port = mode === 'tcp' ? ports.dns : ports.dot;
  return ['-m', mode, '-s', '127.0.0.1', '-p', String(port), '-d', questions, '-l', String(secs), '-T', '1'];
}

interface Program {
  readonly dnsperf: string;
  readonly core: number;
}

function askKept(program: Program, place: readonly string[], secs: number): Promise<number> {
  const window = KEPT_CONNECTIONS * IN_FLIGHT_EACH;
  return askByDnsperf(program, [...place, '-c', String(KEPT_CONNECTIONS), '-q', String(window)], secs);
}

async function askWithHandshakes(program: Program, place: readonly string[], secs: number): Promise<number> {
  const pace = [
    ...['-c', String(HANDSHAKE_CONNECTIONS), '-q', String(HANDSHAKE_CONNECTIONS)],
    ...['-Q', String(HANDSHAKES_PER_SECOND_EACH), '-O', 'num-queries-per-conn=1'],
  ];
  const clients = Array.from({ length: HANDSHAKE_CLIENTS }, (_, index) => `127.0.1.${index + 1}`);
  const answered = await Promise.all(
    clients.map((client) => askByDnsperf(program, [...place, '-a', client, ...pace], secs)),
  );
  return answered.reduce((sum, each) => sum + each, 0);
}

async function askByDnsperf(
  { dnsperf, core }: Program,
  args: readonly string[],
  secs: number,
): Promise<number> {
  const { command, args: words } = pinned({ command: dnsperf, args: [...args] }, [core]);
  const { stdout } = await run(command, words, { timeout: secs * 1000 + GRACE_MS });
  return figureIn(stdout, /Queries completed:\s+(\d+)/);
}

async function askByH2load(
  h2load: string,
  core: number,
  dir: string,
  ports: EdgePorts,
  secs: number,
): Promise<number> {
  const uris = join(dir, `uris-${ports.doh}.txt`);
  const lines = NAMES.map(
    (name) => `https://127.0.0.1:${ports.doh}${dohPath(query(name, 'A', { id: 0, edns: {} }))}`,
  );
  writeFileSync(uris, `${lines.join('\n')}\n`);
  const args = ['-i', uris, '-c', String(KEPT_CONNECTIONS), '-m', String(IN_FLIGHT_EACH), '-t', '1'];
  const { command, args: words } = pinned({ command: h2load, args: [...args, '-D', String(secs)] }, [core]);
  const { stdout } = await run(command, words, { timeout: secs * 1000 + GRACE_MS });
  return figureIn(stdout, /status codes: (\d+) 2xx/);
}

function figureIn(text: string, pattern: RegExp): number {
  const found = pattern.exec(text)?.[1];
  if (found === undefined)
    throw new Error(`parse the output of a generator: no ${String(pattern)} in ${text}`);
  return Number(found);
}
