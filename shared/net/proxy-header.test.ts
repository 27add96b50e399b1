import { describe, expect, test } from '@jest/globals';
import fc from '../../test/support/parts/fast-check.ts';
import { headerOf, LOCAL_HEADER, tlv } from '../../test/support/parts/proxy-headers.ts';
import { addressFromText } from './ip.ts';
import { crc32c, MAX_PROXY_HEADER_SIZE, ProxyHeader, ProxyOutcome } from './proxy-header.ts';

const CLIENT_4 = 'c0000207' + 'c6336401' + '1234' + '0035';
const CLIENT_6 = '20010db8' + '0'.repeat(23) + '1' + '0'.repeat(32) + '1234' + '0035';

function read(bytes: Uint8Array) {
  const header = new ProxyHeader();
  return { outcome: header.read(bytes, 0, bytes.length), header };
}

/** A header with its checksum, optionally with some wrong bits. */
function withChecksum(flipped = 0): Buffer {
  const bytes = headerOf('21', '11', CLIENT_4 + tlv('03', '00000000') + tlv('02', '6162'));
  const at = 16 + 12 + 3;
  bytes.writeUInt32BE((crc32c(bytes) ^ flipped) >>> 0, at);
  return bytes;
}

describe('ProxyHeader (PROXY protocol, version 2)', () => {
  test.each([
    ['IPv4 over TCP', '11', CLIENT_4, '192.0.2.7'],
    ['IPv4 over UDP', '12', CLIENT_4, '192.0.2.7'],
    ['IPv6', '21', CLIENT_6, '2001:db8::1'],
    ['values behind the addresses', '11', CLIENT_4 + tlv('05', 'abcd') + tlv('ea', ''), '192.0.2.7'],
  ])('returns the client address: %s', (_what, family, rest, address) => {
    const bytes = Buffer.concat([headerOf('21', family, rest), Buffer.from('what follows')]);
    const { outcome, header } = read(bytes);
    expect(outcome).toBe(ProxyOutcome.OK);
    expect(header).toMatchObject({ hasSource: true, sourcePort: 0x1234, length: 16 + rest.length / 2 });
    expect(header.source).toEqual(addressFromText(address));
  });

  test.each([
    ['LOCAL', headerOf('20', '00', '')],
    ['LOCAL with an address, which is ignored', headerOf('20', '11', CLIENT_4)],
    ['LOCAL with an invalid address', headerOf('20', 'ff', 'abcdef')],
    ['a client of no known family', headerOf('21', '00', '')],
    ['a client on a unix socket', headerOf('21', '31', '00'.repeat(216))],
  ])('returns no client address: %s', (_what, bytes) => {
    const { outcome, header } = read(bytes);
    expect([outcome, header.hasSource, header.length]).toEqual([ProxyOutcome.OK, false, bytes.length]);
  });

  test('clears the client address of the previous header', () => {
    const header = new ProxyHeader();
    header.read(headerOf('21', '11', CLIENT_4), 0, 28);
    header.read(headerOf('20', '00', ''), 0, 16);
    expect(header.hasSource).toBe(false);
  });

  test.each([
    ['version 1', Buffer.from('PROXY TCP4 192.0.2.7 198.51.100.1 4660 53\r\n')],
    ['none: a TLS handshake', Buffer.from('1603010200', 'hex')],
    ['none: a DNS message', Buffer.from('001d123401000001000000000000', 'hex')],
    ['version 3', headerOf('31', '11', CLIENT_4)],
    ['an unknown command', headerOf('22', '11', CLIENT_4)],
    ['an unknown family', headerOf('21', '41', CLIENT_4)],
    ['an unknown transport', headerOf('21', '13', CLIENT_4)],
    ['addresses that are cut off', headerOf('21', '11', CLIENT_4.slice(0, -2))],
    ['IPv6 addresses in the length of IPv4', headerOf('21', '21', CLIENT_4)],
    ['a value that is cut off', headerOf('21', '11', CLIENT_4 + '05000aab')],
    ['half the head of a value', headerOf('21', '11', CLIENT_4 + '0500')],
    ['more than any header has', headerOf('21', '11', CLIENT_4, MAX_PROXY_HEADER_SIZE - 15)],
    ['a wrong checksum', withChecksum(1)],
    ['a checksum of two bytes', headerOf('21', '11', CLIENT_4 + tlv('03', '0000'))],
  ])('rejects: %s', (_what, bytes) => {
    expect(read(bytes).outcome).toBe(ProxyOutcome.BAD);
  });

  test('accepts a correct checksum (RFC 3720 appendix B.4)', () => {
    expect(crc32c(new Uint8Array(32))).toBe(0x8a9136aa);
    expect(crc32c(Uint8Array.from({ length: 32 }, (_, i) => i))).toBe(0x46dd794e);
    expect(read(withChecksum()).outcome).toBe(ProxyOutcome.OK);
  });

  test('needs more bytes for any incomplete header, and reads none beyond the end', () => {
    const bytes = headerOf('21', '21', CLIENT_6 + tlv('05', 'abcd'));
    for (let size = 0; size < bytes.length; size++)
      expect([size, read(bytes.subarray(0, size)).outcome]).toEqual([size, ProxyOutcome.MORE]);
  });

  test('never reports a length above the number of bytes, for any bytes', () => {
    const tail = fc.uint8Array({ maxLength: 300 });
    fc.assert(
      fc.property(tail, fc.boolean(), (rest, isSigned) => {
        const bytes = isSigned ? Buffer.concat([LOCAL_HEADER.subarray(0, 12), rest]) : rest;
        const { outcome, header } = read(bytes);
        if (outcome === ProxyOutcome.OK) expect(header.length).toBeLessThanOrEqual(bytes.length);
      }),
    );
  });
});
