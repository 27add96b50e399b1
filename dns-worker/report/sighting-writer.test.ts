import { beforeEach, describe, expect, test } from '@jest/globals';
import { CLIENT_SIGHTINGS_BYTES, ClientSightingsLayout as L } from '../../shared/memory/sighting-layout.ts';
import { addressFromText } from '../../shared/net/ip.ts';
import { accessOf } from '../../shared/policy/access.ts';
import { isAdmitted } from '../../shared/snapshot/client-table.ts';
import { snapshotOf } from '../../test/support/parts/test-lists.ts';
import { Newcomers } from '../policy/newcomers.ts';
import { openSnapshot } from '../policy/open-snapshot.ts';
import { systemClock } from '../../shared/clock.ts';
import { Query } from '../query/query.ts';
import { ClientSightings } from './sighting-writer.ts';

const newcomers = new Newcomers(() => [], systemClock);
let memory: SharedArrayBuffer;
let sightings: ClientSightings;
beforeEach(() => {
  memory = new SharedArrayBuffer(CLIENT_SIGHTINGS_BYTES);
  sightings = new ClientSightings(memory);
});

const allowing = (version: number, ...networks: string[]) =>
  openSnapshot(snapshotOf([], {}, version, { access: accessOf(networks, [], []) }));

/** Counts a query; returns whether its client is admitted. */
function count(address: string, snapshot: ReturnType<typeof allowing>): boolean {
  const query = new Query();
  query.clientBytes = addressFromText(address)!;
  query.arrivedSecs = 1000;
  return isAdmitted(sightings.count(query, snapshot, newcomers));
}

/** Counts of all slots that are taken. */
function counts(): number[] {
  const words = new Int32Array(memory);
  const all = Array.from({ length: L.SLOTS }, (_, slot) => words[slot * L.SLOT_WORDS + L.COUNT_AT]!);
  return all.filter((one) => one !== 0);
}

describe('ClientSightings.count(), which counts the queries of a client,', () => {
  test('creates no entry for clients that may not query, however many there are', () => {
    const snapshot = allowing(1, '192.0.2.0/24');
    expect(count('192.0.2.1', snapshot)).toBe(true);
    for (let host = 0; host < 50_000; host++)
      expect(count(`203.0.${host >> 8}.${host & 255}`, snapshot)).toBe(false);
    expect(counts()).toEqual([1]);
  });

  test('does not count a client while it may not query, and continues once it may query again', () => {
    expect(count('192.0.2.1', allowing(1, '192.0.2.0/24'))).toBe(true);
    const closed = allowing(2);
    expect([count('192.0.2.1', closed), count('192.0.2.1', closed)]).toEqual([false, false]);
    expect(counts()).toEqual([1]);
    const open = allowing(3, '192.0.2.1');
    expect([count('192.0.2.1', open), count('192.0.2.1', open)]).toEqual([true, true]);
    expect(counts()).toEqual([3]);
  });
});
