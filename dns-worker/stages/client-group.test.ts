import { describe, expect, test } from '@jest/globals';
import { systemClock } from '../../shared/clock.ts';
import { CLIENT_SIGHTINGS_BYTES } from '../../shared/memory/sighting-layout.ts';
import { addressFromText } from '../../shared/net/ip.ts';
import { createRateBuckets } from '../../shared/memory/rate-buckets.ts';
import { openLists } from '../../test/support/parts/test-lists.ts';
import { rateLimitOf } from '../../test/support/parts/test-rate-limit.ts';
import { slotQuery } from '../../test/support/parts/slot-query.ts';
import { Newcomers } from '../policy/newcomers.ts';
import { RateLimiter } from '../policy/rate-limiter.ts';
import { type Query, StageResult } from '../query/query.ts';
import { ClientSightings, KeyedSightings } from '../report/sighting-writer.ts';
import { clientDetail, clientGroupStage } from './client-group.ts';
import { rateLimitStage } from './rate-limit.ts';

const SNAPSHOT = openLists([], {
  groups: [
    { id: 1, enabled: true },
    { id: 5, enabled: true },
    { id: 6, enabled: true },
    { id: 7, enabled: false },
  ],
  clients: [
    { address: '192.0.2.9', groupId: 5 },
    { address: '192.0.2.10', groupId: 7 },
    { address: '2001:db8::9', groupId: 6 },
  ],
  subnets: [{ cidr: '192.0.2.0/24', groupId: 6 }],
  keyedClients: [
    { clientId: 21, key: 'plain', groupId: null, name: 'Plain', mac: null },
    { clientId: 22, key: 'phone', groupId: 6, name: null, mac: null },
    { clientId: 23, key: 'tv', groupId: 7, name: null, mac: '02:00:5e:10:00:01' },
    { clientId: 24, key: 'x', groupId: 5, name: null, mac: null },
  ],
});

const NOBODY_NEW = new Newcomers(() => [], systemClock);

function asked(client: string, clientKey = ''): Query {
  const slot = slotQuery(SNAPSHOT, 'www.example.org');
  // The address is not at the start of the buffer, as in a batch of datagrams.
  slot.clientBytes = Uint8Array.from([...Array<number>(32).fill(1), ...addressFromText(client)!]);
  slot.clientAt = 32;
  slot.clientKey = clientKey;
  return slot;
}

describe('clientGroupStage, the group of the client,', () => {
  test.each([
    ['its own address', '192.0.2.9', 5],
    ['its own IPv6 address', '2001:db8::9', 6],
    ['its network', '192.0.2.77', 6],
    ['nothing', '198.51.100.1', 1],
    ['a disabled group', '192.0.2.10', 1],
  ])('finds the group of a client by %s', (_what, client, groupId) => {
    for (const sightings of [null, newSightings()]) {
      const slot = asked(client);
      slot.groupId = 99;
      clientGroupStage(slot, SNAPSHOT, sightings, NOBODY_NEW);
      expect(slot.groupId).toBe(groupId);
      expect(SNAPSHOT.policy.groupId(slot.groupIndex)).toBe(groupId);
      expect(SNAPSHOT.clients.groupIndexOf(slot.clientRecord)).toBe(slot.groupIndex);
    }
  });
});

describe('clientGroupStage and rateLimitStage', () => {
  test('use the source address of a query, not its ECS option (dnsmasq CVE-2026-4893)', () => {
    const reported = asked('198.51.100.1');
    reported.setEcs(Uint8Array.of(0, 1, 32, 0, 192, 0, 2, 9), 0, 8);
    clientGroupStage(reported, SNAPSHOT, null, NOBODY_NEW);
    expect(reported.groupId).toBe(1);
    const limiter = new RateLimiter(createRateBuckets(true, 7), rateLimitOf({ burstSize: 1 }));
    const plain = Object.assign(asked('198.51.100.1'), { arrivedMonotonicMs: 1000 });
    expect(rateLimitStage(plain, limiter)).toBe(StageResult.CONTINUE);
    expect(rateLimitStage(Object.assign(reported, { arrivedMonotonicMs: 1000 }), limiter)).toBe(
      StageResult.ANSWERED,
    );
  });
});

describe('clientGroupStage with a key', () => {
  test.each([
    { key: 'phone', client: '192.0.2.9', groupId: 6, clientId: 22, detail: 'key phone' },
    { key: 'x', client: '198.51.100.1', groupId: 5, clientId: 24, detail: 'key x' },
    { key: 'tv', client: '192.0.2.9', groupId: 1, clientId: 23, detail: 'key tv' },
    {
      ...{ key: 'plain', client: '192.0.2.9', groupId: 5, clientId: 21 },
      detail: 'manual 192.0.2.9 (the client of this key has no group: plain)',
    },
    {
      ...{ key: 'other', client: '198.51.100.1', groupId: 1, clientId: undefined },
      detail: 'default (no client has the key other)',
    },
  ])(
    'uses the group of the key $key, or of the address $client if the key has no group',
    ({ key, client, groupId, clientId, detail }) => {
      for (const sightings of [null, new KeyedSightings(new SharedArrayBuffer(CLIENT_SIGHTINGS_BYTES))]) {
        const slot = asked(client, key);
        clientGroupStage(slot, SNAPSHOT, sightings, NOBODY_NEW);
        const found = [slot.groupId, slot.keyed?.clientId, clientDetail(slot, SNAPSHOT)];
        expect(found).toEqual([groupId, clientId, detail]);
        // The next query of the thread has no key.
        slot.clientKey = '';
        clientGroupStage(slot, SNAPSHOT, sightings, NOBODY_NEW);
        expect(slot.keyed).toBeNull();
      }
    },
  );
});

describe("clientDetail, the explanation of a client's group,", () => {
  test.each([
    ['192.0.2.9', 'manual 192.0.2.9'],
    ['192.0.2.77', 'subnet 192.0.2.0/24'],
    ['198.51.100.1', 'default'],
  ])('for %s names the record that assigns the group', (client, detail) => {
    const slot = asked(client);
    clientGroupStage(slot, SNAPSHOT, null, NOBODY_NEW);
    expect(clientDetail(slot, SNAPSHOT)).toBe(detail);
  });
});

function newSightings(): ClientSightings {
  return new ClientSightings(new SharedArrayBuffer(CLIENT_SIGHTINGS_BYTES));
}
