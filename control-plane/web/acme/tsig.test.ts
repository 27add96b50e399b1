/** Signatures of replies that the test makes; acme-certificate.test.ts tests those of BIND. */
import { describe, expect, test } from '@jest/globals';
import { createHmac } from 'node:crypto';
import { updateRequest } from './dns-update.ts';
import { replyFault } from './tsig.ts';

const KEY = { name: 'Weir-Key', algorithm: 'hmac-sha256', secret: Buffer.from('secret') } as const;
const NOW = Date.UTC(2026, 0, 15);
const SECS = NOW / 1000;
const RECORD = { name: '_acme-challenge.a.example.org', text: 'proof' };
const OWNER = Buffer.from('\x08weir-key\0', 'latin1');
const ALGORITHM = Buffer.from('\x0bhmac-sha256\0', 'latin1');

/** Properties of a reply and its signature that differ from a valid one. */
interface Signing {
  readonly secret?: string;
  readonly signedSecs?: number;
  readonly algorithm?: Buffer;
  /** Id of the reply, if a forwarder has changed it. */
  readonly id?: number;
}

/** A request, and its signed response with success. */
function exchange({ secret = 'secret', signedSecs = SECS, algorithm = ALGORITHM, id }: Signing = {}) {
  const request = updateRequest('example.org', 'add', [RECORD], KEY, NOW);
  const message = Buffer.alloc(12);
  message.writeUInt16BE(request.id, 0);
  message.writeUInt16BE(0xa800, 2);
  const time = Buffer.alloc(8);
  time.writeUIntBE(signedSecs, 0, 6);
  time.writeUInt16BE(300, 6);
  const anyClass = Buffer.of(0, 255, 0, 0, 0, 0);
  const mac = createHmac('sha256', secret)
    .update(Buffer.of(0, request.mac!.length))
    .update(Buffer.concat([request.mac!, message, OWNER, anyClass, algorithm, time, Buffer.alloc(4)]))
    .digest();
  const ending = Buffer.concat([message.subarray(0, 2), Buffer.alloc(4)]);
  const rdata = Buffer.concat([algorithm, time, Buffer.of(0, mac.length), mac, ending]);
  const header = Buffer.concat([OWNER, Buffer.of(0, 250), anyClass, Buffer.of(0, rdata.length)]);
  const reply = Buffer.concat([message, header, rdata]);
  reply[11] = 1;
  if (id !== undefined) reply.writeUInt16BE(id, 0);
  return { reply, mac: request.mac! };
}

describe('replyFault(), which checks the TSIG signature of a reply,', () => {
  test('accepts a reply signed with the key, even if its message ID was changed on the way', () => {
    for (const signing of [{}, { id: 4711 }, { signedSecs: SECS - 299 }]) {
      const { reply, mac } = exchange(signing);
      expect([signing, replyFault(reply, mac, KEY, NOW)]).toEqual([signing, null]);
    }
  });

  test.each<[string, Signing, RegExp]>([
    ['another secret', { secret: 'other' }, /its signature is wrong/],
    ['another algorithm', { algorithm: Buffer.from('\x0bhmac-sha512\0', 'latin1') }, /another algorithm/],
    ['a time that is too long ago', { signedSecs: SECS - 301 }, /differs too much from the clock/],
  ])('rejects %s', (_what, signing, expected) => {
    const { reply, mac } = exchange(signing);
    expect(replyFault(reply, mac, KEY, NOW)).toMatch(expected);
  });

  test('rejects the reply to a different request', () => {
    const { reply } = exchange();
    expect(replyFault(reply, Buffer.alloc(32), KEY, NOW)).toBe('its signature is wrong');
  });

  test('rejects a reply of which any byte was changed, added or removed', () => {
    const { reply, mac } = exchange();
    // The signature does not cover the name, TTL and class of the record as sent, nor the id of the message.
    const isFree = (at: number): boolean => at < 2 || (at >= 12 && at < 12 + OWNER.length + 8);
    for (let at = 0; at < reply.length; at++) {
      expect([at, replyFault(reply.subarray(0, at), mac, KEY, NOW)]).toEqual([at, expect.any(String)]);
      if (isFree(at)) continue;
      const changed = Buffer.from(reply);
      changed[at]! ^= 1;
      expect([at, replyFault(changed, mac, KEY, NOW)]).toEqual([at, expect.any(String)]);
    }
    expect(replyFault(Buffer.concat([reply, Buffer.of(0)]), mac, KEY, NOW)).toBe('it is not signed');
  });

  test('rejects a reply without a signature', () => {
    const { reply, mac } = exchange();
    const unsigned = Buffer.from(reply.subarray(0, 12));
    unsigned[11] = 0;
    expect(replyFault(unsigned, mac, KEY, NOW)).toBe('it is not signed');
  });
});
