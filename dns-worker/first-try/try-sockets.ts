/**
 * UDP sockets to upstream servers, sent and received in batches. Each socket is connected, so that the kernel drops
 * packets from other senders and reports ICMP errors, and has a random port that the kernel chooses (RFC 5452 section
 * 9.2). As in the resolve thread (`resolve/transport/upstream-sockets.ts`), a port is used for one query if few are in
 * flight; under load, a few queries that start together share a port. A reply with an id that was never used on a port
 * is an attempt to guess an id, so the port is closed.
 */
import { Header, readU16 } from '../../shared/dns/wire.ts';
import { Iov, Message, MessageFlag, NAME_SIZE } from '../../shared/net/kernel/kernel-messages.ts';
import { AF_INET6, SockAddr, SOCKADDR_SIZE } from '../../shared/net/kernel/socket-address.ts';
import { Errno, type NativeCalls } from '../listeners/native-calls.ts';
import { randomQueryId } from '../resolve/response/question.ts';
import { BUSY, MAX_AGE_MS, MAX_QUESTIONS } from '../resolve/transport/upstream-sockets.ts';
import type { FirstServer } from './first-servers.ts';

const SOCK_DGRAM = 2;
const SOCK_NONBLOCK = 0o4000;
const SOCK_CLOEXEC = 0o2000000;
const EPOLL_CLOEXEC = 0o2000000;
const EPOLL_CTL_ADD = 1;
const EPOLLIN = 1;
/** struct epoll_event in words; it is packed only on x64. */
const EVENT = process.arch === 'x64' ? { WORDS: 3, DATA: 1 } : { WORDS: 4, DATA: 2 };

/** Maximum number of sockets per turn, and of datagrams from each socket. */
const MAX_READY = 16;
export const BATCH_SIZE = MAX_QUESTIONS;
/** Buffer sizes for a query and a reply; a longer reply than requested is truncated, and therefore malformed. */
const QUERY_SIZE = 512;
const REPLY_SIZE = 2048;

const FREE = -1;
/** Marks an id whose query has ended. */
const OVER = -2;

/** Receives the outcome of exchanges. */
export interface TryEvents {
  /** Whether this turn receives no more replies. */
  readonly isTurnOver: boolean;
  /** Maximum number of datagrams received from a socket in one call. */
  readonly batchSize: number;
  /**
   * Called for a datagram with the id of an exchange; the content is not checked, and the memory is valid only during
   * the call.
   */
  received(exchange: number, message: Uint8Array): void;
  /** Called after the socket has failed, for example because the server's port is closed; no answer can arrive. */
  failed(exchange: number): void;
  /** Called after the port was closed because another sender is guessing ids on it. */
  exposed(exchange: number): void;
}

/** One socket and the exchanges on it. */
interface TrySocket {
  fd: number;
  server: FirstServer;
  openedMs: number;
  /** Number of places used so far, and of places still in use; ids and exchanges of all places. */
  used: number;
  live: number;
  /** Whether the kernel has refused to send on the socket. */
  hasRefused: boolean;
  readonly ids: Uint16Array;
  readonly exchanges: Int32Array;
}

/** The sockets of one answer thread. */
export class TrySockets {
  /** File descriptor that is readable if a datagram is waiting on any of the sockets. */
  readonly fd: number;
  private readonly calls: NativeCalls;
  private readonly events: TryEvents;
  private readonly sockets = new Map<number, TrySocket>();
  private readonly spare: TrySocket[] = [];
  /** For each server, the socket that can take another query. */
  private readonly open = new Map<FirstServer, TrySocket>();
  /** The socket of each exchange. */
  private readonly socketOf: (TrySocket | null)[];
  private readonly placeOf: Uint8Array;
  private readonly sent: MessageBatch;
  private readonly received: MessageBatch;
  /** Whether the last `receive` ended early because its turn was over. */
  hasLeft = false;
  private sendCount = 0;
  private sendFd = -1;
  private readonly refused: TrySocket[] = [];
  private readonly ready = new Int32Array(new ArrayBuffer(MAX_READY * EVENT.WORDS * 4));
  private readonly readyAddress: bigint;
  private readonly event = new Int32Array(new ArrayBuffer(EVENT.WORDS * 4));
  private readonly eventAddress: bigint;

  /** Exchanges are numbers below `capacity`. */
  constructor(calls: NativeCalls, capacity: number, events: TryEvents) {
    this.calls = calls;
    this.events = events;
    this.socketOf = new Array<TrySocket | null>(capacity).fill(null);
    this.placeOf = new Uint8Array(capacity);
    this.sent = new MessageBatch(calls, QUERY_SIZE);
    this.received = new MessageBatch(calls, REPLY_SIZE);
    this.readyAddress = calls.address(this.ready);
    this.eventAddress = calls.address(this.event);
    this.fd = calls.epoll_create1(EPOLL_CLOEXEC);
  }

