// The upstream for machines without a C compiler: answers like `dns-echo answer`, on node:dgram. Because it is slower,
// the uncached workload also measures this upstream, which the bench reports. Usage: node node-upstream.ts PORT
// [DELAY_MS]
import { createSocket } from 'node:dgram';

const HEADER_BYTES = 12;
const TYPE_SOA = 6;
const TTL_SECS = 86_400;
const TARGET = '04686f7374076578616d706c65036e657400'; // host.example.net.

/** Record data by type, in hexadecimal. */
const RECORDS: Readonly<Record<number, string>> = {
  1: 'c0000201',
  2: TARGET,
  5: TARGET,
  [TYPE_SOA]: `${TARGET}${TARGET}0000000100000e100000038400093a8000015180`,
  12: TARGET,
  15: `000a${TARGET}`,
  16: '0a776569722d62656e6368',
  28: '20010db8000000000000000000000001',
  33: `0000000001bb${TARGET}`,
  64: '0001000001000302' + '6832',
  65: '0001000001000302' + '6832',
};

function answer(query: Buffer): Buffer | undefined {
  let end = HEADER_BYTES;
  while (end < query.length && query[end] !== 0) end += query[end]! + 1;
  end += 5;
  if (end > query.length || (query[2]! & 0x80) !== 0 || query.readUInt16BE(4) !== 1) return undefined;
  const known = RECORDS[query.readUInt16BE(end - 4)];
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0xc000 | HEADER_BYTES, 0);
  head.writeUInt16BE(known === undefined ? TYPE_SOA : query.readUInt16BE(end - 4), 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt32BE(TTL_SECS, 6);
  const data = Buffer.from(known ?? RECORDS[TYPE_SOA]!, 'hex');
  head.writeUInt16BE(data.length, 10);
  const reply = Buffer.concat([query.subarray(0, end), head, data]);
  reply[2] = 0x80 | (reply[2]! & 0x79); // QR; opcode and RD as in the query
  reply[3] = 0x80; // RA, NOERROR
  reply.fill(0, 6, HEADER_BYTES);
  reply[known === undefined ? 9 : 7] = 1;
  return reply;
}

const delayMs = Number(process.argv[3] ?? 0);
let questionCount = 0;
const socket = createSocket({ type: 'udp4', recvBufferSize: 4 << 20, sendBufferSize: 4 << 20 });
socket.on('message', (query, from) => {
  questionCount++;
  const reply = answer(query);
  if (reply === undefined) return;
  const send = (): void => socket.send(reply, from.port, from.address);
  if (delayMs > 0) setTimeout(send, delayMs);
  else send();
});
process.on('SIGUSR1', () => console.log(questionCount));
socket.bind(Number(process.argv[2]), '127.0.0.1', () => console.log('ready'));
