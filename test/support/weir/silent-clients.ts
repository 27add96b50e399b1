/**
 * A program that floods the server with queries from addresses that receive no replies. In between, it sends "good"
 * queries from an existing address. Its argument is a `SilentFlood` as JSON. Prints how many good queries were answered
 * before the first unanswered one.
 */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv6 } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { UdpClient } from '../dns/dns-client.ts';
import { query } from '../dns/dns-message.ts';

/** Questions of the flood, and its clients. */
export interface SilentFlood {
  readonly server: string;
  readonly port: number;
  readonly silent: readonly string[];
  /** Names that the silent addresses query in turn; each `*` is replaced by a unique number. */
  readonly names: readonly string[];
  readonly goodName: string;
  /** Good questions, sent one after another. Without good questions, the flood has `rounds` rounds. */
  readonly rounds: number;
  readonly asksGood: boolean;
}

/**
 * Questions of the flood per batch, and the pause between batches. The pause does not depend on replies, because a
 * flood that waited for the server would not overload it.
 */
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
    // ICMP errors about an unreachable server arrive here.
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
  // The query is lost; the printed number shows this.
}
clearInterval(flooding);
process.stdout.write(`${String(answered)}\n`, () => process.exit());
