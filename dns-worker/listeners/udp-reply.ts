/**
 * Sends UDP replies of queries that have waited, through the answer thread's sockets (descriptors belong to the
 * process) and from the local address that received the query. Replies of one turn are sent by one system call: the
 * kernel's structures (`kernel-messages.ts`) are laid out once, per reply only lengths change.
 */
import { WorkerControl } from '../../shared/threads/messages.ts';
import { MissRecord } from '../../shared/memory/miss-ring.ts';
import { CONTROL_SIZE, Iov, Message, NAME_SIZE } from '../../shared/net/kernel/kernel-messages.ts';
import type { NativeCalls } from './native-calls.ts';
import { type CountUnsent, sendMessages } from './send-messages.ts';
import { closeNoted } from './open-socket.ts';
import { SLOT_SIZE } from './udp-batch.ts';
import { UDP_NOTED } from './udp-sockets.ts';

/** Maximum number of replies per system call. */
const BATCH_SIZE = 32;

/** The destination of a reply, copied from the miss record. */
export interface UdpOrigin {
  readonly socket: number;
  readonly nameLength: number;
  /** The socket address, then the control message with the local address, if there is one. */
  readonly bytes: Uint8Array;
}

/** Reads the origin from a miss record at `at`. */
export function readOrigin(bytes: Uint8Array, at: number, socket: number): UdpOrigin {
  const nameLength = bytes[at + MissRecord.NAME_LENGTH]!;
  const controlLength = bytes[at + MissRecord.CONTROL_LENGTH]!;
  // V8 stores up to 64 bytes in its heap, which is cheaper than separate memory.
  const copy = new Uint8Array(nameLength + controlLength);
  for (let i = 0; i < nameLength; i++) copy[i] = bytes[at + MissRecord.NAME + i]!;
  for (let i = 0; i < controlLength; i++) copy[nameLength + i] = bytes[at + MissRecord.CONTROL + i]!;
  return { socket, nameLength, bytes: copy };
}

/** Gathers replies and sends them. */
export class UdpReply {
  private readonly calls: NativeCalls;
  private readonly control: Int32Array;
  private readonly countUnsent: CountUnsent;
  private readonly atEndOfTurn: (flush: () => void) => void;
  /** Replies, socket addresses and control messages, in BATCH_SIZE slots each. */
  private readonly replies = new Uint8Array(new ArrayBuffer(BATCH_SIZE * SLOT_SIZE));
  private readonly names = new Uint8Array(new ArrayBuffer(BATCH_SIZE * NAME_SIZE));
  private readonly controls = new Uint8Array(new ArrayBuffer(BATCH_SIZE * CONTROL_SIZE));
  private readonly messages = new Int32Array(new ArrayBuffer(BATCH_SIZE * Message.SIZE));
  private readonly iov = new Int32Array(new ArrayBuffer(BATCH_SIZE * Iov.SIZE));
  private readonly addresses: readonly bigint[];
  /** Number of waiting replies, all for this socket. */
  private count = 0;
  private socket = 0;

  /** `atEndOfTurn` schedules `flush`; by default in the event loop. */
  constructor(
    calls: NativeCalls,
    control: Int32Array,
    countUnsent: CountUnsent,
    atEndOfTurn: (flush: () => void) => void = setImmediate,
  ) {
    this.atEndOfTurn = atEndOfTurn;
    this.calls = calls;
    this.control = control;
    this.countUnsent = countUnsent;
    const first = calls.address(this.messages);
    this.addresses = Array.from({ length: BATCH_SIZE }, (_, i) => first + BigInt(i * Message.SIZE));
    this.layOut();
  }

  /** Sends a copy of `reply` at the end of the turn. */
  send(reply: Uint8Array, origin: UdpOrigin): void {
    if (this.count === BATCH_SIZE || (this.count > 0 && origin.socket !== this.socket)) this.flush();
    if (this.count === 0) this.atEndOfTurn(this.flush);
    this.socket = origin.socket;
    const place = this.count++;
    const { messages, names, controls } = this;
    const { nameLength, bytes } = origin;
    const controlLength = bytes.length - nameLength;
    this.replies.set(reply, place * SLOT_SIZE);
    for (let i = 0; i < nameLength; i++) names[place * NAME_SIZE + i] = bytes[i]!;
    for (let i = 0; i < controlLength; i++) controls[place * CONTROL_SIZE + i] = bytes[nameLength + i]!;
    this.iov[(place * Iov.SIZE + Iov.LENGTH) >>> 2] = reply.length;
    messages[(place * Message.SIZE + Message.NAME_LENGTH) >>> 2] = nameLength;
    messages[(place * Message.SIZE + Message.CONTROL_LENGTH) >>> 2] = controlLength;
  }

  /** Sends waiting replies. This is an arrow function, so that it can be passed as a callback. */
  readonly flush = (): void => {
    if (this.count === 0) return;
    const fd = Atomics.load(this.control, WorkerControl.UDP_FD_FIRST_WORD + this.socket);
    sendMessages(this.calls, fd, this.addresses, this.count, this.countUnsent);
    this.count = 0;
  };

  /** Sends pending replies, then closes the worker's UDP sockets permanently unless `keepSockets` is true. */
  finish(keepSockets: boolean): void {
    this.flush();
    if (!keepSockets) closeNoted(this.calls, this.control, UDP_NOTED);
  }

  /** Fills in the pointers; the kernel ignores the pointer to an empty control message. */
  private layOut(): void {
    const { calls } = this;
    const messages = new BigUint64Array(this.messages.buffer);
    const iov = new BigUint64Array(this.iov.buffer);
    const [replies, names, controls, iovs] = [
      calls.address(this.replies),
      calls.address(this.names),
      calls.address(this.controls),
      calls.address(this.iov),
    ];
    for (let i = 0; i < BATCH_SIZE; i++) {
      const at = (i * Message.SIZE) >>> 3;
      iov[(i * Iov.SIZE + Iov.BASE) >>> 3] = replies + BigInt(i * SLOT_SIZE);
      messages[at + (Message.NAME >>> 3)] = names + BigInt(i * NAME_SIZE);
      messages[at + (Message.CONTROL >>> 3)] = controls + BigInt(i * CONTROL_SIZE);
      messages[at + (Message.IOV >>> 3)] = iovs + BigInt(i * Iov.SIZE);
      messages[at + (Message.IOV_COUNT >>> 3)] = 1n;
    }
  }
}
