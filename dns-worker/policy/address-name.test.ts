import { describe, expect, test } from '@jest/globals';
import { nameFromText, nameToText } from '../../shared/dns/name.ts';
import { addressFromText, addressToText } from '../../shared/net/ip.ts';
import { networkFromText, networkToText } from '../../shared/net/cidr.ts';
import fc from '../../test/support/parts/fast-check.ts';
import { writeAddressName, writePrefixName } from './address-name.ts';
import { Query } from '../query/query.ts';

function written(bytes: Uint8Array): string {
  const query = new Query();
  writeAddressName(bytes, 0, bytes.length, query);
  const wire = query.qname.slice(0, query.qnameLength);
  const text = nameToText(wire);
  // Offsets and length are those of exactly this name.
  expect(nameFromText(text)).toEqual(wire);
  expect(query.labelCount).toBe(text.split('.').length);
  return text;
}

describe('writeAddressName, an IP address as a name for rules,', () => {
  test.each(['192.0.2.1', '0.0.0.0', '255.255.255.255', '10.100.9.99'])(
    'writes the IPv4 address %s as a name',
    (text) => {
      expect(written(addressFromText(text)!.slice(12))).toBe(text);
      expect(written(addressFromText(text)!)).toBe(text);
    },
  );

  test.each([
    '2001:db8::1',
    '::',
    '::1',
    'fe80::',
    '2001:db8:0:1:1:1:1:1',
    '2001:0:0:1::1',
    '1:2:3:4:5:6:7:8',
  ])('writes %s in the form of RFC 5952', (text) => {
    expect(written(addressFromText(text)!)).toBe(text);
  });

  test('writes any IPv6 address like formatIp() of the other modules', () => {
    const group = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 0xffff }));
    fc.assert(
      fc.property(fc.array(group, { minLength: 8, maxLength: 8 }), (groups) => {
        const bytes = Uint8Array.from(groups.flatMap((value) => [value >>> 8, value & 0xff]));
        expect(written(bytes)).toBe(addressToText(bytes));
      }),
    );
  });
});

describe('writePrefixName, an IP prefix as a name for rules,', () => {
  const bytesOf = (size: number) => fc.uint8Array({ minLength: size, maxLength: size });

  test.each([4, 16])('writes the prefixes of any address of %i bytes like the other modules', (size) => {
    fc.assert(
      fc.property(bytesOf(size), fc.integer({ min: 1, max: size * 8 - 1 }), (bytes, bits) => {
        const address = new Query();
        writeAddressName(bytes, 0, size, address);
        const prefix = new Query();
        writePrefixName(address, bits, prefix);
        const wire = prefix.qname.slice(0, prefix.qnameLength);
        const text = nameToText(address.qname.slice(0, address.qnameLength));
        expect(nameToText(wire)).toBe(networkToText(networkFromText(`${text}/${bits}`)!));
        expect(nameFromText(nameToText(wire))).toEqual(wire);
      }),
    );
  });

  test('may overwrite the memory of the address itself', () => {
    const query = new Query();
    writeAddressName(Uint8Array.of(192, 0, 2, 77), 0, 4, query);
    writePrefixName(query, 25, query);
    expect(nameToText(query.qname.slice(0, query.qnameLength))).toBe('192.0.2.0/25');
  });
});
