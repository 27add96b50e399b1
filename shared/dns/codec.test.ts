import { describe, expect, test } from '@jest/globals';
import { decodeMessage, encodeMessage } from './codec.ts';

describe('codec', () => {
  test('decodeMessage() reads what encodeMessage() wrote', () => {
    const bytes = encodeMessage({
      type: 'response',
      id: 77,
      questions: [{ name: 'example.org', type: 'A' }],
      answers: [{ name: 'example.org', type: 'A', ttl: 5, data: '192.0.2.1' }],
    });
    expect(decodeMessage(bytes)).toMatchObject({ id: 77, answers: [{ ttl: 5, data: '192.0.2.1' }] });
  });

  test('decodeMessage() is null for octets that are no message', () => {
    expect(decodeMessage(Uint8Array.of(1, 2, 3))).toBeNull();
  });
});
