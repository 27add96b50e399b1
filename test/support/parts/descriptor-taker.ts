/**
 * A process that receives descriptors. It connects to the unix socket in its argument and serves the sockets that it
 * receives: it echoes every datagram, and answers every connection with `taken`. Prints the number of descriptors.
 */
import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';
import { loadDescriptorCalls } from '../../../control-plane/node/upgrade/descriptor-calls.ts';
import { receiveDescriptors } from '../../../control-plane/node/upgrade/descriptor-messages.ts';
import { connectUnix } from '../../../control-plane/node/upgrade/unix-connection.ts';
import { boundSocket } from '../../../shared/net/kernel/bound-socket.ts';

const loaded = loadDescriptorCalls();
if (!('calls' in loaded)) throw new Error(loaded.reason);
const { calls } = loaded;
const socket = connectUnix(calls, process.argv[2]!, 10_000);
const { descriptors } = receiveDescriptors(calls, socket, 4096);
for (const fd of descriptors) {
  if (boundSocket(calls, fd)?.transport === 'udp') {
    const udp = createSocket('udp4');
    udp.bind({ fd });
    udp.on('message', (message, { port, address }) => udp.send(message, port, address));
  } else createServer((client) => client.end('taken')).listen({ fd });
}
process.stdout.write(`took ${String(descriptors.length)}\n`);
