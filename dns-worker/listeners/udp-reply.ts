/**
 * Sends single UDP replies from the resolve thread through the answer thread's sockets (descriptors belong
 * to the process), from the local address the request was sent to.
 */
import { WorkerControl } from '../../shared/messages.ts';
import { MissRecord } from '../../shared/miss-ring.ts';
import type { NativeCalls } from './native-calls.ts';

const MAX_REPLY_SIZE = 2048;
const NAME_SIZE = 32;
const CONTROL_SIZE = 40;
const MSG_DONTWAIT = 0x40;
/** Offsets in struct msghdr, in 64-bit words; and the sizes of msghdr and iovec. */
const MsgHdr = {
  NAME: 0,
  NAME_LENGTH: 1,
  IOV: 2,
  IOV_COUNT: 3,
  CONTROL: 4,
  CONTROL_LENGTH: 5,
  WORDS: 7,
} as const;

/** Where a reply goes: what the miss record says of it, copied. */
export interface UdpOrigin {
  readonly socket: number;
  readonly name: Uint8Array;
  /** Control message with the local address; may be empty. */
  readonly control: Uint8Array;
}

/** Reads the origin out of a miss record at `at`. */
export function readOrigin(bytes: Uint8Array, at: number, socket: number): UdpOrigin {
  const nameLength = bytes[at + MissRecord.NAME_LENGTH]!;
  const controlLength = bytes[at + MissRecord.CONTROL_LENGTH]!;
  return {
    socket,
    name: bytes.slice(at + MissRecord.NAME, at + MissRecord.NAME + nameLength),
    control: bytes.slice(at + MissRecord.CONTROL, at + MissRecord.CONTROL + controlLength),
  };
}

/** Sends replies one by one. */
export class UdpReply {
  private readonly calls: NativeCalls;
  private readonly control: Int32Array;
  private readonly message = new BigUint64Array(MsgHdr.WORDS);
  private readonly iov = new BigUint64Array(2);
  private readonly name = new Uint8Array(new ArrayBuffer(NAME_SIZE));
  private readonly packetInfo = new Uint8Array(new ArrayBuffer(CONTROL_SIZE));
  private readonly bytes = new Uint8Array(new ArrayBuffer(MAX_REPLY_SIZE));
  private readonly messageAddress: bigint;
  private readonly controlAddress: bigint;

  constructor(calls: NativeCalls, control: Int32Array) {
    this.calls = calls;
    this.control = control;
    this.iov[0] = calls.address(this.bytes);
    this.message[MsgHdr.NAME] = calls.address(this.name);
    this.message[MsgHdr.IOV] = calls.address(this.iov);
    this.message[MsgHdr.IOV_COUNT] = 1n;
    this.controlAddress = calls.address(this.packetInfo);
    this.messageAddress = calls.address(this.message);
  }

  /** Sends `reply`; false where the kernel refused it. */
  send(reply: Uint8Array, origin: UdpOrigin): boolean {
    this.bytes.set(reply);
    this.name.set(origin.name);
    this.packetInfo.set(origin.control);
    this.iov[1] = BigInt(reply.length);
    this.message[MsgHdr.NAME_LENGTH] = BigInt(origin.name.length);
    this.message[MsgHdr.CONTROL] = origin.control.length === 0 ? 0n : this.controlAddress;
    this.message[MsgHdr.CONTROL_LENGTH] = BigInt(origin.control.length);
    const fd = Atomics.load(this.control, WorkerControl.UDP_FD_FIRST_WORD + origin.socket);
    return this.calls.sendmsg(fd, this.messageAddress, MSG_DONTWAIT) >= 0;
  }

  /** Closes the worker's UDP sockets and eventfd for good. */
  closeSockets(): void {
    const count = Atomics.exchange(this.control, WorkerControl.UDP_FD_COUNT_WORD, 0);
    for (let i = 0; i < count; i++) this.calls.close(this.control[WorkerControl.UDP_FD_FIRST_WORD + i]!);
    const wakeFd = Atomics.exchange(this.control, WorkerControl.WAKE_FD_WORD, 0);
    if (wakeFd !== 0) this.calls.close(wakeFd);
  }
}
