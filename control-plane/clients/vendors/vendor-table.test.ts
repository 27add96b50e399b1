import { statSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { packVendors } from './pack-vendors.ts';
import { readVendors, shippedVendors, VendorTable, vendorOf } from './vendor-table.ts';

const ORIGIN = { source: 'made@1', integrity: 'sha512-none' };
/** Names that share a start, in more than one group of 16. */
const MANY = Object.fromEntries(
  Array.from({ length: 40 }, (_, i) => [
    `0050${i.toString(16).padStart(2, '0')}`,
    `Vendor x${'é'.repeat(i)} ${i}\nA street\nA country`,
  ]),
);
const REGISTRY = {
  ...MANY,
  '000000': 'First of all',
  FCFFFF: 'Last of  all ',
  '001BC5': 'IEEE Registration Authority',
  '001BC50AB': 'Holder of 36 bits',
  '001BC50AC': 'Next to it',
  '70B3D5': 'Holder of the block',
  '70B3D51': 'Holder of 28 bits',
  '70B3D5123': 'Holder of 36 bits',
  '00AABB': 'Private',
  '02CF1C': 'Before addresses were chosen at random',
  '01005E': 'A group of interfaces',
};

describe('the table of MAC vendors', () => {
  const table = new VendorTable(packVendors(REGISTRY, ORIGIN));

  test.each([
    ['the first prefix', '00:00:00:00:00:00', 'First of all'],
    ['the last prefix, without the spaces of the registry', 'fc:ff:ff:ff:ff:ff', 'Last of all'],
    ['no vendor for an unknown prefix', '00:00:01:00:00:00', null],
    ['a prefix of 24 bits, if no longer one is registered', '70:b3:d5:20:00:00', 'Holder of the block'],
    ['a prefix of 28 bits instead of one of 24 bits', '70:b3:d5:1f:ff:ff', 'Holder of 28 bits'],
    ['a prefix of 36 bits instead of one of 28 bits', '70:b3:d5:12:3f:ff', 'Holder of 36 bits'],
    ['one of two 36-bit prefixes that differ in the last four bits', '00:1b:c5:0a:c0:00', 'Next to it'],
    ['no vendor for an address between the assigned parts of a block', '00:1b:c5:0a:d0:00', null],
    ['no vendor for a private registration', '00:aa:bb:00:00:01', null],
    ['no vendor for a local address whose prefix was once assigned', '02:cf:1c:00:00:01', null],
    ['no vendor for a group address', '01:00:5e:00:00:01', null],
    ['no vendor for a local group address', '03:00:5e:00:00:01', null],
  ])('finds %s', (_, mac, vendor) => {
    expect(table.vendorOf(mac)).toBe(vendor);
  });

  test('contains each name in full, even if other names have the same beginning', () => {
    for (const [digits, text] of Object.entries(MANY)) {
      const mac = `${digits}000000`.match(/../g)!.join(':');
      expect(table.vendorOf(mac)).toBe(text.split('\n')[0]);
    }
  });

  test('is refused if it was made by a release with another format', () => {
    const bytes = packVendors(REGISTRY, ORIGIN);
    const other = Buffer.from(
      Buffer.from(bytes).toString('latin1').replace('"format":1', '"format":2'),
      'latin1',
    );
    expect(() => new VendorTable(new Uint8Array(other))).toThrow('format 2');
    expect(() => new VendorTable(new Uint8Array(8))).toThrow();
  });
});

describe('the file of MAC vendors', () => {
  test('may be missing, but any other reason why it cannot be read is reported', () => {
    const reasons: string[] = [];
    const read = (file: string): VendorTable | null =>
      readVendors(new URL(file, import.meta.url), (reason) => void reasons.push(reason));
    expect([read('./no-such-file.bin'), reasons]).toEqual([null, []]);
    expect([read('.'), read('./vendor-table.ts')]).toEqual([null, null]);
    expect(reasons).toEqual([expect.stringMatching(/EISDIR|directory/), expect.any(String)]);
  });
});

describe('the MAC vendors that ship with Weir', () => {
  test('include the makers of common devices, for address blocks of each length', () => {
    expect(vendorOf('00:03:93:00:00:01')).toBe('Apple, Inc.');
    expect(vendorOf('b8:27:eb:00:00:01')).toBe('Raspberry Pi Foundation');
    expect(vendorOf('00:1b:c5:00:00:01')).not.toBeNull();
    expect(vendorOf(null)).toBeNull();
    expect(shippedVendors()!.header.prefixes.every((count) => count > 5_000)).toBe(true);
  });

  test('take less than 1 MiB', () => {
    expect(statSync(new URL('./vendors.bin', import.meta.url)).size).toBeLessThan(1_048_576);
  });
});
