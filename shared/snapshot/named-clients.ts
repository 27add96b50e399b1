/**
 * Addresses of the clients that rules identify by MAC or by name. The addresses are determined each time a snapshot is
 * built, because a device can get another address. An unknown name matches no client.
 */
import { ADDRESS_SIZE } from '../net/ip.ts';

/** A client in the form in which rules name it, and its addresses, 16 bytes each, one after another. */
export interface NamedClient {
  /** A MAC in the form of `canonicalMac`, or a name in lower case. */
  readonly name: string;
  readonly addresses: Uint8Array;
}

/** Clients by their names in rules. */
export class NamedClients {
  /** Whether rules identify any client that has an address. */
  readonly hasAddresses: boolean;
  private readonly addresses: ReadonlyMap<string, Uint8Array>;

  constructor(clients: readonly NamedClient[]) {
    this.hasAddresses = clients.some(({ addresses }) => addresses.length > 0);
    this.addresses = new Map(clients.map(({ name, addresses }) => [name, addresses]));
  }

  /** Whether one of these names belongs to the client with the address at `at` of `bytes`. */
  hasSome(names: readonly string[], bytes: Uint8Array, at: number): boolean {
    for (const name of names) {
      const known = this.addresses.get(name);
      if (known !== undefined && includes(known, bytes, at)) return true;
    }
    return false;
  }

  /** Whether any name in rules belongs to the client with the address at `at` of `bytes`. */
  knows(bytes: Uint8Array, at: number): boolean {
    for (const known of this.addresses.values()) if (includes(known, bytes, at)) return true;
    return false;
  }
}

function includes(addresses: Uint8Array, bytes: Uint8Array, at: number): boolean {
  for (let from = 0; from < addresses.length; from += ADDRESS_SIZE)
    if (isSameAddress(addresses, from, bytes, at)) return true;
  return false;
}

function isSameAddress(a: Uint8Array, aAt: number, b: Uint8Array, bAt: number): boolean {
  for (let i = 0; i < ADDRESS_SIZE; i++) if (a[aAt + i] !== b[bAt + i]) return false;
  return true;
}
