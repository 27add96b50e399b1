/** Adds up how much of the address space the address rules of one list cover, overlaps counted once. */
import { addressFromText, addressWord } from './ip.ts';

const IPV4_BITS = 32;
/** 2000::/3, the global unicast addresses of IPv6 (RFC 4291 section 2.4), as a part of all addresses. */
const GLOBAL_START = 0.125;
const GLOBAL_SIZE = 0.125;

/** Networks of one family, as parts of the numbers from 0 to 1: their starts and sizes. */
type Parts = [start: number, size: number][];

/** The networks of one list. */
export class AddressCoverage {
  /** Single addresses; repeated ones are too few to matter. */
  private single = 0;
  private readonly ipv4: Parts = [];
  private readonly ipv6: Parts = [];

  /** Counts a single address; one of IPv6 is too small a share to count. */
  addAddress(isIpv4: boolean): void {
    if (isIpv4) this.single++;
  }

  /** Counts a network of more than one address, `address/length` as text; `addressBits` is 32 or 128. */
  addNetwork(text: string, prefixBits: number, addressBits: number): void {
    const bytes = addressFromText(text.slice(0, text.indexOf('/')))!;
    if (addressBits === IPV4_BITS)
      this.ipv4.push([(addressWord(bytes, 12) >>> 0) / 2 ** IPV4_BITS, 2 ** -prefixBits]);
    else this.ipv6.push([startOf(bytes), 2 ** -prefixBits]);
  }

  /** The larger one of the shares of IPv4 and of 2000::/3, 0 to 1. */
  share(): number {
    const ipv4 = covered(this.ipv4, 0, 1) + this.single / 2 ** IPV4_BITS;
    return Math.max(ipv4, covered(this.ipv6, GLOBAL_START, GLOBAL_SIZE) / GLOBAL_SIZE);
  }
}

/** The first 52 bits, all that such a number holds. */
function startOf(bytes: Uint8Array): number {
  let start = 0;
  for (let at = 6; at >= 0; at--) start = (start + bytes[at]!) / 256;
  return start;
}

/** Size of what the parts cover of [start, start + size). */
function covered(parts: Parts, start: number, size: number): number {
  let sum = 0;
  let end = start;
  for (const [from, length] of parts.sort(([a], [b]) => a - b)) {
    const to = Math.min(from + length, start + size);
    const begin = Math.max(from, end);
    if (to <= begin) continue;
    sum += to - begin;
    end = to;
  }
  return sum;
}
