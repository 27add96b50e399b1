/**
 * Attacks with packets: clients that receive no replies, answers that break a TCP stream, a client that floods the
 * server.
 */
import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { join } from 'node:path';
import { RRClass, RRType } from '../../shared/dns/iana.ts';
import { query } from '../support/dns/dns-message.ts';
import { answerTo } from '../support/dns/echoing-upstream.ts';
import { within } from '../support/parts/until.ts';
import { NetworkDevice } from '../support/weir/network-device.ts';
import { giveInput } from '../support/weir/standard-input.ts';
import { octets, u16, u32 } from '../support/dns/built-messages.ts';
import type { ReceivedQuery } from '../support/dns/scripted-upstream.ts';
import { repeat } from './attack.ts';
import type { Attack, Target } from './attack.ts';

/** Addresses on the cable: this machine's and the device's. */
const CABLE = { here: '198.51.100.1', device: '198.51.100.2/24' } as const;
/**
 * Unused addresses in the same network. The kernel buffers up to 208 KiB for each, in total more than the largest send
 * buffer.
 */
const SILENT_ADDRESSES = Array.from({ length: 64 }, (_, index) => `198.51.100.${String(index + 100)}`);
const SILENT_QPS = 10_000;
/** A name whose TXT records fill a reply, so that few replies fill a buffer. */
export const LARGE_NAME = 'large.home.example';
export const LOCAL_RECORDS = [1, 2, 3, 4].map((n) => `${LARGE_NAME} 60 TXT ${String(n).repeat(250)}`);
/** A different network from that of the good clients. */
const HOG_ADDRESS = '127.66.0.1';
const HOG_QPS = 2000;
const TICK_MS = 10;
const LONG_ANSWER_EVERY_MS = 50;
/** SRV records that point back to a long question name. A sender must not compress them, so the names take 100 KB. */
const LONG_RECORDS = 400;
const LONG_LABELS = ['a', 'b', 'c'].map((letter) => letter.repeat(63)).join('.');

export const networkAttacks: readonly Attack[] = [
  { fault: 3, name: 'queries from addresses that do not resolve', begin: beginSilent },
  {
    fault: 5,
    name: 'answers on the shared stream that are too long to be rewritten',
    begin: beginLongAnswers,
  },
  { fault: 6, name: 'one client with questions that no upstream answers', begin: beginHog },
];

/** Answers for the attacks: none for `*.hang.*`, and one that is too long to be passed on for `*.long.*`. */
export function answerUnderAttack(received: ReceivedQuery): void {
  const labels = labelsOf(received.bytes);
  if (labels.includes('hang')) return;
  received.reply(labels.includes('long') ? longAnswerTo(received.bytes) : answerTo(received.bytes));
}

function labelsOf(message: Uint8Array): string[] {
  const labels: string[] = [];
  for (let at = 12; message[at] !== 0; at += message[at]! + 1)
    labels.push(
      Buffer.from(message.subarray(at + 1, at + 1 + message[at]!))
        .toString('latin1')
        .toLowerCase(),
    );
  return labels;
}

function longAnswerTo(message: Uint8Array): Uint8Array {
  let end = 12;
  while (message[end] !== 0) end += message[end]! + 1;
  end += 5;
  const toQname = u16(0xc00c);
  const data = [...u16(0), ...u16(0), ...u16(443), ...toQname];
  const record = [
    ...toQname,
    ...u16(RRType.SRV),
    ...u16(RRClass.IN),
    ...u32(60),
    ...u16(data.length),
    ...data,
  ];
  return octets(
    message.slice(0, 2),
    [0x81, 0x80, 0, 1],
    u16(LONG_RECORDS),
    [0, 0, 0, 0],
    message.slice(12, end),
    ...Array.from({ length: LONG_RECORDS }, () => record),
  );
}

async function beginSilent({ weir }: Target): Promise<() => Promise<string>> {
  if (process.getuid?.() !== 0) return async () => 'left out: needs root to create a network namespace';
  const device = NetworkDevice.make('02:00:5e:10:00:66', [`${CABLE.here}/24`]);
  device.setAddress(CABLE.device);
  for (const address of SILENT_ADDRESSES) device.addSilentAddress(address);
  const program = join(import.meta.dirname, 'ask-without-end.ts');
  const args = [CABLE.here, String(weir.dnsPort), LARGE_NAME, String(SILENT_QPS), ...SILENT_ADDRESSES];
  const [command, ...words] = device.command(program, ...args);
  const child = spawn(command!, words, { stdio: ['pipe', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  return async () => {
    const closed = once(child, 'close');
    await giveInput(child.stdin);
    await within('the attacker to end', closed);
    device[Symbol.dispose]();
    return `${output.trim()} queries whose replies reach no client`;
  };
}

async function beginLongAnswers({ weir, upstreamConnections }: Target): Promise<() => Promise<string>> {
  const socket = createSocket('udp4');
  socket.on('message', () => undefined);
  let asked = 0;
  const end = repeat(LONG_ANSWER_EVERY_MS, () => {
    socket.send(
      query(`n${String(asked++)}.${LONG_LABELS}.long.example.com`, 'SRV', { id: asked & 0xffff }),
      weir.dnsPort,
      '127.0.0.1',
    );
  });
  const before = await upstreamConnections();
  return async () => {
    end();
    socket.close();
    return `${String(asked)} asked; ${String((await upstreamConnections()) - before)} new connections to the upstream`;
  };
}

async function beginHog({ weir }: Target): Promise<() => Promise<string>> {
  const socket = createSocket('udp4');
  socket.bind(0, HOG_ADDRESS);
  await once(socket, 'listening');
  let asked = 0;
  let replies = 0;
  socket.on('message', () => replies++);
  const end = repeat(TICK_MS, () => {
    for (let i = 0; i < (HOG_QPS * TICK_MS) / 1000; i++)
      socket.send(
        query(`n${String(asked++)}.hang.example.com`, 'A', { id: asked & 0xffff }),
        weir.dnsPort,
        '127.0.0.1',
      );
  });
  return async () => {
    end();
    socket.close();
    return `${String(asked)} asked, ${String(replies)} replies`;
  };
}
