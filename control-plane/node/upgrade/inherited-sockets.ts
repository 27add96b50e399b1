/**
 * Sockets inherited from another process: each socket is passed to the part that would have opened a socket at the same
 * address, or closed if there is no such part.
 */
import { boundSocket } from '../../../shared/net/kernel/bound-socket.ts';
import type { BoundSocket } from '../../../shared/net/kernel/bound-socket.ts';
import { WorkerControl } from '../../../shared/threads/messages.ts';
import type { WorkerMemory, WorkerSettings } from '../../../shared/threads/messages.ts';
import { readMemoryFile } from './memory-file.ts';
import type { DescriptorCalls } from './descriptor-calls.ts';

/** Address and port of a socket. */
export type SocketPlace = BoundSocket;

/** The inherited sockets that are not assigned to a part yet. */
export class InheritedSockets {
  private readonly calls: Pick<DescriptorCalls, 'getsockname' | 'getsockopt' | 'address' | 'close'>;
  private image: Buffer | null = null;
  private readonly waiting: { readonly fd: number; readonly bound: SocketPlace }[] = [];

  constructor(calls: InheritedSockets['calls'], descriptors: readonly number[]) {
    this.calls = calls;
    for (const fd of descriptors) {
      const bound = boundSocket(calls, fd);
      if (bound !== null) this.waiting.push({ fd, bound });
      else {
        this.image ??= readMemoryFile(fd);
        calls.close(fd);
      }
    }
  }

  /** The image of the answer cache; null = none. */
  takeImage(): Buffer | null {
    const { image } = this;
    this.image = null;
    return image;
  }

  /** The port of the first UDP socket, on which the previous process answered queries. */
  dnsPort(): number | undefined {
    return this.waiting.find(({ bound }) => bound.transport === 'udp')?.bound.port;
  }

  /** Removes and returns all sockets with this address and port. */
  takeAt(place: SocketPlace): number[] {
    const found = this.waiting.filter(({ bound }) => isSame(bound, place));
    for (const one of found) this.waiting.splice(this.waiting.indexOf(one), 1);
    return found.map(({ fd }) => fd);
  }

  /**
   * Gives the workers, before they start, the sockets that they would open themselves. If an address has more sockets
   * than there are workers, some workers get several, because the kernel distributes queries to all sockets.
   */
  giveTo(memories: readonly WorkerMemory[], settings: WorkerSettings): void {
    for (const place of placesOf(settings))
      this.takeAt(place).forEach((fd, index) => {
        const control = new Int32Array(memories[index % memories.length]!.control);
        if (!note(control, place.transport, fd)) this.calls.close(fd);
      });
  }

  /** Closes the remaining sockets, which the configuration no longer uses. */
  closeRest(): void {
    for (const { fd } of this.waiting.splice(0)) this.calls.close(fd);
  }
}

/** The descriptors of all sockets of the workers. */
export function workerDescriptors(memories: readonly WorkerMemory[]): number[] {
  return memories.flatMap((memory) => {
    const control = new Int32Array(memory.control);
    return Object.values(NOTED).flatMap(({ count, first }) => [
      ...control.subarray(first, first + control[count]!),
    ]);
  });
}

/** Words of `WorkerControl` that contain the sockets. */
const NOTED = {
  udp: {
    count: WorkerControl.UDP_FD_COUNT_WORD,
    first: WorkerControl.UDP_FD_FIRST_WORD,
    max: WorkerControl.MAX_UDP_FDS,
  },
  tcp: {
    count: WorkerControl.LISTENER_FD_COUNT_WORD,
    first: WorkerControl.LISTENER_FD_FIRST_WORD,
    max: WorkerControl.MAX_LISTENER_FDS,
  },
} as const;

function note(control: Int32Array, transport: BoundSocket['transport'], fd: number): boolean {
  const { count, first, max } = NOTED[transport];
  const index = control[count]!;
  if (index === max) return false;
  control[first + index] = fd;
  control[count] = index + 1;
  return true;
}

/**
 * Addresses and ports of the sockets of threads with these settings. The wildcard addresses of IPv4 and IPv6 share one
 * UDP socket.
 */
function placesOf({ bindAddresses, dnsPort, dotPort, dohPort }: WorkerSettings): SocketPlace[] {
  const isMerged = bindAddresses.includes('::') && bindAddresses.includes('0.0.0.0');
  const streamPorts = [dnsPort, dotPort, dohPort].filter((port) => port !== null);
  return bindAddresses.flatMap((address) => [
    { transport: 'udp' as const, address, port: dnsPort, isDualStack: isMerged && address === '::' },
    ...streamPorts.map((port) => ({ transport: 'tcp' as const, address, port, isDualStack: false })),
  ]);
}

function isSame(one: SocketPlace, other: SocketPlace): boolean {
  return (
    one.transport === other.transport &&
    one.address === other.address &&
    one.port === other.port &&
    one.isDualStack === other.isDualStack
  );
}
