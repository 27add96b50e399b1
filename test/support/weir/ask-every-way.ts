/**
 * A program that queries the A record of a name over UDP, TCP, TLS and HTTPS from the server in its first argument, and
 * prints each result as JSON. Further arguments: the three ports, the name of the server, the client's key ('' = none),
 * the name.
 */
import { connect as connectHttp2 } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { FrameReader, frame } from '../../../shared/dns/framing.ts';
import { UdpClient } from '../dns/dns-client.ts';
import { query, Reply } from '../dns/dns-message.ts';
import { within } from '../parts/until.ts';

const [address = '', dns = '', dot = '', doh = '', serverName = '', key = '', name = ''] =
  process.argv.slice(2);
const AGAIN_MS = 300;
const MESSAGE = query(name, 'A', { id: 7, edns: {} });
const servername = key === '' ? serverName : `${key}.${serverName}`;

/** The data, or the rcode with the extended errors. */
function resultOf(reply: Reply): unknown {
  return reply.data.length > 0 ? reply.data : [reply.rcode, ...reply.extendedErrors];
}

async function overUdp(): Promise<unknown> {
  using udp = await UdpClient.open(Number(dns), address);
  // Repeats the query, because a client network receives only a few refusals per second.
  const again = setInterval(() => void udp.send(MESSAGE), AGAIN_MS);
  const reply = await udp.exchange(MESSAGE);
  clearInterval(again);
  return resultOf(reply);
}

/** The reply over a stream; 'closed' if the connection ends first. */
async function over(socket: Socket): Promise<unknown> {
  const replies: Uint8Array[] = [];
  const frames = new FrameReader((message) => {
    replies.push(message.slice());
    return true;
  });
  socket.on('error', () => undefined);
  socket.on('data', (chunk: Buffer) => frames.push(chunk));
  const isOver = new Promise<void>((resolve) => socket.on('close', resolve).on('data', () => resolve()));
  socket.write(frame(MESSAGE));
  await within('a reply or the end', isOver);
  socket.destroy();
  return replies[0] === undefined ? 'closed' : resultOf(new Reply(replies[0], ''));
}

async function overHttps(): Promise<unknown> {
  const host = address.includes(':') ? `[${address}]` : address;
  const session = connectHttp2(`https://${host}:${doh}`, {
    rejectUnauthorized: false,
    servername: serverName,
  });
  session.on('error', () => undefined);
  const path = `/dns-query${key === '' ? '' : `/${key}`}?dns=${Buffer.from(MESSAGE).toString('base64url')}`;
  const stream = session.request({ ':path': path });
  stream.on('error', () => undefined);
  const body: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => body.push(chunk));
  await within('a response or the end', new Promise((resolve) => stream.on('close', resolve)));
  session.destroy();
  return body.length === 0 ? 'closed' : resultOf(new Reply(Buffer.concat(body), ''));
}

const tls = {
  host: address,
  port: Number(dot),
  rejectUnauthorized: false,
  ALPNProtocols: ['dot'],
  servername,
};
process.stdout.write(
  JSON.stringify({
    udp: await overUdp(),
    tcp: await over(connect(Number(dns), address)),
    dot: await over(connectTls(tls)),
    doh: await overHttps(),
  }),
);
