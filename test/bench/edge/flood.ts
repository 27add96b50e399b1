// One flood of the edge bench, as a process: `flood.ts KIND PORTS QUESTIONS`, where the last argument is a file of
// names. When its standard input ends, the process prints its counts and ends. Each flood uses several source
// addresses, because Weir limits each address to less than a flood. dnsperf sends the fast floods, because one core of
// Node makes only 300 handshakes or 24,000 queries per second.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { connect as connectTcp } from 'node:net';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { frame } from '../../../shared/dns/framing.ts';
import { query } from '../../support/dns/dns-message.ts';
import type { EdgePorts } from './edge-servers.ts';
import type { FloodKind } from './flood-kinds.ts';

const HOST = '127.0.0.1';
const IDLE_OF_AN_ADDRESS = 10;
const TICK_MS = 10;
const DRIP_MS = 1000;
/** Weir allows an address 60 handshakes per second. */
const HANDSHAKES_OF_AN_ADDRESS = 50;

const [kind, portsText, questionFile] = process.argv.slice(2) as [FloodKind, string, string];
const ports = JSON.parse(portsText) as EdgePorts;
const generators: ChildProcess[] = [];
const counts = { opened: 0, closed: 0, failed: 0, asked: 0, answered: 0 };

/** Source address of connection number `index`. */
function addressOf(index: number): string {
  const number = Math.floor(index / IDLE_OF_AN_ADDRESS);
  return `127.2.${number >> 8}.${number & 0xff || 256 - 1}`;
}

function note(socket: Socket, ready: 'connect' | 'secureConnect'): void {
  socket.on('error', () => undefined).on(ready, () => counts.opened++);
  socket.on('close', () => counts.closed++).resume();
}

function openTcp(index: number): Socket {
  const socket = connectTcp({ host: HOST, port: ports.dns, localAddress: addressOf(index) });
  note(socket, 'connect');
  return socket;
}

function openTls(index: number): Socket {
  const underneath = connectTcp({ host: HOST, port: ports.dot, localAddress: addressOf(index) });
  underneath.on('error', () => undefined);
  const socket = connectTls({ socket: underneath, rejectUnauthorized: false, ALPNProtocols: ['dot'] });
  note(socket, 'secureConnect');
  return socket;
}

/** Keeps this many connections open, and replaces closed connections. */
function keepOpen(count: number, open: (index: number) => Socket, perTick: number): void {
  const kept = new Map<number, Socket>();
  let next = 0;
  setInterval(() => {
    for (let i = 0; i < perTick; i++) {
      const index = next++ % count;
      if (kept.get(index)?.destroyed === false) continue;
      kept.set(index, open(index));
    }
  }, TICK_MS);
}

/** Sends queries from an address with dnsperf. */
function attack(mode: 'dot' | 'udp', client: string, pace: readonly string[]): void {
  const port = mode === 'dot' ? ports.dot : ports.dns;
  const place = ['-m', mode, '-s', HOST, '-p', String(port), '-a', client, '-d', questionFile, '-l', '3600'];
  const generator = spawn('dnsperf', [...place, ...pace], { stdio: ['ignore', 'pipe', 'ignore'] });
  generator.on('error', () => {
    counts.failed++;
    generators.splice(generators.indexOf(generator), 1);
  });
  let output = '';
  generator.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  generator.on('close', () => {
    counts.asked += Number(/Queries sent:\s+(\d+)/.exec(output)?.[1] ?? 0);
    counts.answered += Number(/Queries completed:\s+(\d+)/.exec(output)?.[1] ?? 0);
  });
  generators.push(generator);
}

const STARTS: Readonly<Record<FloodKind, () => void>> = {
  '5,000 idle TCP connections': () => keepOpen(5000, openTcp, 50),
  '1,000 idle DoT connections': () => keepOpen(1000, openTls, 4),
  '500 slow senders': () => {
    const message = Buffer.from(frame(query('host1.example.com', 'A', {})));
    const slow = (index: number): Socket => {
      const socket = openTcp(index);
      let sent = 0;
      const drip = setInterval(() => socket.write(message.subarray(sent, ++sent)), DRIP_MS);
      socket.on('close', () => clearInterval(drip));
      return socket;
    };
    keepOpen(500, slow, 10);
  },
  '1,000 TLS handshakes a second': () => {
    for (let client = 1; client <= 1000 / HANDSHAKES_OF_AN_ADDRESS; client++) {
      const pace = ['-Q', String(HANDSHAKES_OF_AN_ADDRESS), '-c', '5', '-q', '5'];
      attack('dot', `127.3.0.${client}`, [...pace, '-O', 'num-queries-per-conn=1']);
    }
  },
  // A time-out of one second for unanswered queries.
  '50,000 q/s of one client over its limit': () =>
    attack('udp', '127.66.0.1', ['-Q', '50000', '-c', '20', '-q', '65000', '-t', '1']),
};

STARTS[kind]();
process.stdin.resume().on('end', () => void end());

async function end(): Promise<void> {
  const ended = generators.map((generator) => once(generator, 'close'));
  // On SIGINT each generator prints its counts.
  for (const generator of generators) generator.kill('SIGINT');
  await Promise.all(ended);
  const reported = Object.entries(counts).filter(([, count]) => count > 0);
  process.stdout.write(reported.map(([what, count]) => `${count} ${what}`).join(', '), () => process.exit(0));
}
