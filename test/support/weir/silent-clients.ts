/**
 * A program: floods the server with questions from addresses whose replies arrive nowhere, and between them asks one
 * from an address that is there. Its argument is a `SilentFlood` as JSON; says how many good questions were answered
 * before one was not.
 */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv6 } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { UdpClient } from '../dns/dns-client.ts';
import { query } from '../dns/dns-message.ts';

/** Questions, and the clients that send them. */
export interface SilentFlood {
  readonly server: string;
  readonly port: number;
  readonly silent: readonly string[];
  /** Names that are asked for from the silent addresses in turn; `*` stands for a number that is never used again. */
  readonly names: readonly string[];
  readonly goodName: string;
  /** Good questions, one after the other; none: the flood lasts for `rounds` turns. */
  readonly rounds: number;
  readonly asksGood: boolean;
}

/** Questions of the flood at a time, and the pause between; a flood that waited for the server would spare it. */
const FLOOD_QUESTIONS = 40;
const PAUSE_MS = 4;

const flood = JSON.parse(process.argv[2]!) as SilentFlood;
const sockets = await Promise.all(
  flood.silent.map(async (address) => {
    const socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4');
    socket.bind(0, address);
    await once(socket, 'listening');
    socket.connect(flood.port, flood.server);
    await once(socket, 'connect');
    // Word that the server is not reachable arrives here.
    socket.on('error', () => undefined);
    return socket;
  }),
);
let sent = 0;
const flooding = setInterval(() => {
  for (let i = 0; i < FLOOD_QUESTIONS; i++, sent++) {
    const name = flood.names[sent % flood.names.length]!.replace('*', String(sent));
    const message = query(name, 'TXT', { id: sent & 0xffff, edns: {} });
    sockets[sent % sockets.length]!.send(message, () => undefined);
  }
}, PAUSE_MS);

using good = await UdpClient.open(flood.port, flood.server);
let answered = 0;
try {
  for (; answered < flood.rounds; answered++) {
    if (flood.asksGood) await good.ask(flood.goodName, 'A');
    await sleep(PAUSE_MS);
  }
} catch {
  // Lost: what is said shows it.
}
clearInterval(flooding);
process.stdout.write(`${String(answered)}\n`, () => process.exit());
