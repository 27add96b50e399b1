/** Chooses the address at which programs on this machine reach the node, from the addresses on which it listens. */
import { isIPv6 } from 'node:net';

/** An address of this machine on which the node listens, preferably IPv4. */
export function localAddress(listening: readonly string[]): string {
  const first = listening.find((address) => !isIPv6(address)) ?? listening[0] ?? '127.0.0.1';
  if (first === '0.0.0.0') return '127.0.0.1';
  return first === '::' ? '::1' : first;
}
