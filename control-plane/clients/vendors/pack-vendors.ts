/** Builds `vendors.bin` from the IEEE's registry. Pure. */
import { isGroupMac, isRandomMac } from '../../../shared/net/mac.ts';
import { NAMES_IN_GROUP, VENDORS_FORMAT } from './vendor-table.ts';
import type { VendorHeader } from './vendor-table.ts';

/** Number of hexadecimal digits of the registry's prefixes MA-L, MA-M and MA-S. */
const LENGTHS = [6, 7, 9];
/**
 * Names that contain no information: they mean vendors that are not named on request, and blocks that are assigned in
 * parts.
 */
const NAMELESS = new Set(['', 'private', 'ieee registration authority']);

/**
 * The file for a registry, which maps prefixes in hexadecimal digits to the registered texts; the first line of a text
 * is the name. Prefixes of random addresses and of group addresses are omitted.
 */
export function packVendors(
  registry: Readonly<Record<string, string>>,
  origin: Pick<VendorHeader, 'source' | 'integrity'>,
): Uint8Array<ArrayBuffer> {
  const entries = Object.entries(registry)
    .map(([digits, text]) => ({ digits: digits.toLowerCase(), name: nameIn(text) }))
    .filter(({ digits, name }) => !NAMELESS.has(name.toLowerCase()) && isOfOneVendor(digits))
    .sort((a, b) => (a.digits < b.digits ? -1 : 1));
  const names = [...new Set(entries.map(({ name }) => name))].sort();
  const numbers = new Map(names.map((name, number) => [name, number]));
  const byLength = LENGTHS.map((length) => entries.filter(({ digits }) => digits.length === length));
  const packed = packNames(names);
  const [large, medium, small] = byLength.map(({ length }) => length);
  const header: VendorHeader = {
    format: VENDORS_FORMAT,
    ...origin,
    prefixes: [large!, medium!, small!],
    names: names.length,
  };
  const line = JSON.stringify(header);
  const prefixes = byLength.flatMap((some) => some.map(({ digits }) => parseInt(digits.slice(0, 8), 16)));
  const nameNumbers = byLength.flatMap((some) => some.map(({ name }) => numbers.get(name)!));
  const lastBits = byLength[2]!.map(({ digits }) => parseInt(digits[8]!, 16));
  return new Uint8Array(
    Buffer.concat([
      Buffer.from(`${line.padEnd(Math.ceil((line.length + 1) / 4) * 4 - 1)}\n`),
      Buffer.from(Uint32Array.from([...prefixes, ...packed.offsets]).buffer),
      Buffer.from(Uint16Array.from(nameNumbers).buffer),
      Buffer.from(lastBits),
      packed.bytes,
    ]),
  );
}

function nameIn(text: string): string {
  return text.split('\n', 1)[0]!.replaceAll(/\s+/g, ' ').trim();
}

function isOfOneVendor(digits: string): boolean {
  return /^[0-9a-f]+$/.test(digits) && !isRandomMac(digits) && !isGroupMac(digits);
}

/** Encodes names in groups, in which each name omits the beginning that it shares with the previous one. */
function packNames(names: readonly string[]): { readonly offsets: number[]; readonly bytes: Buffer } {
  const offsets: number[] = [];
  const parts: Buffer[] = [];
  let length = 0;
  let before = Buffer.alloc(0);
  for (const [number, name] of names.entries()) {
    const bytes = Buffer.from(name);
    const isFirst = number % NAMES_IN_GROUP === 0;
    if (isFirst) offsets.push(length);
    const shared = isFirst ? 0 : sharedBytes(before, bytes);
    parts.push(Buffer.from([shared]), bytes.subarray(shared), Buffer.from('\n'));
    length += bytes.length - shared + 2;
    before = bytes;
  }
  return { offsets, bytes: Buffer.concat(parts) };
}

function sharedBytes(a: Buffer, b: Buffer): number {
  let shared = 0;
  while (shared < 255 && shared < a.length && a[shared] === b[shared]) shared++;
  return shared;
}
