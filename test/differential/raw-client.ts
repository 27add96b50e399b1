/** Queries a resolver and reads only the header of its reply, which may be malformed. */
import { createSocket } from 'node:dgram';
import type { Socket } from 'node:dgram';
import { once } from 'node:events';
import { query } from '../support/dns/dns-message.ts';
import type { TypeSpec } from '../support/dns/dns-message.ts';

/** Longer than the time-outs of all resolvers. */
const LOST_MS = 25_000;

/** The part of a reply that is compared. */
export interface ReplyHead {
  readonly rcode: number;
  readonly answers: number;
}

/** A socket connected to one resolver. */
export class RawClient {
  private readonly socket: Socket;
  private readonly port: number;
  private readonly waiting = new Map<number, (head: ReplyHead | null) => void>();
  private nextId = 0;

  private constructor(socket: Socket, port: number) {
    this.socket = socket;
    this.port = port;
    socket.on('message', (bytes) => {
      if (bytes.length < 12) return;
      const take = this.waiting.get(bytes.readUInt16BE(0));
      this.waiting.delete(bytes.readUInt16BE(0));
      take?.({ rcode: bytes[3]! & 15, answers: bytes.readUInt16BE(6) });
    });
  }

  static async open(port: number): Promise<RawClient> {
    const socket = createSocket({ type: 'udp4', recvBufferSize: 4 << 20 });
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    return new RawClient(socket, port);
  }

  /** The header of the reply; null if there is none. */
  ask(name: string, type: TypeSpec): Promise<ReplyHead | null> {
    do this.nextId = (this.nextId + 1) & 0xffff;
    while (this.waiting.has(this.nextId));
    const id = this.nextId;
    return new Promise((resolve) => {
      const lost = setTimeout(() => {
        this.waiting.delete(id);
        resolve(null);
      }, LOST_MS);
      this.waiting.set(id, (head) => {
        clearTimeout(lost);
        resolve(head);
      });
      this.socket.send(query(name, type, { id, edns: {} }), this.port, '127.0.0.1', () => undefined);
    });
  }

  close(): void {
    this.socket.close();
  }
}
