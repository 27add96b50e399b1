/** Tests both sides of the sightings: DNS threads count queries, and the control plane reads the counts. */
import { beforeEach, describe, expect, test } from '@jest/globals';
import { GrantTable } from '../../../dns-worker/policy/grant-table.ts';
import { Newcomers } from '../../../dns-worker/policy/newcomers.ts';
import {
  ClientSightings as ThreadSightings,
  KeyedSightings,
  type SightingSnapshot,
} from '../../../dns-worker/report/sighting-writer.ts';
import { Query } from '../../../dns-worker/query/query.ts';
import { systemClock } from '../../../shared/clock.ts';
import { CLIENT_SIGHTINGS_BYTES, ClientSightingsLayout } from '../../../shared/memory/sighting-layout.ts';
import { addressFromText } from '../../../shared/net/ip.ts';
import { ClientTable, recordOf } from '../../../shared/snapshot/client-table.ts';
import { KeyedClients, writeKeyedClients } from '../../../shared/snapshot/keyed-clients.ts';
import { NamedClients } from '../../../shared/snapshot/named-clients.ts';
import { buildClientTable } from '../../policy/snapshot/build/client-table-builder.ts';
import { NOTHING_LIVE } from '../../policy/change/runtime-state.ts';
import { NO_POLICY_ROWS } from '../../policy/change/rows.ts';
import { ClientSightings } from './sighting-reader.ts';

const NOW_SECS = 1_800_000_000;
const keys = new KeyedClients(writeKeyedClients([], 0));
const nobodyNew = new Newcomers(() => [], systemClock);

let answer: ThreadSightings;
let resolve: ThreadSightings;
let sightings: ClientSightings;
let clients: ClientTable;

beforeEach(() => {
  const answerClients = new SharedArrayBuffer(CLIENT_SIGHTINGS_BYTES);
  const resolveClients = new SharedArrayBuffer(CLIENT_SIGHTINGS_BYTES);
  answer = new ThreadSightings(answerClients);
  resolve = new ThreadSightings(resolveClients);
  sightings = new ClientSightings([{ answerClients, resolveClients }]);
  clients = tableWith(2);
});

/** A table in which the clients of 192.0.2.0/24 belong to this group. */
function tableWith(groupId: number): ClientTable {
  const groups = [1, 2, 3].map((id) => ({ id, enabled: true }));
  const rows = { ...NO_POLICY_ROWS, groups, subnets: [{ cidr: '192.0.2.0/24', groupId }] };
  return new ClientTable(buildClientTable(rows, NOTHING_LIVE));
}

function snapshotAt(version: number): SightingSnapshot {
  const [grants, namedClients] = [new GrantTable([], [], 0, 0), new NamedClients([])];
  return { clients, version, keys, grants, namedClients };
}

/** Processes a query of a client; returns the index of the group that the thread found. */
function ask(thread: ThreadSightings, address: string, secs = NOW_SECS, version = 1): number {
  const query = new Query();
  query.clientBytes = addressFromText(address)!;
  query.arrivedSecs = secs;
  return clients.groupIndexOf(thread.count(query, snapshotAt(version), nobodyNew));
}

