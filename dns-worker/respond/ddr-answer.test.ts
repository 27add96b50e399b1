import { expect, test } from '@jest/globals';
import { apiRecord } from '../../test/support/parts/asked-pipeline.ts';
import { replyIn, slotQuery } from '../../test/support/parts/slot-query.ts';
import { snapshotOf } from '../../test/support/parts/test-lists.ts';
import { nameFromText } from '../../shared/dns/name.ts';
import { openSnapshot } from '../policy/open-snapshot.ts';
import type { Query } from '../query/query.ts';
import { NO_IDENTITY, ServerIdentity } from '../policy/server-identity.ts';
import { designate } from './ddr-answer.ts';

const RECORD = Uint8Array.of(0, 1, ...nameFromText('dns.example')!);

function designated(
  localRecords: readonly string[],
  addresses: readonly Uint8Array[],
  udpSize = 1232,
): Query {
  const snapshot = openSnapshot(snapshotOf([], { localRecords: localRecords.map(apiRecord) }));
  const slot = slotQuery(snapshot, '_dns.resolver.arpa', 'SVCB', { edns: { udpSize } });
  designate(
    slot,
    snapshot,
    new ServerIdentity({ ...NO_IDENTITY, designated: [RECORD], designatedAddresses: addresses }),
  );
  return slot;
}

const CERTIFIED = [Uint8Array.of(192, 0, 2, 53), Uint8Array.of(0x20, 1, 0xd, 0xb8, ...new Uint8Array(12))];

test.each<[string, string[], Uint8Array[], string[]]>([
  ['of the certificate', [], CERTIFIED, ['A 192.0.2.53', 'AAAA 2001:db8::']],
  [
    'of local records',
    ['dns.example A 192.168.1.2', 'other.example A 192.168.1.3'],
    CERTIFIED,
    ['A 192.168.1.2'],
  ],
  ['of neither', [], [], []],
])(
  'designate() adds to the SVCB answer the addresses %s (RFC 9462 section 4)',
  (_, records, addresses, expected) => {
    const reply = replyIn(designated(records, addresses));
    expect([reply.rcode, reply.truncated, reply.answers.length]).toEqual([0, false, 1]);
    expect(reply.additionals.map(({ name, type, data }) => `${name} ${type} ${String(data)}`)).toEqual(
      expected.map((each) => `dns.example ${each}`),
    );
    expect(reply.opt).not.toBeNull();
  },
);

test('designate() omits addresses rather than SVCB records if space is short', () => {
  const many = Array.from({ length: 40 }, (_, i) => Uint8Array.of(192, 0, 2, i));
  const slot = designated([], many, 512);
  expect(replyIn(slot)).toMatchObject({ rcode: 0, truncated: false });
  expect(slot.replyLength).toBeLessThanOrEqual(512);
  expect(replyIn(slot).additionals.length).toBeGreaterThan(5);
});
