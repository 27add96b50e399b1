/**
 * Ongoing queries of the household's devices, over loopback and with a PROXY header that names the device, as a load
 * balancer forwards them.
 */
import { createSocket } from 'node:dgram';
import type { Socket } from 'node:dgram';
import { once } from 'node:events';
import { headerFor } from '../support/parts/proxy-headers.ts';
import { query } from '../support/dns/dns-message.ts';
import { drawQuestion, HOUSEHOLD, rateOf } from './household.ts';
import type { Device } from './household.ts';

/** Address whose PROXY headers the demo trusts; a browser on this machine has a different address. */
export const BALANCER = '127.0.0.2';

const TURN_MS = 200;
/** Minimum queries per second, also at night, so that there is always something to see. */
const MIN_RATE = 1.5;

/** Queries that are sent until stopped. */
export class LiveTraffic {
  private readonly socket: Socket;
  private readonly timer: NodeJS.Timeout;

  private constructor(socket: Socket, dnsPort: number, perDay: number) {
    this.socket = socket;
    // The replies are ignored.
    socket.on('message', () => undefined);
    socket.on('error', () => undefined);
    this.timer = setInterval(() => {
      for (const device of askers(perDay)) {
        const { name, qtype } = drawQuestion(device, Math.random);
        const id = Math.floor(Math.random() * 0x1_0000);
        const message = Buffer.concat([headerFor(device.address), query(name, qtype, { id })]);
        socket.send(message, dnsPort, '127.0.0.1', () => undefined);
      }
    }, TURN_MS);
  }

  /** Starts the queries, `perDay` of them on an ordinary day. */
  static async start(dnsPort: number, perDay: number): Promise<LiveTraffic> {
    const socket = createSocket('udp4');
    socket.bind(0, BALANCER);
    await once(socket, 'listening');
    return new LiveTraffic(socket, dnsPort, perDay);
  }

  stop(): void {
    clearInterval(this.timer);
    this.socket.close();
  }
}

/** The devices that send a query in this round. */
function askers(perDay: number): Device[] {
  const now = new Date();
  const rates = HOUSEHOLD.map((device) => rateOf(device, now, perDay));
  const sum = rates.reduce((all, rate) => all + rate, 0);
  const factor = (Math.max(sum, MIN_RATE) / sum) * (TURN_MS / 1000);
  return HOUSEHOLD.filter((_, place) => Math.random() < rates[place]! * factor);
}
