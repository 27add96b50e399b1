/** Updates as bytes; BIND checks their signatures in acme-certificate.test.ts. */
import { describe, expect, test } from '@jest/globals';
import { decodeMessage } from '../../../shared/dns/codec.ts';
import { soaRequest, updateRequest } from './dns-update.ts';

const RECORD = { name: '_acme-challenge.a.example.org', text: 'proof' };
const KEY = { name: 'Weir-Key', algorithm: 'hmac-sha256', secret: Buffer.from('secret') } as const;
const NOW = Date.UTC(2026, 0, 15);

/** The counts of the header: zone, prerequisites, updates, additional records. */
const countsOf = (bytes: Buffer): number[] => [4, 6, 8, 10].map((at) => bytes.readUInt16BE(at));

describe('updateRequest(), a DNS update message,', () => {
  test('returns an update message for the zone with all records', () => {
    const { id, bytes } = updateRequest(
      'example.org',
      'add',
      [RECORD, { ...RECORD, text: 'other' }],
      null,
      NOW,
    );
    expect(bytes.readUInt16BE(0)).toBe(id);
    expect(bytes.readUInt16BE(2)).toBe(5 << 11);
    expect(countsOf(bytes)).toEqual([1, 0, 2, 0]);
    const { questions, authorities } = decodeMessage(bytes)!;
    expect(questions).toMatchObject([{ name: 'example.org', type: 'SOA' }]);
    expect(authorities).toMatchObject([
      { name: RECORD.name, type: 'TXT', ttl: 60, data: [Buffer.from('proof')] },
      { name: RECORD.name, type: 'TXT', ttl: 60, data: [Buffer.from('other')] },
    ]);
  });

  test('deletes only the record with the given text: class NONE, TTL 0', () => {
    const { bytes } = updateRequest('example.org', 'remove', [RECORD], null, NOW);
    const at = bytes.indexOf(Buffer.from([0, 16, 0, 254]));
    expect(bytes.readUInt32BE(at + 4)).toBe(0);
  });

  test('appends a TSIG record, whose MAC depends on the key and the time', () => {
    const { bytes } = updateRequest('example.org', 'add', [RECORD], KEY, NOW);
    expect(countsOf(bytes)).toEqual([1, 0, 1, 1]);
    expect(bytes.includes('weir-key')).toBe(true);
    expect(bytes.includes(KEY.secret)).toBe(false);
  });

  test('rejects an invalid name, and a text that is too long', () => {
    expect(() => updateRequest('a..b', 'add', [RECORD], null, NOW)).toThrow('is not a domain name');
    const long = { ...RECORD, text: 'x'.repeat(256) };
    expect(() => updateRequest('example.org', 'add', [long], null, NOW)).toThrow('longer than a TXT string');
  });
});

test('soaRequest() returns a SOA query for a name', () => {
  expect(decodeMessage(soaRequest('a.example.org').bytes)!.questions).toMatchObject([
    { name: 'a.example.org', type: 'SOA' },
  ]);
});
