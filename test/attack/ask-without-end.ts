/**
 * A program: asks the server at its first two arguments, address and port, so many questions a second (the third)
 * from each of the addresses that follow, until its standard input ends; then says how many it asked.
 */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { query } from '../e2e/support/dns-message.ts';

const TICK_MS = 20;

const [address = '', port = '', qps = '', ...from] = process.argv.slice(2);
const sockets = from.map((local) => createSocket({ type: 'udp4' }).bind(0, local));
await Promise.all(sockets.map((socket) => once(socket, 'listening')));
let asked = 0;
const timer = setInterval(() => {
  for (let i = 0; i < (Number(qps) * TICK_MS) / 1000; i++)
    for (const socket of sockets)
      socket.send(query('cached.example.com', 'A', { id: asked++ & 0xffff }), Number(port), address);
}, TICK_MS);
process.stdin.resume();
await once(process.stdin, 'end');
clearInterval(timer);
for (const socket of sockets) socket.close();
process.stdout.write(String(asked));
