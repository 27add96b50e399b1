import { expect, test } from '@jest/globals';
import { replyIn, slotQuery } from '../../test/support/parts/slot-query.ts';
import { snapshotOf } from '../../test/support/parts/test-lists.ts';
import { openSnapshot } from '../policy/open-snapshot.ts';
import { StageResult } from '../query/query.ts';
import { answerInZone, localZone, zoneOf } from './local-zones.ts';

const SNAPSHOT = openSnapshot(snapshotOf([]));
const ZONES = ['10.in-addr.arpa', '168.192.in-addr.arpa'].map(localZone);

test.each([
  ['168.192.in-addr.arpa', 1],
  ['1.168.192.in-addr.arpa', 1],
  ['1.10.IN-ADDR.arpa', 0],
  ['1168.192.in-addr.arpa', -1],
  ['192.in-addr.arpa', -1],
])('zoneOf() returns the locally served zone of %s', (name, place) => {
  expect(zoneOf(slotQuery(SNAPSHOT, name), ZONES)).toBe(ZONES[place] ?? null);
});

test('answerInZone() returns the same SOA at the apex as in negative answers', () => {
  const [zone] = ZONES as [(typeof ZONES)[0]];
  const soa = slotQuery(SNAPSHOT, '10.in-addr.arpa', 'SOA');
  expect(answerInZone(soa, zone)).toBe(StageResult.ANSWERED);
  const missing = slotQuery(SNAPSHOT, 'x.10.in-addr.arpa', 'A');
  answerInZone(missing, zone);
  const [record] = replyIn(soa).answers;
  expect(replyIn(missing).rcode).toBe(3);
  expect(record).toMatchObject({ name: '10.in-addr.arpa', type: 'SOA', ttl: 300 });
  expect(replyIn(missing).authorities).toEqual([record]);
});

test('answerInZone() leaves DS queries for the apex to the parent zone', () => {
  const slot = slotQuery(SNAPSHOT, '10.in-addr.arpa', 'DS');
  expect(answerInZone(slot, ZONES[0]!)).toBe(StageResult.CONTINUE);
});
