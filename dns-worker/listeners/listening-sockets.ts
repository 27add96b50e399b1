/**
 * The listening sockets of a worker's streams, as descriptors that stay open when the accepting thread ends: its
 * successor accepts the connections in their queues.
 */
import { errorCode } from '../../shared/errors.ts';
import { WorkerControl } from '../../shared/threads/messages.ts';
import { ListenError } from './listen-error.ts';
import type { NativeCalls } from './native-calls.ts';
import { closeNoted, errnoName, isAt, noteSocket, notedSockets, openSocket } from './open-socket.ts';
import type { Place } from './open-socket.ts';

const SOCK_STREAM = 1;
const SOL_SOCKET = 1;
const SO_REUSEADDR = 2;
const IPPROTO_IPV6 = 41;
const IPV6_V6ONLY = 26;
const F_DUPFD_CLOEXEC = 1030;
/** Same backlog as in Node.js; the kernel limits it to net.core.somaxconn. */
const BACKLOG = 511;

const NOTED = {
  countWord: WorkerControl.LISTENER_FD_COUNT_WORD,
  firstWord: WorkerControl.LISTENER_FD_FIRST_WORD,
} as const;

/** The listening sockets of one worker. */
export class ListeningSockets {
  private readonly calls: NativeCalls;
  private readonly control: Int32Array;

  constructor(calls: NativeCalls, control: Int32Array) {
    this.calls = calls;
    this.control = control;
  }

  /**
   * Duplicates of the socket descriptors at this place, owned by the caller; opens sockets that are not recorded yet.
   * Empty if the kernel has no IPv6. Throws a ListenError.
   */
  at(place: Place): number[] {
    const noted = notedSockets(this.calls, this.control, NOTED).filter(({ bound }) => isAt(bound, place));
    const found = noted.length > 0 ? noted.map(({ fd }) => fd) : this.open(place);
    return found.map((fd) => this.calls.fcntl(fd, F_DUPFD_CLOEXEC, 0));
  }

  /** Closes the sockets permanently; call this after all duplicates are closed. */
  close(): void {
    closeNoted(this.calls, this.control, NOTED);
  }

  private open(place: Place): number[] {
    let fd: number;
    try {
      fd = openSocket(this.calls, place, SOCK_STREAM, (set, isIpv6) => {
        set(SOL_SOCKET, SO_REUSEADDR, [1]);
        if (isIpv6) set(IPPROTO_IPV6, IPV6_V6ONLY, [1]);
      });
    } catch (error) {
      if (place.address === '::' && errorCode(error) === 'EAFNOSUPPORT') return [];
      throw error;
    }
    if (this.calls.listen(fd, BACKLOG) < 0) {
      const code = errnoName(this.calls.errno());
      this.calls.close(fd);
      throw new ListenError(place.address, place.port, code);
    }
    noteSocket(this.control, NOTED, fd);
    return [fd];
  }
}
