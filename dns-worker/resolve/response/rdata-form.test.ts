/** RDATA of known types, well formed and malformed, as in an upstream's answer. */
import { describe, expect, test } from '@jest/globals';
import { RRType, rrTypeName } from '../../../shared/dns/iana.ts';
import {
  octets,
  question,
  response,
  rrsig,
  soa,
  type TestRecord,
} from '../../../test/support/dns/built-messages.ts';
import { RDATA_SAMPLES } from '../../../test/support/dns/rdata-samples.ts';
import { readResponse } from './response-reader.ts';

const OWNER = 'www.example.org';
const NAME = '0161076578616d706c6500';
const RRSIG_HEAD = '00010d020000012c650000006400000012670161076578616d706c6500';

function bytes(hexadecimal: string): Uint8Array {
  return Uint8Array.from(Buffer.from(hexadecimal.replaceAll(' ', ''), 'hex'));
}

/** The kind of result for an answer with only this record. */
function kindOf(type: number, rdata: Uint8Array): string {
  const asked = question(OWNER, type);
  const reading = readResponse(
    response(asked, { answers: [{ owner: OWNER, type, ttl: 300, rdata }] }),
    asked,
  );
  return reading.kind === 'fault' ? reading.fault : reading.kind;
}

/** Types whose RDATA may end with any number of bytes. */
const OPEN_ENDED: readonly number[] = [
  11, 22, 24, 25, 37, 43, 45, 46, 48, 49, 52, 53, 57, 59, 60, 61, 256, 257, 259,
];
/** Types whose RDATA may end after any of several parts. */
const REPEATING: readonly number[] = [RRType.TXT, 20, RRType.APL, RRType.HIP, 56, 99, 258, 261, 262];