  /**
   * Reserves a place on a socket for an exchange with a server; returns its random id, or -1 if no socket is available.
   */
  join(exchange: number, server: FirstServer, nowMs: number): number {
    const socket = this.socketFor(server, nowMs);
    if (socket === null) return -1;
    let id = randomQueryId();
    while (placeOfId(socket, id) >= 0) id = randomQueryId();
    const place = socket.used++;
    socket.ids[place] = id;
    socket.exchanges[place] = exchange;
    socket.live++;
    this.socketOf[exchange] = socket;
    this.placeOf[exchange] = place;
    return id;
  }

  /** The buffer for the query of an exchange; call `send` next. */
  bufferFor(exchange: number): Uint8Array {
    const { fd } = this.socketOf[exchange]!;
    if (this.sendCount === BATCH_SIZE || (this.sendCount > 0 && fd !== this.sendFd)) this.sendBatch();
    this.sendFd = fd;
    return this.sent.slots[this.sendCount]!;
  }

  /** Queues the first `length` bytes of the buffer that `bufferFor` returned last; `flush` sends them. */
  send(length: number): void {
    this.sent.setLength(this.sendCount++, length);
  }

  /** Sends queued messages, and reports the exchanges of sockets on which the kernel refuses to send. */
  flush(): void {
    this.sendBatch();
    for (let socket = this.refused.pop(); socket !== undefined; socket = this.refused.pop())
      if (socket.hasRefused && socket.fd >= 0) this.lose(socket, false);
  }

  /** Frees the place of an exchange, if it has one. */
  leave(exchange: number): void {
    const socket = this.socketOf[exchange];
    if (socket === null || socket === undefined) return;
    this.socketOf[exchange] = null;
    socket.exchanges[this.placeOf[exchange]!] = OVER;
    if (--socket.live === 0) this.closeSocket(socket);
  }

  /** Receives a limited number of waiting datagrams and returns their number. */
  receive(): number {
    const { calls, ready } = this;
    const count = calls.epoll_wait(this.fd, this.readyAddress, MAX_READY, 0);
    let datagrams = 0;
    this.hasLeft = false;
    for (let i = 0; i < count; i++) {
      if (this.events.isTurnOver) {
        this.hasLeft = true;
        break;
      }
      const socket = this.sockets.get(ready[i * EVENT.WORDS + EVENT.DATA]!);
      if (socket !== undefined) datagrams += this.receiveFrom(socket);
    }
    return datagrams;
  }

  /** Closes every socket. */
  close(): void {
    for (const socket of [...this.sockets.values()]) this.closeSocket(socket);
    this.calls.close(this.fd);
  }

  /** An ICMP error of an earlier query is also reported here, and only once. */
  private sendBatch(): void {
    const { sendCount, sendFd, sent } = this;
    this.sendCount = 0;
    for (let done = 0; done < sendCount;) {
      const count = this.calls.sendmmsg(
        sendFd,
        sent.addresses[done]!,
        sendCount - done,
        MessageFlag.DONTWAIT,
      );
      if (count <= 0) {
        const socket = this.sockets.get(sendFd)!;
        if (!socket.hasRefused) this.refused.push(socket);
        socket.hasRefused = true;
        return;
      }
      done += count;
    }
  }

  private closeSocket(socket: TrySocket): void {
    // Do not send queued queries through a new socket with the same descriptor; their exchanges have ended.
    if (socket.fd === this.sendFd) this.sendCount = 0;
    this.sockets.delete(socket.fd);
    if (this.open.get(socket.server) === socket) this.open.delete(socket.server);
    this.calls.close(socket.fd);
    socket.fd = -1;
    this.spare.push(socket);
  }

  private receiveFrom(socket: TrySocket): number {
    const { calls, received, events } = this;
    received.expectNames();
    const max = Math.min(BATCH_SIZE, events.batchSize);
    const count = calls.recvmmsg(socket.fd, received.addresses[0]!, max, MessageFlag.DONTWAIT, null);
    if (count < 0) {
      // A datagram with a wrong checksum also wakes the thread, but there is nothing to receive.
      if (calls.errno() !== Errno.EAGAIN) this.lose(socket, false);
      return 1;
    }
    const { fd } = socket;
    for (let i = 0; i < count && socket.fd === fd; i++)
      // A datagram that arrived before the socket was connected may come from any sender.
      if (received.isFrom(i, socket.server.address.bytes))
        this.receiveOne(socket, received.slots[i]!, received.lengthOf(i));
    return count;
  }

  private receiveOne(socket: TrySocket, slot: Uint8Array, length: number): void {
    if (length < Header.SIZE) return;
    const place = placeOfId(socket, readU16(slot, Header.ID));
    if (place < 0) {
      this.lose(socket, true);
      return;
    }
    const exchange = socket.exchanges[place]!;
    if (exchange !== OVER) this.events.received(exchange, slot.subarray(0, length));
  }

  /** Closes a socket and reports its exchanges. */
  private lose(socket: TrySocket, isExposed: boolean): void {
    const { exchanges, used, fd } = socket;
    for (let place = 0; place < used && socket.fd === fd; place++) {
      const exchange = exchanges[place]!;
      if (exchange === OVER) continue;
      if (isExposed) this.events.exposed(exchange);
      else this.events.failed(exchange);
    }
    if (socket.fd === fd) this.closeSocket(socket);
  }

