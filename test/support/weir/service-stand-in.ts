/**
 * Stands in for a service manager: receives the notifications of a service, and stores the descriptors that it sends.
 */
import { closeSync, rmSync } from 'node:fs';
import { loadDescriptorCalls } from '../../../control-plane/node/upgrade/descriptor-calls.ts';
import { receiveDescriptors } from '../../../control-plane/node/upgrade/descriptor-messages.ts';
import { unixAddress } from '../../../control-plane/node/upgrade/unix-connection.ts';
import { systemCalls } from '../parts/system-calls.ts';
import { until } from '../parts/until.ts';

const AF_UNIX = 1;
/** Flags of socket(2): SOCK_DGRAM, SOCK_NONBLOCK, SOCK_CLOEXEC. */
const SOCKET_TYPE = 2 | 0x800 | 0x8_0000;
const MAX_MESSAGE = 4096;
const POLL_MS = 10;
const EMPTY = /errno 11$/;

/** A socket for the services of one test. */
export class ServiceStandIn {
  readonly path: string;
  /** Messages, in order. */
  readonly messages: string[] = [];
  /** The stored descriptors. */
  readonly stored: number[] = [];
  private readonly socket: number;
  private readonly looking: NodeJS.Timeout;

  constructor(path: string) {
    this.path = path;
    this.socket = systemCalls.socket(AF_UNIX, SOCKET_TYPE, 0);
    const { bytes, length } = unixAddress(path);
    if (systemCalls.bind(this.socket, systemCalls.address(bytes), length) < 0)
      throw new Error(`listen on ${path}: errno ${String(systemCalls.errno())}`);
    this.looking = setInterval(() => this.check(), POLL_MS);
  }

  /** Resolves once a matching message has been received, possibly before this call. */
  async until(pattern: RegExp): Promise<void> {
    await until(
      `a service to say ${String(pattern)}`,
      () => this.messages,
      (messages) => messages.some((one) => pattern.test(one)),
    );
  }

  close(): void {
    clearInterval(this.looking);
    this.clear();
    closeSync(this.socket);
    rmSync(this.path, { force: true });
  }

  private check(): void {
    const native = loadDescriptorCalls();
    if (!('calls' in native)) throw new Error(native.reason);
    for (;;) {
      try {
        const { bytes, descriptors } = receiveDescriptors(native.calls, this.socket, MAX_MESSAGE);
        const text = Buffer.from(bytes).toString();
        if (/^FDSTOREREMOVE=1$/m.test(text)) this.clear();
        this.stored.push(...descriptors);
        this.messages.push(text);
      } catch (error) {
        if (EMPTY.test(String(error))) return;
        throw error;
      }
    }
  }

  private clear(): void {
    for (const fd of this.stored.splice(0)) closeSync(fd);
  }
}
