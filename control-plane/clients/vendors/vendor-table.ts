/**
 * Vendors of network interfaces by MAC, from the registry of the IEEE. `vendors.bin` is included in Weir and read at
 * the first lookup; it stays in memory in this form (0.9 MiB), and names are decoded when they are needed. All numbers
 * in the file are little-endian:
 *
 * - one line of JSON (`VendorHeader`), padded to a multiple of four bytes
 * - the prefixes of 24, 28 and 36 bits, each ascending, as 32-bit words; for 36 bits, only the first 32
 * - the offset of each group of 16 names, as 32-bit words
 * - for each prefix the index of its name, in 16 bits
 * - the last four bits of each 36-bit prefix, in a byte
 * - the names, ascending: a byte with the length of the beginning that a name shares with the previous one in its
 *   group, then the rest of the name and a line feed
 */
import { endianness } from 'node:os';
import { readFileSync } from 'node:fs';
import { hasErrorCode, reasonOf } from '../../../shared/errors.ts';
import { isRandomMac, isGroupMac } from '../../../shared/net/mac.ts';

/** Number of names per group in the file. */
export const NAMES_IN_GROUP = 16;
export const VENDORS_FORMAT = 1;

/** First line of the table. */
export interface VendorHeader {
  readonly format: number;
  /** Package and version from which the table was built. */
  readonly source: string;
  readonly integrity: string;
  /** Numbers of prefixes of 24, 28 and 36 bits. */
  readonly prefixes: readonly [number, number, number];
  readonly names: number;
}

const SHIPPED = new URL('./vendors.bin', import.meta.url);

/** Names by prefix. */
export class VendorTable {
  readonly header: VendorHeader;
  /** Prefixes by length, shortest first. */
  private readonly prefixes: readonly Uint32Array[];
  private readonly lastBits: Uint8Array;
  private readonly nameNumbers: readonly Uint16Array[];
  private readonly groups: Uint32Array;
  private readonly names: Buffer;
  /** Decoded names. There are few, because only names for devices in the network are needed. */
  private readonly decoded = new Map<number, string>();

  /** @throws if the bytes are not a vendor table */
  constructor(bytes: Uint8Array<ArrayBuffer>) {
    const headerBytes = bytes.indexOf(0x0a) + 1;
    this.header = JSON.parse(Buffer.from(bytes.subarray(0, headerBytes)).toString()) as VendorHeader;
    if (this.header.format !== VENDORS_FORMAT || endianness() !== 'LE')
      throw new Error(`the vendor table has the unknown format ${String(this.header.format)}`);
    let at = bytes.byteOffset + headerBytes;
    const words = (count: number): Uint32Array => {
      const found = new Uint32Array(bytes.buffer, at, count);
      at += found.byteLength;
      return found;
    };
    const halves = (count: number): Uint16Array => {
      const found = new Uint16Array(bytes.buffer, at, count);
      at += found.byteLength;
      return found;
    };
    this.prefixes = this.header.prefixes.map(words);
    this.groups = words(Math.ceil(this.header.names / NAMES_IN_GROUP));
    this.nameNumbers = this.header.prefixes.map(halves);
    this.lastBits = new Uint8Array(bytes.buffer, at, this.header.prefixes[2]);
    at += this.lastBits.byteLength;
    this.names = Buffer.from(bytes.buffer, at, bytes.byteOffset + bytes.byteLength - at);
  }

  /**
   * The vendor of a MAC in the form of `canonicalMac`, by its longest prefix; null if it is not registered, random, or
   * a group address.
   */
  vendorOf(mac: string): string | null {
    if (isRandomMac(mac) || isGroupMac(mac)) return null;
    const digits = mac.replaceAll(':', '');
    for (const [length, digitCount] of [
      [2, 8],
      [1, 7],
      [0, 6],
    ] as const) {
      const place = this.placeOf(length, parseInt(digits.slice(0, digitCount), 16), parseInt(digits[8]!, 16));
      if (place >= 0) return this.nameOf(this.nameNumbers[length]![place]!);
    }
    return null;
  }

  /** Index of a prefix among the prefixes of its length; -1 = not found. */
  private placeOf(length: 0 | 1 | 2, wanted: number, wantedLast: number): number {
    const prefixes = this.prefixes[length]!;
    let low = 0;
    let high = prefixes.length - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      const difference =
        prefixes[middle]! - wanted || (length === 2 ? this.lastBits[middle]! - wantedLast : 0);
      if (difference === 0) return middle;
      if (difference < 0) low = middle + 1;
      else high = middle - 1;
    }
    return -1;
  }

  private nameOf(number: number): string {
    const known = this.decoded.get(number);
    if (known !== undefined) return known;
    let at = this.groups[Math.floor(number / NAMES_IN_GROUP)]!;
    let name = Buffer.alloc(0);
    for (let i = number % NAMES_IN_GROUP; i >= 0; i--) {
      const end = this.names.indexOf(0x0a, at + 1);
      name = Buffer.concat([name.subarray(0, this.names[at]), this.names.subarray(at + 1, end)]);
      at = end + 1;
    }
    const text = name.toString();
    this.decoded.set(number, text);
    return text;
  }
}

/** Receives the reason why the table cannot be read. */
type Report = (reason: string) => void;

/**
 * The table in a file; null if it cannot be read, for example because it belongs to a newer release. Reports the
 * reason, unless the file does not exist.
 */
export function readVendors(file: URL, report: Report): VendorTable | null {
  try {
    // The copy is aligned for 32-bit words.
    return new VendorTable(new Uint8Array(readFileSync(file)));
  } catch (error) {
    if (!hasErrorCode(error, 'ENOENT')) report(reasonOf(error));
    return null;
  }
}

let shipped: VendorTable | null | undefined;
let reportShipped: Report = () => undefined;

/**
 * Sets the callback that receives the reason if the table that is included in Weir cannot be read when it is first
 * needed.
 */
export function reportVendors(report: Report): void {
  reportShipped = report;
}

/** The table that is included in Weir; null if it cannot be read. */
export function shippedVendors(): VendorTable | null {
  if (shipped === undefined) shipped = readVendors(SHIPPED, (reason) => reportShipped(reason));
  return shipped;
}

/** The vendor of a MAC, as in the registry; null = unknown. */
export function vendorOf(mac: string | null): string | null {
  return mac === null ? null : (shippedVendors()?.vendorOf(mac) ?? null);
}
