/** Reads the default routes of this machine from files of the kernel; Linux only. */
import { linesOf } from './machine-memory.ts';

/** A default route. */
export interface DefaultRoute {
  /** Name of the interface; empty if there is no route. */
  readonly name: string;
  readonly gateway: string | null;
}

const ZERO4 = '00000000';
const ZERO6 = '0'.repeat(32);

/** The first default route of IPv4. */
export function defaultRoute4(): DefaultRoute {
  const fields = linesOf('/proc/net/route').find(
    ([, destination, , flags]) => destination === ZERO4 && flags !== undefined,
  );
  const [name = '', , gateway = ''] = fields ?? [];
  const bytes = gateway.match(/../g)?.reverse() ?? [];
  return { name, gateway: bytes.length === 4 ? bytes.map((byte) => parseInt(byte, 16)).join('.') : null };
}

/** The first default route of IPv6. */
export function defaultRoute6(): DefaultRoute | undefined {
  const found = linesOf('/proc/net/ipv6_route').find(
    ([destination, length, , , gateway, , , , , name]) =>
      destination === ZERO6 && length === '00' && gateway !== ZERO6 && name !== 'lo',
  );
  if (found === undefined) return undefined;
  return { name: found[9]!, gateway: found[4]!.match(/..../g)!.join(':') };
}
