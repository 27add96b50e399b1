import { describe, expect, test } from '@jest/globals';
import { decodeMessage, decodeRdata, encodeMessage } from './codec.ts';
import { RRType } from './iana.ts';

describe('codec of DNS messages', () => {
  test('decodeMessage() returns the message that encodeMessage() encoded', () => {
    const bytes = encodeMessage({
      type: 'response',
      id: 77,
      questions: [{ name: 'example.org', type: 'A' }],
      answers: [{ name: 'example.org', type: 'A', ttl: 5, data: '192.0.2.1' }],
    });
    expect(decodeMessage(bytes)).toMatchObject({ id: 77, answers: [{ ttl: 5, data: '192.0.2.1' }] });
  });

  test('decodeMessage() returns null for bytes that are not a message', () => {
    expect(decodeMessage(Uint8Array.of(1, 2, 3))).toBeNull();
  });
});

describe('decodeRdata()', () => {
  test('decodes the data of one record', () => {
    expect(decodeRdata(RRType.DS, Uint8Array.of(0x4f, 0x66, 8, 2, 0xab))).toMatchObject({
      type: 'DS',
      ttl: 0,
      data: { keyTag: 20326, algorithm: 8, digestType: 2, digest: Buffer.of(0xab) },
    });
    // Both bytes of the type and of the length are significant.
    const caa = Uint8Array.from([0, 5, ...Buffer.from('issue'), ...Buffer.alloc(300, 'a')]);
    expect(decodeRdata(RRType.CAA, caa)).toMatchObject({ data: { tag: 'issue', value: 'a'.repeat(300) } });
  });

  test.each([
    ['that ends too early', RRType.DS, [0x4f]],
    ['of which a byte would be lost', RRType.A, [192, 0, 2, 1, 7]],
  ])('returns null for data %s', (_, type, rdata) => {
    expect(decodeRdata(type, Uint8Array.from(rdata))).toBeNull();
  });
});
