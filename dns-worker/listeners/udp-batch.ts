/**
 * Datagrams in batches: up to 64 are received into slots of one buffer by one system call, answered in place, and sent
 * by one call. The content of a datagram is not interpreted here. The kernel's structures (`kernel-messages.ts`) are
 * laid out once; per batch only lengths change.
 */
import { MissRecord } from '../../shared/memory/miss-ring.ts';
import { ADDRESS_SIZE } from '../../shared/net/ip.ts';
import {
  Control,
  CONTROL_SIZE,
  Iov,
  Message,
  MessageFlag,
  NAME_SIZE,
} from '../../shared/net/kernel/kernel-messages.ts';
import type { NativeCalls } from './native-calls.ts';
import { type CountUnsent, sendMessages } from './send-messages.ts';
import { SOCKADDR_SIZE, unpackAddress } from '../../shared/net/kernel/socket-address.ts';
import type { UdpSocket } from './udp-sockets.ts';

/** Maximum number of datagrams in a batch. */
export const BATCH_SIZE = 64;
/**
 * Size of a slot for a request or a reply, in bytes. Replies are never larger; larger requests are truncated and
 * flagged.
 */
export const SLOT_SIZE = 2048;

/** Words of struct mmsghdr that contain a pointer into the slot. */
const SLOT_POINTERS = [Message.NAME >>> 2, Message.CONTROL >>> 2] as const;

/** Batches over the sockets of one thread. */
export class UdpBatch {
  /** Slots, SLOT_SIZE bytes each; slot i starts at i * SLOT_SIZE. */
  readonly slots: Uint8Array = new Uint8Array(new ArrayBuffer(BATCH_SIZE * SLOT_SIZE));
  /** Client address of each slot, 16 bytes. */
  readonly clients: Uint8Array = new Uint8Array(new ArrayBuffer(BATCH_SIZE * ADDRESS_SIZE));
  /** Index of the socket of the batch. */
  socketIndex = 0;

  private readonly calls: NativeCalls;
  private readonly sockets: readonly UdpSocket[];
  private readonly countUnsent: CountUnsent;
  /** Socket addresses, NAME_SIZE bytes per slot, and control messages, CONTROL_SIZE bytes per slot. */
  private readonly names = new Uint8Array(new ArrayBuffer(BATCH_SIZE * NAME_SIZE));
  private readonly nameWords = new Int32Array(this.names.buffer);
  private readonly clientWords = new Int32Array(this.clients.buffer);
  private readonly controls = new Uint8Array(new ArrayBuffer(BATCH_SIZE * CONTROL_SIZE));
  private readonly received = new Int32Array(new ArrayBuffer(BATCH_SIZE * Message.SIZE));
  private readonly receivedIov = new Int32Array(new ArrayBuffer(BATCH_SIZE * Iov.SIZE));
  private readonly receivedAddress: bigint;
  private readonly sent = new Int32Array(new ArrayBuffer(BATCH_SIZE * Message.SIZE));
  private readonly sentIov = new Int32Array(new ArrayBuffer(BATCH_SIZE * Iov.SIZE));
  private readonly sentAddresses: readonly bigint[];
  /** The slot of each message in `sent`. */
  private readonly sentSlot = new Int32Array(BATCH_SIZE).fill(-1);
  private sendCount = 0;
  /** Datagrams of the last receive, and whether its socket reports local addresses. */
  private lastCount = BATCH_SIZE;
  private lastHadPacketInfo = false;

  constructor(calls: NativeCalls, sockets: readonly UdpSocket[], countUnsent: CountUnsent) {
    this.calls = calls;
    this.sockets = sockets;
    this.countUnsent = countUnsent;
    this.receivedAddress = calls.address(this.received);
    const sentAddress = calls.address(this.sent);
    this.sentAddresses = Array.from({ length: BATCH_SIZE }, (_, i) => sentAddress + BigInt(i * Message.SIZE));
    this.layOut();
  }

  /**
   * Receives from socket `index`; `wait` blocks until a datagram or the socket's timeout. Returns the number of
   * datagrams.
   */
  receive(index: number, wait: boolean): number {
    this.socketIndex = index;
    const socket = this.sockets[index]!;
    const { received } = this;
    const controlLength = socket.hasPacketInfo ? CONTROL_SIZE : 0;
    // The kernel has changed the lengths of the slots that it filled in the last receive.
    const used = socket.hasPacketInfo === this.lastHadPacketInfo ? this.lastCount : BATCH_SIZE;
    for (let i = 0; i < used; i++) {
      received[(i * Message.SIZE + Message.NAME_LENGTH) >>> 2] = SOCKADDR_SIZE;
      received[(i * Message.SIZE + Message.CONTROL_LENGTH) >>> 2] = controlLength;
    }
    this.lastHadPacketInfo = socket.hasPacketInfo;
    const count = this.calls.recvmmsg(
      socket.fd,
      this.receivedAddress,
      BATCH_SIZE,
      wait ? MessageFlag.WAITFORONE : MessageFlag.DONTWAIT,
      null,
    );
    this.lastCount = count > 0 ? count : 0;
    for (let i = 0; i < count; i++)
      unpackAddress(this.nameWords, i * (NAME_SIZE >>> 2), this.clientWords, i * (ADDRESS_SIZE >>> 2));
    return this.lastCount;
  }

  /** Length of the datagram in `slot`; SLOT_SIZE at most. */
  lengthOf(slot: number): number {
    return this.received[(slot * Message.SIZE + Message.LENGTH) >>> 2]!;
  }

