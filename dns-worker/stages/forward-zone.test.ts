import { describe, expect, test } from '@jest/globals';
import { POOLS_PARTITION } from '../../shared/snapshot/forward-zone-servers.ts';
import { NO_NAME_RULES } from '../../shared/snapshot/name-rules.ts';
import { wireName } from '../../test/support/dns/built-messages.ts';
import { slotQuery } from '../../test/support/parts/slot-query.ts';
import { openLists, snapshotOf } from '../../test/support/parts/test-lists.ts';
import { openSnapshot } from '../policy/open-snapshot.ts';
import { StageResult } from '../query/query.ts';
import { forwardZoneStage } from './forward-zone.ts';

const zone = (partition: number, ...names: string[]) => {
  return { zone: names[0]!, names: names.map(wireName), partition, servers: [], upstreamNumbers: [] };
};
const forwardZones = [zone(4, 'example.org', 'example.net'), zone(9, 'home.example.org')];
const SNAPSHOT = openSnapshot(snapshotOf([], {}, 1, { names: { ...NO_NAME_RULES, forwardZones } }));

describe('forwardZoneStage(), which finds the forward zone of a query,', () => {
  test.each([
    ['example.org', 0, 4],
    ['www.example.org', 0, 4],
    ['www.example.net', 0, 4],
    ['home.example.org', 1, 9],
    ['nas.home.example.org', 1, 9],
    ['example.com', -1, POOLS_PARTITION],
    ['org', -1, POOLS_PARTITION],
    ['notexample.org', -1, POOLS_PARTITION],
  ])('for %s sets the zone index %i, and continues', (name, zoneIndex, partition) => {
    const slot = slotQuery(SNAPSHOT, name);
    expect(forwardZoneStage(slot, SNAPSHOT)).toBe(StageResult.CONTINUE);
    expect([slot.zoneIndex, slot.partition]).toEqual([zoneIndex, partition]);
  });

  test.each([
    ['example.org', -1, POOLS_PARTITION],
    ['www.example.org', 0, 4],
    ['home.example.org', 0, 4],
    ['nas.home.example.org', 1, 9],
  ])('for a DS query for %s sets the index of the zone above: %i', (name, zoneIndex, partition) => {
    const slot = slotQuery(SNAPSHOT, name, 'DS');
    expect(forwardZoneStage(slot, SNAPSHOT)).toBe(StageResult.CONTINUE);
    expect([slot.zoneIndex, slot.partition]).toEqual([zoneIndex, partition]);
  });

  test('sets no zone if there are no forward zones', () => {
    const snapshot = openLists([]);
    const slot = slotQuery(snapshot, 'example.org');
    expect(forwardZoneStage(slot, snapshot)).toBe(StageResult.CONTINUE);
    expect([slot.zoneIndex, slot.partition]).toEqual([-1, POOLS_PARTITION]);
  });
});
