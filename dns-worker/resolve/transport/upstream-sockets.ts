/**
 * UDP sockets to one server: connected, so that the kernel drops packets from other senders and reports ICMP errors;
 * bound by the kernel to a random port of the whole ephemeral range (RFC 5452 section 9.2). `exchange-udp.ts` sends and
 * checks messages.
 *
 * A question gets its own socket if few are in flight: a port that is used for only one question cannot be found by
 * trying ports. A socket costs more than the rest of a query, so under load a few queries that start together share a
 * socket; each query has its own id, so an attacker still has to try the same number of combinations of port and id for
 * each answer.
 *
 * A reply with an id that was never used on the port is a guess of an attacker who has found the port: the port is
 * closed, so that there is no second guess. A reply with an id that was used earlier on the port is a late reply.
 */
import { createSocket } from 'node:dgram';
import type { Socket } from 'node:dgram';
import { Header, readU16 } from '../../../shared/dns/wire.ts';
import type { ServerAddress } from './exchange.ts';
import { randomQueryId } from '../response/question.ts';

/** Number of queries in flight to the server from which queries share sockets. */
export const BUSY = 32;
/** Maximum number of queries per socket. */
export const MAX_QUESTIONS = 16;
/** Age in milliseconds at which a socket stops taking queries. */
export const MAX_AGE_MS = 50;

type Lookup = (
  hostname: string,
  options: unknown,
  callback: (error: Error | null, address: string, family: number) => void,
) => void;

/** Addresses are literals here: nothing needs to be looked up, so no libuv thread is used. */
const literal4: Lookup = (hostname, _options, callback) => callback(null, hostname, 4);
const literal6: Lookup = (hostname, _options, callback) => callback(null, hostname, 6);

/** Receives the datagrams with the id of its query. */
export interface DatagramReceiver {
  /** Called for a datagram of the server with this id; the content was not checked. */
  receive(message: Uint8Array): void;
  /** Called after the socket was closed because a third party is guessing ids on its port. */
  expose(): void;
  /** Called after the socket has failed. */
  fail(error: Error): void;
}

/** A place on a socket, for one query. */
export interface SocketPlace {
  /** Id that is unique on its socket, from the CSPRNG. */
  readonly id: number;
  /** Sends a message as soon as the socket is connected. */
  send(message: Uint8Array): void;
  /** Releases the place. */
  leave(): void;
}

/** The sockets to one server. */
export class UdpSockets {
  readonly server: ServerAddress;
  private underWay = 0;
  /** The socket that can take another query. */
  private open: SharedSocket | null = null;

  constructor(server: ServerAddress) {
    this.server = server;
  }

  /** Reserves a place for one query. */
  join(receiver: DatagramReceiver): SocketPlace {
    const isShared = this.underWay >= BUSY && this.open?.isOpen === true;
    const socket = isShared ? this.open! : new SharedSocket(this.server);
    this.open = socket;
    this.underWay++;
    const id = socket.add(receiver);
    let isLeft = false;
    return {
      id,
      send: (message) => {
        if (!isLeft) socket.send(id, message);
      },
      leave: () => {
        if (isLeft) return;
        isLeft = true;
        this.underWay--;
        socket.remove(id);
      },
    };
  }
}

class SharedSocket {
  private readonly server: ServerAddress;
  private readonly socket: Socket;
  private readonly receivers = new Map<number, DatagramReceiver>();
  /** Ids of queries that have ended; null = none yet. */
  private usedIds: Set<number> | null = null;
  /** Messages that wait for the connection, by id; null once connected. */
  private unsent: Map<number, Uint8Array> | null = new Map();
  private readonly openedMs = performance.now();
  private questions = 0;
  private isClosed = false;
  /** Reason why the socket failed, e.g. no descriptor or port was available. */
  private failure: Error | null = null;

  constructor(server: ServerAddress) {
    this.server = server;
    this.socket =
      server.family === 4
        ? createSocket({ type: 'udp4', lookup: literal4 })
        : createSocket({ type: 'udp6', lookup: literal6 });
    this.socket.on('error', (error) => this.fail(error));
    this.socket.on('message', (message, from) => this.receive(message, from.address, from.port));
    this.socket.connect(server.port, server.ip, this.onConnect);
  }

  /** Whether the socket may take another query. */
  get isOpen(): boolean {
    return !this.isClosed && this.questions < MAX_QUESTIONS && performance.now() - this.openedMs < MAX_AGE_MS;
  }

  add(receiver: DatagramReceiver): number {
    let id = randomQueryId();
    while (this.receivers.has(id) || this.usedIds?.has(id) === true) id = randomQueryId();
    this.receivers.set(id, receiver);
    this.questions++;
    const failure = this.failure;
    // The socket may already have failed to bind: report the failure after `join` has returned.
    if (failure !== null) queueMicrotask(() => receiver.fail(failure));
    return id;
  }

  remove(id: number): void {
    this.receivers.delete(id);
    this.unsent?.delete(id);
    if (this.receivers.size === 0) this.close();
    else (this.usedIds ??= new Set()).add(id);
  }

  send(id: number, message: Uint8Array): void {
    if (this.unsent !== null) this.unsent.set(id, message);
    else if (!this.isClosed) this.socket.send(message, this.onSent);
  }

  // This is an arrow function, so that no closure is created for each call.
  private readonly onConnect = (error?: unknown): void => {
    if (this.isClosed) return;
    if (error instanceof Error) {
      this.fail(error);
      return;
    }
    const unsent = this.unsent;
    this.unsent = null;
    for (const message of unsent?.values() ?? []) this.socket.send(message, this.onSent);
  };

  /** The ICMP error of one datagram is reported to the next send; without a callback it would be lost. */
  private readonly onSent = (error: Error | null): void => {
    if (error !== null) this.fail(error);
  };

  private receive(message: Uint8Array, ip: string, port: number): void {
    // The kernel compares the source, except for datagrams that arrived between bind and connect.
    if (this.isClosed || port !== this.server.port || ip !== this.server.ip) return;
    if (message.length < Header.SIZE) return;
    const id = readU16(message, Header.ID);
    const receiver = this.receivers.get(id);
    if (receiver !== undefined) receiver.receive(message);
    else if (this.usedIds?.has(id) !== true) this.expose();
  }

  private expose(): void {
    for (const receiver of this.giveUp()) receiver.expose();
  }

  private fail(error: Error): void {
    this.failure = error;
    for (const receiver of this.giveUp()) receiver.fail(error);
  }

  /** Closes the socket; returns the receivers of the queries in flight. */
  private giveUp(): DatagramReceiver[] {
    const receivers = [...this.receivers.values()];
    this.receivers.clear();
    this.close();
    return receivers;
  }

  private close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.socket.close();
  }
}
