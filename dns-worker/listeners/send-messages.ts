/**
 * Sends a batch of datagrams without blocking: packets to addresses that do not resolve stay in the socket's send
 * buffer for seconds, and a thread that waits for space would stop answering all clients.
 */
import { Counter } from '../../shared/memory/counters.ts';
import { MessageFlag } from '../../shared/net/kernel/kernel-messages.ts';
import { Errno, type NativeCalls } from './native-calls.ts';

/** Called for each datagram that was not sent: `Counter.SEND_BUFFER_FULL` or `Counter.SEND_ERRORS`. */
export type CountUnsent = (counter: number) => void;

/**
 * Sends the first `count` messages in order; `addresses` contains the address of each struct mmsghdr. A message that
 * the kernel refuses is counted and skipped.
 */
export function sendMessages(
  calls: NativeCalls,
  fd: number,
  addresses: readonly bigint[],
  count: number,
  countUnsent: CountUnsent,
): void {
  for (let done = 0; done < count;) {
    const sent = calls.sendmmsg(fd, addresses[done]!, count - done, MessageFlag.DONTWAIT);
    if (sent > 0) {
      done += sent;
      continue;
    }
    const errno = calls.errno();
    if (errno === Errno.EINTR) continue;
    // The first unsent message is the one that failed.
    countUnsent(errno === Errno.EAGAIN ? Counter.SEND_BUFFER_FULL : Counter.SEND_ERRORS);
    done++;
  }
}
