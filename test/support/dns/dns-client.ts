/** A DNS client over UDP and TCP without retries or a cache; it returns replies unchanged. */
import { createSocket } from 'node:dgram';
import type { RemoteInfo, Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, isIPv6 } from 'node:net';
import type { Socket } from 'node:net';
import { within } from '../parts/until.ts';
import { FrameReader, frame } from '../../../shared/dns/framing.ts';
import { query, Reply } from './dns-message.ts';
import type { QueryOptions, TypeSpec } from './dns-message.ts';

/** A question and how to send it. */
export interface Question extends QueryOptions {
  readonly name: string;
  readonly type: TypeSpec;
}

/** A reply that takes longer counts as lost, milliseconds. */
const LOST_MS = 20_000;
/** A connection that neither delivers the expected messages nor ends within this time counts as lost, milliseconds. */
const SILENT_MS = 60_000;

/** A call waiting for a reply. */
interface Waiting {
  readonly take: (reply: Reply) => void;
  readonly giveUp: (reason: Error) => void;
}

/** A client with one UDP socket. */
export class UdpClient {
  private readonly socket: UdpSocket;
  private readonly to: { readonly address: string; readonly port: number };
  private readonly waiting = new Map<number, Waiting>();
  private nextId = Math.floor(Math.random() * 0x1_0000);
  /** Received messages that no call was waiting for. */
  readonly unexpected: Uint8Array[] = [];

  private constructor(socket: UdpSocket, to: { address: string; port: number }) {
    this.socket = socket;
    this.to = to;
    socket.on('message', (bytes, from) => this.receive(bytes, from));
  }

  /** Opens a socket to a server, from the given local address if any. */
  static async open(port: number, address = '127.0.0.1', from?: string): Promise<UdpClient> {
    const socket = createSocket({ type: isIPv6(address) ? 'udp6' : 'udp4', recvBufferSize: 4 << 20 });
    socket.bind(0, from);
    await once(socket, 'listening');
    return new UdpClient(socket, { address, port });
  }

  /** Sends bytes without waiting for a reply. */
  send(bytes: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      this.socket.send(bytes, this.to.port, this.to.address, (error) => {
        if (error === null) resolve();
        else reject(error);
      });
    });
  }

  /** Sends a query and waits for its reply. Rejects if none arrives. */
  async ask(name: string, type: TypeSpec, options: QueryOptions = {}): Promise<Reply> {
    const id = options.id ?? this.freeId();
    return this.exchange(query(name, type, { ...options, id }));
  }

  /** Sends a message and waits for a reply with its ID. */
  async exchange(message: Uint8Array): Promise<Reply> {
    const id = (message[0]! << 8) | message[1]!;
    let lost: NodeJS.Timeout | undefined;
    const reply = new Promise<Reply>((resolve, reject) => {
      const giveUp = (reason: Error): void => reject(reason);
      this.waiting.set(id, { take: resolve, giveUp });
      lost = setTimeout(
        () =>
          giveUp(
            new Error(`ask ${this.to.address} port ${String(this.to.port)}: no reply to ${shown(message)}`),
          ),
        LOST_MS,
      );
    });
    try {
      await this.send(message);
      return await reply;
    } finally {
      clearTimeout(lost);
      this.waiting.delete(id);
    }
  }

  /** Sends all queries, at most `inFlight` at a time; returns the replies in the order of the questions. */
  async askAll(questions: readonly Question[], inFlight = 64): Promise<Reply[]> {
    const replies: Reply[] = [];
    let next = 0;
    const askOn = async (): Promise<void> => {
      while (next < questions.length) {
        const index = next++;
        const { name, type, ...options } = questions[index]!;
        replies[index] = await this.ask(name, type, options);
      }
    };
    await Promise.all(Array.from({ length: inFlight }, askOn));
    return replies;
  }

  /** Closes the socket; pending calls get no reply. */
  close(): void {
    this.socket.close();
    for (const { giveUp } of this.waiting.values()) giveUp(new Error('ask: the client was closed'));
  }

  [Symbol.dispose](): void {
    this.close();
  }

  private freeId(): number {
    do this.nextId = (this.nextId + 1) & 0xffff;
    while (this.waiting.has(this.nextId));
    return this.nextId;
  }

  private receive(bytes: Buffer, from: RemoteInfo): void {
    const waiting = bytes.length < 12 ? undefined : this.waiting.get(bytes.readUInt16BE(0));
    if (waiting === undefined) this.unexpected.push(bytes);
    else waiting.take(new Reply(bytes, from.address));
  }
}

function shown(message: Uint8Array): string {
  return JSON.stringify(Buffer.from(message).subarray(0, 60).toString('latin1'));
}

/** A client with one TCP connection. */
export class TcpClient {
  readonly socket: Socket;
  private readonly ended: Promise<void>;
  private readonly received: Uint8Array[] = [];
  private wake: () => void = () => undefined;

  private constructor(socket: Socket) {
    this.socket = socket;
    const frames = new FrameReader((message) => {
      this.received.push(message.slice());
      return true;
    });
    socket.on('data', (chunk: Buffer) => {
      frames.push(chunk);
      this.wake();
    });
    socket.on('error', () => undefined); // A 'close' event follows.
    this.ended = new Promise((resolve) => {
      socket.on('close', () => {
        this.wake();
        resolve();
      });
    });
  }

  /** Connects, from the given local address if any. */
  static async open(port: number, host = '127.0.0.1', from?: string): Promise<TcpClient> {
    const socket = connect({
      port,
      host,
      noDelay: true,
      ...(from === undefined ? {} : { localAddress: from }),
    });
    const client = new TcpClient(socket);
    await within(`a TCP connection to ${host} port ${String(port)}`, once(socket, 'connect'));
    return client;
  }

  /** Resolves when either side has closed the connection. The time-out starts when this property is read. */
  get closed(): Promise<void> {
    const lastSeen = (): string => `${String(this.received.length)} messages`;
    return within('a TCP connection to be closed', this.ended, { lastSeen });
  }

  /** Sends a message with its length prefix. */
  send(message: Uint8Array): void {
    this.socket.write(frame(message));
  }

  /** The first `count` messages, or fewer if the connection ends first. Rejects on a time-out. */
  async messages(count: number): Promise<readonly Uint8Array[]> {
    const endMs = performance.now() + SILENT_MS;
    const late = setInterval(() => this.wake(), SILENT_MS / 10);
    try {
      while (this.received.length < count && !this.socket.destroyed) {
        if (performance.now() > endMs)
          throw new Error(
            `ask over TCP: ${String(this.received.length)} of ${String(count)} messages, and the connection is still open`,
          );
        await new Promise<void>((resolve) => (this.wake = resolve));
      }
    } finally {
      clearInterval(late);
    }
    return this.received;
  }

  /** Sends one message and reads the next reply. */
  async exchange(message: Uint8Array): Promise<Reply> {
    const count = this.received.length + 1;
    this.send(message);
    const bytes = (await this.messages(count))[count - 1];
    if (bytes === undefined) throw new Error('ask over TCP: the connection ended without a reply');
    return new Reply(bytes, '');
  }

  async ask(name: string, type: TypeSpec, options: QueryOptions = {}): Promise<Reply> {
    return this.exchange(query(name, type, options));
  }

  async close(): Promise<void> {
    this.socket.destroy();
    await this.ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** Sends one query on a separate connection. */
export async function askOverTcp(
  port: number,
  name: string,
  type: TypeSpec,
  options: QueryOptions = {},
): Promise<Reply> {
  await using client = await TcpClient.open(port);
  return await client.ask(name, type, options);
}