  /** Removes the first `from` bytes of the datagram in `slot`. */
  dropHead(slot: number, from: number): void {
    const length = this.lengthOf(slot);
    const at = slot * SLOT_SIZE;
    this.slots.copyWithin(at, at + from, at + length);
    this.received[(slot * Message.SIZE + Message.LENGTH) >>> 2] = length - from;
  }

  /** Writes the origin of `slot` into the miss record at `at`, so that another thread can reply. */
  copyOrigin(slot: number, to: Uint8Array, at: number): void {
    const nameLength = this.received[(slot * Message.SIZE + Message.NAME_LENGTH) >>> 2]!;
    const controlLength = this.received[(slot * Message.SIZE + Message.CONTROL_LENGTH) >>> 2]!;
    if (controlLength !== 0) this.freeInterface(slot, controlLength);
    to[at + MissRecord.NAME_LENGTH] = nameLength;
    to[at + MissRecord.CONTROL_LENGTH] = controlLength;
    for (let i = 0; i < nameLength; i++) to[at + MissRecord.NAME + i] = this.names[slot * NAME_SIZE + i]!;
    for (let i = 0; i < controlLength; i++)
      to[at + MissRecord.CONTROL + i] = this.controls[slot * CONTROL_SIZE + i]!;
  }

  /** Queues the first `length` bytes of `slot` for the next `send`, to the sender of the slot. */
  reply(slot: number, length: number): void {
    const index = this.sendCount++;
    if (this.sentSlot[index] !== slot) this.pointSent(index, slot);
    const { sent, received } = this;
    const to = (index * Message.SIZE) >>> 2;
    const from = (slot * Message.SIZE) >>> 2;
    this.sentIov[(index * Iov.SIZE + Iov.LENGTH) >>> 2] = length;
    sent[to + (Message.NAME_LENGTH >>> 2)] = received[from + (Message.NAME_LENGTH >>> 2)]!;
    const controlLength = received[from + (Message.CONTROL_LENGTH >>> 2)]!;
    sent[to + (Message.CONTROL_LENGTH >>> 2)] = controlLength;
    if (controlLength !== 0) this.freeInterface(slot, controlLength);
  }

  /** Sends the replies in order without blocking; datagrams that the kernel refuses are counted. */
  send(): void {
    const { fd } = this.sockets[this.socketIndex]!;
    sendMessages(this.calls, fd, this.sentAddresses, this.sendCount, this.countUnsent);
    this.sendCount = 0;
  }

  /** Fills in the pointers of both header arrays; after that, only words are copied between them. */
  private layOut(): void {
    const { calls } = this;
    const receivedIov = new BigUint64Array(this.receivedIov.buffer);
    const received = new BigUint64Array(this.received.buffer);
    const sent = new BigUint64Array(this.sent.buffer);
    const slots = calls.address(this.slots);
    const names = calls.address(this.names);
    const controls = calls.address(this.controls);
    const receivedIovAddress = calls.address(this.receivedIov);
    const sentIovAddress = calls.address(this.sentIov);
    for (let i = 0; i < BATCH_SIZE; i++) {
      receivedIov[(i * Iov.SIZE + Iov.BASE) >>> 3] = slots + BigInt(i * SLOT_SIZE);
      receivedIov[(i * Iov.SIZE + Iov.LENGTH) >>> 3] = BigInt(SLOT_SIZE);
      const at = (i * Message.SIZE) >>> 3;
      received[at + (Message.NAME >>> 3)] = names + BigInt(i * NAME_SIZE);
      received[at + (Message.CONTROL >>> 3)] = controls + BigInt(i * CONTROL_SIZE);
      received[at + (Message.IOV >>> 3)] = receivedIovAddress + BigInt(i * Iov.SIZE);
      sent[at + (Message.IOV >>> 3)] = sentIovAddress + BigInt(i * Iov.SIZE);
      received[at + (Message.IOV_COUNT >>> 3)] = 1n;
      sent[at + (Message.IOV_COUNT >>> 3)] = 1n;
      this.pointSent(i, i);
    }
  }

  /** Makes message `index` of the next send refer to `slot`. */
  private pointSent(index: number, slot: number): void {
    const { sent, received, sentIov, receivedIov } = this;
    const to = (index * Message.SIZE) >>> 2;
    const from = (slot * Message.SIZE) >>> 2;
    for (const pointer of SLOT_POINTERS) {
      sent[to + pointer] = received[from + pointer]!;
      sent[to + pointer + 1] = received[from + pointer + 1]!;
    }
    const toIov = (index * Iov.SIZE) >>> 2;
    const fromIov = (slot * Iov.SIZE) >>> 2;
    sentIov[toIov] = receivedIov[fromIov]!;
    sentIov[toIov + 1] = receivedIov[fromIov + 1]!;
    this.sentSlot[index] = slot;
  }

  /**
   * Clears the interface, so that the routing table chooses it: only the reply's source address matters, and the return
   * path may differ. Link-local IPv6 addresses keep the interface, because they have no meaning without an interface.
   */
  private freeInterface(slot: number, controlLength: number): void {
    const at = slot * CONTROL_SIZE;
    const { controls } = this;
    if (controlLength === CONTROL_SIZE) {
      if (controls[at + Control.IPV6_ADDRESS] !== 0xfe)
        controls.fill(0, at + Control.IPV6_INTERFACE, at + Control.IPV6_INTERFACE + 4);
    } else {
      controls.fill(0, at + Control.IPV4_INTERFACE, at + Control.IPV4_INTERFACE + 4);
    }
  }
}