  private socketFor(server: FirstServer, nowMs: number): TrySocket | null {
    const open = this.open.get(server);
    const isShared =
      open !== undefined &&
      server.inFlight >= BUSY &&
      open.used < MAX_QUESTIONS &&
      nowMs - open.openedMs < MAX_AGE_MS;
    return isShared ? open : this.openSocket(server, nowMs);
  }

  private openSocket(server: FirstServer, nowMs: number): TrySocket | null {
    const { calls, event } = this;
    const { family, bytes, length } = server.address;
    const fd = calls.socket(family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) return null;
    event[0] = EPOLLIN;
    event[EVENT.DATA] = fd;
    const isOpen =
      calls.connect(fd, calls.address(bytes), length) === 0 &&
      calls.epoll_ctl(this.fd, EPOLL_CTL_ADD, fd, this.eventAddress) === 0;
    if (!isOpen) {
      calls.close(fd);
      return null;
    }
    const socket = this.spare.pop() ?? newSocket(server);
    socket.fd = fd;
    socket.server = server;
    socket.openedMs = nowMs;
    socket.used = 0;
    socket.live = 0;
    socket.hasRefused = false;
    this.sockets.set(fd, socket);
    this.open.set(server, socket);
    return socket;
  }
}

function newSocket(server: FirstServer): TrySocket {
  return {
    fd: -1,
    server,
    openedMs: 0,
    used: 0,
    live: 0,
    hasRefused: false,
    ids: new Uint16Array(MAX_QUESTIONS),
    exchanges: new Int32Array(MAX_QUESTIONS).fill(FREE),
  };
}

/** The place with this id, including places whose query has ended; -1 = the id was never used here. */
function placeOfId({ ids, used }: TrySocket, id: number): number {
  for (let place = 0; place < used; place++) if (ids[place] === id) return place;
  return -1;
}

/** Messages of one system call on a connected socket: kernel structures that are laid out once. */
class MessageBatch {
  /** One slot for each message. */
  readonly slots: readonly Uint8Array[];
  /** Address of each struct mmsghdr. */
  readonly addresses: readonly bigint[];
  private readonly headers = new Int32Array(new ArrayBuffer(BATCH_SIZE * Message.SIZE));
  private readonly iov = new Int32Array(new ArrayBuffer(BATCH_SIZE * Iov.SIZE));
  private readonly names = new Uint8Array(new ArrayBuffer(BATCH_SIZE * NAME_SIZE));

  constructor(calls: NativeCalls, slotSize: number) {
    const bytes = new Uint8Array(new ArrayBuffer(BATCH_SIZE * slotSize));
    this.slots = Array.from({ length: BATCH_SIZE }, (_, i) =>
      bytes.subarray(i * slotSize, (i + 1) * slotSize),
    );
    const first = calls.address(this.headers);
    this.addresses = Array.from({ length: BATCH_SIZE }, (_, i) => first + BigInt(i * Message.SIZE));
    const headers = new BigUint64Array(this.headers.buffer);
    const iov = new BigUint64Array(this.iov.buffer);
    const iovAddress = calls.address(this.iov);
    const bytesAddress = calls.address(bytes);
    const namesAddress = calls.address(this.names);
    for (let i = 0; i < BATCH_SIZE; i++) {
      iov[(i * Iov.SIZE + Iov.BASE) >>> 3] = bytesAddress + BigInt(i * slotSize);
      iov[(i * Iov.SIZE + Iov.LENGTH) >>> 3] = BigInt(slotSize);
      headers[(i * Message.SIZE + Message.NAME) >>> 3] = namesAddress + BigInt(i * NAME_SIZE);
      headers[(i * Message.SIZE + Message.IOV) >>> 3] = iovAddress + BigInt(i * Iov.SIZE);
      headers[(i * Message.SIZE + Message.IOV_COUNT) >>> 3] = 1n;
    }
  }

  /** Makes the next receive write the sender of each message; a send on a connected socket needs no address. */
  expectNames(): void {
    for (let i = 0; i < BATCH_SIZE; i++)
      this.headers[(i * Message.SIZE + Message.NAME_LENGTH) >>> 2] = SOCKADDR_SIZE;
  }

  /** Whether a received message comes from the address and port of this socket address. */
  isFrom(index: number, address: Uint8Array): boolean {
    const { names } = this;
    const at = index * NAME_SIZE;
    const from = address[0] === AF_INET6 ? SockAddr.IPV6 : SockAddr.IPV4;
    const size = address[0] === AF_INET6 ? 16 : 4;
    if (names[at + SockAddr.PORT] !== address[SockAddr.PORT]) return false;
    if (names[at + SockAddr.PORT + 1] !== address[SockAddr.PORT + 1]) return false;
    for (let i = from; i < from + size; i++) if (names[at + i] !== address[i]) return false;
    return true;
  }

  lengthOf(index: number): number {
    return this.headers[(index * Message.SIZE + Message.LENGTH) >>> 2]!;
  }

  setLength(index: number, length: number): void {
    this.iov[(index * Iov.SIZE + Iov.LENGTH) >>> 2] = length;
  }
}
