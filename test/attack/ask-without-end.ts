/**
 * A program that queries TXT records of its third argument from the server in its first two arguments, address and
 * port, at the rate in the fourth argument (per second). The following arguments are source addresses, which are used
 * in turn. When its standard input ends, the program prints the number of queries.
 */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { query } from '../support/dns/dns-message.ts';

const TICK_MS = 10;

const [address = '', port = '', name = '', qps = '', ...from] = process.argv.slice(2);
const sockets = await Promise.all(
  from.map(async (local) => {
    const socket = createSocket('udp4');
    socket.bind(0, local);
    await once(socket, 'listening');
    // ICMP errors about an unreachable server arrive here.
    socket.on('error', () => undefined);
    return socket;
  }),
);
let asked = 0;
const timer = setInterval(() => {
  for (let i = 0; i < (Number(qps) * TICK_MS) / 1000; i++, asked++) {
    const message = query(name, 'TXT', { id: asked & 0xffff, edns: {} });
    sockets[asked % sockets.length]!.send(message, Number(port), address, () => undefined);
  }
}, TICK_MS);
process.stdin.resume();
await once(process.stdin, 'end');
clearInterval(timer);
for (const socket of sockets) socket.close();
process.stdout.write(String(asked));
