/** An address at which other machines can reach this one. */
import { networkInterfaces } from 'node:os';
import { isIPv4 } from 'node:net';

const EVERY = new Set(['0.0.0.0', '::']);

/**
 * The first address on which DNS listens that is not local to this machine; if it listens on all addresses, the first
 * address of the machine, IPv4 before IPv6. Null if there is none.
 */
export function reachableAddress(
  bindAddresses: readonly string[],
  interfaces: ReturnType<typeof networkInterfaces> = networkInterfaces(),
): string | null {
  const outside = Object.values(interfaces)
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal, scopeid }) => !internal && (scopeid ?? 0) === 0)
    .map(({ address }) => address);
  const bound = bindAddresses.filter((address) => !EVERY.has(address));
  const own = bound.find((address) => outside.includes(address));
  if (own !== undefined || bound.length === bindAddresses.length) return own ?? null;
  const families = bindAddresses.includes('0.0.0.0') ? [true, false] : [false];
  return families.map((four) => outside.find((address) => isIPv4(address) === four)).find(Boolean) ?? null;
}
