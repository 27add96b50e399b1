/** Messages of bytes and descriptors over a Unix socket (SCM_RIGHTS). Callers define the meaning of the bytes. */
import { ControlHead, Iov, Message, MessageFlag } from '../../../shared/net/kernel/kernel-messages.ts';
import type { DescriptorCalls } from './descriptor-calls.ts';

/** Maximum number of descriptors that the kernel passes with one message. */
export const MAX_DESCRIPTORS = 253;

const SOL_SOCKET = 1;
const SCM_RIGHTS = 1;
const SO_PEERCRED = 17;
/** Number of words of struct ucred: process, user and group. */
const CREDENTIAL_WORDS = 3;
const DESCRIPTOR_SIZE = 4;
const CONTROL_SIZE = ControlHead.SIZE + alignedSize(MAX_DESCRIPTORS * DESCRIPTOR_SIZE);

/** One message. */
export interface DescriptorMessage {
  /** Empty if the other side has closed the connection. */
  readonly bytes: Uint8Array;
  /** Descriptors that came with the message; the caller must close them. */
  readonly descriptors: readonly number[];
}

/** Sends at least one byte, with at most MAX_DESCRIPTORS descriptors. Throws if one call does not send all bytes. */
export function sendDescriptors(
  calls: DescriptorCalls,
  socket: number,
  { bytes, descriptors }: DescriptorMessage,
): void {
  const control = new Uint8Array(
    new ArrayBuffer(ControlHead.SIZE + alignedSize(descriptors.length * DESCRIPTOR_SIZE)),
  );
  const view = new DataView(control.buffer);
  const length = ControlHead.SIZE + descriptors.length * DESCRIPTOR_SIZE;
  view.setBigUint64(ControlHead.LENGTH, BigInt(length), true);
  view.setInt32(ControlHead.LEVEL, SOL_SOCKET, true);
  view.setInt32(ControlHead.TYPE, SCM_RIGHTS, true);
  descriptors.forEach((fd, i) => view.setInt32(ControlHead.SIZE + i * DESCRIPTOR_SIZE, fd, true));
  const laid = layOut(calls, bytes, descriptors.length === 0 ? new Uint8Array(0) : control);
  const sent = calls.sendmsg(socket, calls.address(laid.head), MessageFlag.NOSIGNAL);
  // This use of `laid` keeps the memory that the kernel reads from being garbage-collected earlier.
  if (sent !== laid.bytes.length) throw new Error(`could not pass descriptors: ${failure(calls, sent)}`);
}

/** Waits for bytes and descriptors. If the kernel had to omit some descriptors, closes the others and throws. */
export function receiveDescriptors(
  calls: DescriptorCalls,
  socket: number,
  maxBytes: number,
): DescriptorMessage {
  const bytes = new Uint8Array(new ArrayBuffer(maxBytes));
  const control = new Uint8Array(new ArrayBuffer(CONTROL_SIZE));
  const laid = layOut(calls, bytes, control);
  const count = calls.recvmsg(socket, calls.address(laid.head), MessageFlag.CMSG_CLOEXEC);
  if (count < 0) throw new Error(`could not receive descriptors: ${failure(calls, count)}`);
  const view = new DataView(laid.head.buffer);
  const filled = Number(view.getBigUint64(Message.CONTROL_LENGTH, true));
  const descriptors = descriptorsIn(laid.control.subarray(0, filled));
  if ((view.getInt32(Message.FLAGS, true) & MessageFlag.CTRUNC) !== 0) {
    for (const fd of descriptors) calls.close(fd);
    throw new Error('could not receive all descriptors (is the limit of open files too low?)');
  }
  return { bytes: laid.bytes.subarray(0, count), descriptors };
}

/** User id of the process at the other end. */
export function peerUser(calls: DescriptorCalls, socket: number): number {
  const credentials = new Uint32Array(CREDENTIAL_WORDS);
  const length = Uint32Array.of(credentials.byteLength);
  if (
    calls.getsockopt(socket, SOL_SOCKET, SO_PEERCRED, calls.address(credentials), calls.address(length)) < 0
  )
    throw new Error(`could not determine the user of a connection: errno ${String(calls.errno())}`);
  return credentials[1]!;
}

/**
 * Builds struct msghdr for both buffers. The result includes the memory to which the struct points, so that this memory
 * is not garbage-collected.
 */
function layOut(calls: DescriptorCalls, bytes: Uint8Array, control: Uint8Array) {
  const head = new Uint8Array(new ArrayBuffer(Message.HEAD_SIZE));
  const iov = new Uint8Array(new ArrayBuffer(Iov.SIZE));
  const iovView = new DataView(iov.buffer);
  iovView.setBigUint64(Iov.BASE, calls.address(bytes), true);
  iovView.setBigUint64(Iov.LENGTH, BigInt(bytes.length), true);
  const view = new DataView(head.buffer);
  view.setBigUint64(Message.IOV, calls.address(iov), true);
  view.setBigUint64(Message.IOV_COUNT, 1n, true);
  if (control.length > 0) view.setBigUint64(Message.CONTROL, calls.address(control), true);
  view.setBigUint64(Message.CONTROL_LENGTH, BigInt(control.length), true);
  return { head, iov, bytes, control };
}

function descriptorsIn(control: Uint8Array): number[] {
  const view = new DataView(control.buffer, control.byteOffset, control.length);
  const found: number[] = [];
  for (let at = 0; at + ControlHead.SIZE <= control.length;) {
    const length = Number(view.getBigUint64(at + ControlHead.LENGTH, true));
    if (length < ControlHead.SIZE || at + length > control.length) break;
    const isRights =
      view.getInt32(at + ControlHead.LEVEL, true) === SOL_SOCKET &&
      view.getInt32(at + ControlHead.TYPE, true) === SCM_RIGHTS;
    if (isRights)
      for (let i = at + ControlHead.SIZE; i < at + length; i += DESCRIPTOR_SIZE)
        found.push(view.getInt32(i, true));
    at += alignedSize(length);
  }
  return found;
}

function alignedSize(size: number): number {
  return Math.ceil(size / ControlHead.ALIGNMENT) * ControlHead.ALIGNMENT;
}

function failure(calls: DescriptorCalls, result: number): string {
  return result < 0
    ? `errno ${String(calls.errno())}`
    : 'the other process does not read from the connection';
}