describe('readResponse(), which checks the form of RDATA,', () => {
  test.each(RDATA_SAMPLES.map(([type, samples]) => [rrTypeName(type), type, samples] as const))(
    'accepts %s RDATA that is well formed, and rejects truncated or overlong RDATA',
    (_name, type, samples) => {
      for (const sample of samples) {
        const rdata = bytes(sample);
        expect(kindOf(type, rdata)).toBe('answer');
        if (OPEN_ENDED.includes(type)) continue;
        expect(kindOf(type, octets(rdata, [1]))).toBe('malformed-data');
        if (REPEATING.includes(type) || rdata.length === 0) continue;
        expect(kindOf(type, rdata.subarray(0, -1))).toBe('malformed-data');
        expect(kindOf(type, new Uint8Array(0))).toBe('malformed-data');
      }
    },
  );

  test.each([
    ['TXT without a string', RRType.TXT, ''],
    ['TXT whose last string is cut off', RRType.TXT, '0161 0362'],
    ['KEY without the key that its flags promise', RRType.KEY, '0100 03 08'],
    ['LOC with a size of sixteen digits', RRType.LOC, '00 f2 16 13 80000000 80000000 00989680'],
    ['LOC beyond the pole', RRType.LOC, '00 12 16 13 ffffffff 80000000 00989680'],
    ['CERT without a certificate', RRType.CERT, '0001 0002 08'],
    ['APL with a prefix longer than its addresses', RRType.APL, '0001 21 00'],
    ['APL with a zero at the end of an address', RRType.APL, '0001 18 03 c0a800'],
    ['DS with a digest too short for its type', RRType.DS, `1267 0d 02 ${'ab'.repeat(31)}`],
    ['SSHFP with a digest too long for its type', RRType.SSHFP, `01 01 ${'ab'.repeat(21)}`],
    ['IPSECKEY with a gateway of no known type', RRType.IPSECKEY, '0a 04 02 aabb'],
    ['IPSECKEY without the key that its algorithm promises', RRType.IPSECKEY, '0a 00 02'],
    ['IPSECKEY whose gateway is cut off', RRType.IPSECKEY, '0a 02 02 20010db8'],
    ['RRSIG shorter than its fixed part', RRType.RRSIG, '0001 0d 02 0000012c 65000000'],
    ['RRSIG without its signer', RRType.RRSIG, RRSIG_HEAD.slice(0, 36)],
    ['RRSIG with a compressed signer', RRType.RRSIG, `${RRSIG_HEAD.slice(0, 36)} c00c 0102`],
    ['RRSIG without a signature', RRType.RRSIG, RRSIG_HEAD],
    ['SIG without a signature', RRType.SIG, RRSIG_HEAD],
    ['NSEC with a compressed name', RRType.NSEC, 'c00c 0001 40'],
    ['NSEC without types', RRType.NSEC, NAME],
    ['NSEC with an empty window', RRType.NSEC, `${NAME} 00 00`],
    ['NSEC with a window of 33 bytes', RRType.NSEC, `${NAME} 00 21 ${'ff'.repeat(33)}`],
    ['NSEC with windows out of order', RRType.NSEC, `${NAME} 01 01 40 00 01 40`],
    ['NSEC with a window that ends in zeros', RRType.NSEC, `${NAME} 00 02 4000`],
    ['DNSKEY without a key', RRType.DNSKEY, '0101 03 0d'],
    ['DHCID without anything', RRType.DHCID, ''],
    ['NSEC3 with a salt longer than itself', RRType.NSEC3, '01 00 000a ff aabbccdd'],
    ['NSEC3 without a hash', RRType.NSEC3, '01 00 000a 00 00'],
    ['TLSA without data', RRType.TLSA, '03 01 01'],
    ['HIP without a key', RRType.HIP, '04 02 0000 aabbccdd'],
    ['HIP with half a server', RRType.HIP, '04 02 0003 aabbccdd 010203 0161'],
    ['OPENPGPKEY without a key', RRType.OPENPGPKEY, ''],
    ['ZONEMD with a digest too short for its type', RRType.ZONEMD, `00000042 01 02 ${'ab'.repeat(48)}`],
    ['SVCB with a parameter cut off', RRType.SVCB, '0001 00 0001 0004 02 6832'],
    ['HTTPS with parameters out of order', RRType.HTTPS, '0001 00 0003 0002 01bb 0001 0003 026832'],
    ['HTTPS with a parameter twice', RRType.HTTPS, '0001 00 0003 0002 01bb 0003 0002 01bb'],
    ['HTTPS with a port of three bytes', RRType.HTTPS, '0001 00 0003 0003 0001bb'],
    ['HTTPS with half an address', RRType.HTTPS, '0001 00 0004 0002 0102'],
    ['HTTPS with an empty protocol', RRType.HTTPS, '0001 00 0001 0001 00'],
    ['HTTPS that lacks a mandatory parameter', RRType.HTTPS, '0001 00 0000 0002 0003'],
    ['HTTPS with a compressed target', RRType.HTTPS, '0001 c00c'],
    ['CAA without a tag', RRType.CAA, '00 00 6162'],
    ['CAA with a tag that is not alphanumeric', RRType.CAA, '00 02 612d'],
    ['AMTRELAY whose relay is cut off', 260, '0a 01 c000'],
  ])('rejects %s', (_what, type, rdata) => {
    expect(kindOf(type, bytes(rdata))).toBe('malformed-data');
  });

  test('accepts any RDATA of an unknown type', () => {
    for (const type of [10, 65_280]) expect(kindOf(type, bytes('c0ff00'))).toBe('answer');
  });

  test.each([
    ['beside the answer', [0, 1], []],
    ['beside the SOA of a denial', [], [2, 3]],
  ])(
    'rejects a message with a truncated RRSIG %s, with and without validation',
    (_where, answers, authorities) => {
      const cut = (record: TestRecord): TestRecord => ({ ...record, rdata: record.rdata.subarray(0, 17) });
      const address: TestRecord = { owner: OWNER, type: 'A', ttl: 300, rdata: bytes('c0000201') };
      const records = [
        address,
        cut(rrsig(OWNER, 'A')),
        soa('example.org', 300, 300),
        cut(rrsig('example.org', 'SOA')),
      ];
      const pick = (indexes: readonly number[]): TestRecord[] => indexes.map((i) => records[i]!);
      const asked = question(OWNER, 'A', { dnssecOk: true, checkingDisabled: true });
      const message = response(asked, { answers: pick(answers), authorities: pick(authorities) });
      expect(readResponse(message, asked)).toEqual({ kind: 'fault', fault: 'malformed-data' });
    },
  );
});
