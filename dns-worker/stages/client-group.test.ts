import { describe, expect, test } from '@jest/globals';
import { CLIENT_SIGHTINGS_BYTES } from '../../shared/memory/sighting-layout.ts';
import { addressFromText } from '../../shared/net/ip.ts';
import { openLists } from '../../test/support/parts/test-lists.ts';
import { slotQuery } from '../../test/support/parts/slot-query.ts';
import type { Query } from '../query/query.ts';
import { ClientSightings } from '../report/sighting-writer.ts';
import { clientDetail, clientGroupStage } from './client-group.ts';

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
});

function asked(client: string): Query {
  const slot = slotQuery(SNAPSHOT, 'www.example.org');
  // Not at the start of the buffer, as in a batch of datagrams.
  slot.clientBytes = Uint8Array.from([...Array<number>(32).fill(1), ...addressFromText(client)!]);
  slot.clientAt = 32;
  return slot;
}

describe('clientGroupStage', () => {
  test.each([
    ['its own address', '192.0.2.9', 5],
    ['its own IPv6 address', '2001:db8::9', 6],
    ['its network', '192.0.2.77', 6],
    ['nothing', '198.51.100.1', 1],
    ['a disabled group', '192.0.2.10', 1],
  ])('clientGroupStage() finds the group of a client by %s', (_what, client, groupId) => {
    for (const sightings of [null, newSightings()]) {
      const slot = asked(client);
      slot.groupId = 99;
      clientGroupStage(slot, SNAPSHOT, sightings);
      expect(slot.groupId).toBe(groupId);
      expect(SNAPSHOT.policy.groupId(slot.groupIndex)).toBe(groupId);
      expect(SNAPSHOT.clients.groupIndexOf(slot.clientRecord)).toBe(slot.groupIndex);
    }
  });
});

describe('clientDetail', () => {
  test.each([
    ['192.0.2.9', 'manual 192.0.2.9'],
    ['192.0.2.77', 'subnet 192.0.2.0/24'],
    ['198.51.100.1', 'default'],
  ])('clientDetail() of %s names the record', (client, detail) => {
    const slot = asked(client);
    clientGroupStage(slot, SNAPSHOT, null);
    expect(clientDetail(slot, SNAPSHOT)).toBe(detail);
  });
});

function newSightings(): ClientSightings {
  return new ClientSightings(new SharedArrayBuffer(CLIENT_SIGHTINGS_BYTES));
}