describe('ClientSightings', () => {
  test('sweep() reports each client once for all threads, and only queries since the last sweep', () => {
    ask(answer, '192.0.2.1');
    ask(answer, '192.0.2.1', NOW_SECS + 5);
    ask(answer, '2001:db8::1', NOW_SECS + 1);
    ask(resolve, '192.0.2.1', NOW_SECS + 3);
    // Clients are listed in the order in which they were last seen.
    expect(sightings.sweep()).toEqual([
      { address: '2001:db8::1', queries: 1, lastSeenMs: (NOW_SECS + 1) * 1000 },
      { address: '192.0.2.1', queries: 3, lastSeenMs: (NOW_SECS + 5) * 1000 },
    ]);
    expect(sightings.sweep()).toEqual([]);
    ask(resolve, '2001:db8::1', NOW_SECS + 9);
    expect(sightings.sweep()).toEqual([
      { address: '2001:db8::1', queries: 1, lastSeenMs: (NOW_SECS + 9) * 1000 },
    ]);
  });

  test('sweep() reports nearly every query of twenty thousand clients of one thread', () => {
    for (let round = 1; round <= 3; round++) {
      for (let index = 0; index < 20_000; index++)
        for (let times = index % 3; times >= 0; times--)
          ask(answer, `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`, NOW_SECS + round);
      const counts = new Map(sightings.sweep().map(({ address, queries }) => [address, queries]));
      // In a few windows of the table all slots are used; clients that lost their slot there have lower counts.
      const whole = Array.from({ length: 20_000 }, (_, index) => index).filter(
        (index) => counts.get(`10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`) === (index % 3) + 1,
      );
      expect(whole.length).toBeGreaterThan(19_000);
    }
  });

  test('reuses the slot of the least recently seen client when no slot is free', () => {
    const { SLOTS } = ClientSightingsLayout;
    for (let index = 0; index < SLOTS * 4; index++)
      ask(answer, `2001:db8::${(index >> 16).toString(16)}:${(index & 0xffff).toString(16)}`);
    expect(sightings.sweep().length).toBeLessThanOrEqual(SLOTS);
    ask(answer, '192.0.2.9', NOW_SECS + 60);
    expect(sightings.sweep()).toEqual([
      { address: '192.0.2.9', queries: 1, lastSeenMs: (NOW_SECS + 60) * 1000 },
    ]);
    // The client keeps its slot, because it was seen later than all others in its window.
    for (let index = 0; index < 7; index++) ask(answer, '192.0.2.9', NOW_SECS + 61);
    expect(sightings.sweep()).toEqual([
      { address: '192.0.2.9', queries: 7, lastSeenMs: (NOW_SECS + 61) * 1000 },
    ]);
  });

  test('caches the group of a client until the policy snapshot has a new version', () => {
    expect([ask(answer, '192.0.2.1'), ask(answer, '192.0.2.1'), ask(answer, '198.51.100.1')]).toEqual([
      1, 1, 0,
    ]);
    clients = tableWith(3);
    expect(ask(answer, '192.0.2.1', NOW_SECS, 2)).toBe(2);
    clients = new ClientTable(buildClientTable(NO_POLICY_ROWS, NOTHING_LIVE));
    // The group is still that of version 2, although the table contains another one.
    const query = new Query();
    query.clientBytes = addressFromText('192.0.2.1')!;
    expect([2, 3].map((version) => recordOf(answer.count(query, snapshotAt(version), nobodyNew)))).toEqual([
      1, 0,
    ]);
  });

  test('sweep() reports by their ID, at any address, the clients that send a client key', () => {
    const known = new KeyedClients(
      writeKeyedClients(
        [{ key: 'phone', clientId: 77, admits: null, exclusion: 0, record: 0, names: [] }],
        1,
      ),
    );
    const resolveClients = new SharedArrayBuffer(CLIENT_SIGHTINGS_BYTES);
    const thread = new KeyedSightings(resolveClients);
    const answerClients = new SharedArrayBuffer(CLIENT_SIGHTINGS_BYTES);
    const reader = new ClientSightings([{ answerClients, resolveClients }]);
    for (const [address, clientKey] of [
      ['192.0.2.1', 'phone'],
      ['2001:db8::1', 'phone'],
      ['192.0.2.1', 'other'],
      ['192.0.2.1', ''],
    ] as const) {
      const query = new Query();
      query.clientBytes = addressFromText(address)!;
      query.clientKey = clientKey;
      query.arrivedSecs = NOW_SECS;
      thread.count(query, { ...snapshotAt(1), keys: known }, nobodyNew);
    }
    expect(reader.sweep().sort((a, b) => (a.address < b.address ? -1 : 1))).toEqual([
      { address: '', clientId: 77, queries: 2, lastSeenMs: NOW_SECS * 1000 },
      { address: '192.0.2.1', queries: 2, lastSeenMs: NOW_SECS * 1000 },
    ]);
  });

  test('continue their counts when a new thread replaces a dead one', () => {
    const answerClients = new SharedArrayBuffer(CLIENT_SIGHTINGS_BYTES);
    const resolveClients = new SharedArrayBuffer(CLIENT_SIGHTINGS_BYTES);
    const reader = new ClientSightings([{ answerClients, resolveClients }]);
    ask(new ThreadSightings(answerClients), '192.0.2.1');
    reader.sweep();
    ask(new ThreadSightings(answerClients), '192.0.2.1');
    expect(reader.sweep()).toMatchObject([{ address: '192.0.2.1', queries: 1 }]);
  });
});
