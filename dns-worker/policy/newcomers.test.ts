/** Clients that are known by their MAC, at addresses that policy does not contain. */
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Clock } from '../../shared/clock.ts';
import { CLIENT_SIGHTINGS_BYTES } from '../../shared/memory/sighting-layout.ts';
import { addressFromText } from '../../shared/net/ip.ts';
import type { Neighbour } from '../../shared/net/kernel/neighbour-messages.ts';
import { macIdentity } from '../../shared/net/mac.ts';
import { Exclusion } from '../../shared/query-log.ts';
import { NO_NAME_RULES } from '../../shared/snapshot/name-rules.ts';
import { openLists, snapshotOf } from '../../test/support/parts/test-lists.ts';
import { slotQuery } from '../../test/support/parts/slot-query.ts';
import { ClientSightings } from '../report/sighting-writer.ts';
import { clientDetail, clientGroupStage } from '../stages/client-group.ts';
import type { Query } from '../query/query.ts';
import { Newcomers } from './newcomers.ts';
import { type OpenSnapshot, openSnapshot } from './open-snapshot.ts';

const MAC = '02:00:5e:10:00:01';
const OTHER_MAC = '02:00:5e:10:00:02';
const NEW_ADDRESS = '2001:db8::7';
const KIDS = 5;

const groups = [1, KIDS].map((id) => ({ id, enabled: true }));
const clientAddresses = ['192.0.2.7', macIdentity(MAC)].map((address) => ({ address, groupId: KIDS }));
const snapshot = openSnapshot(snapshotOf([], { groups }, 1, { clientAddresses }));

let nowMs: number;
let readCostMs: number;
let reads: number;
let neighbours: Neighbour[];
let newcomers: Newcomers;
let sightings: ClientSightings;
beforeEach(() => {
  [nowMs, readCostMs, reads, neighbours] = [1000, 0, 0, []];
  const clock: Clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };
  const read = (): Neighbour[] => {
    reads++;
    nowMs += readCostMs;
    return neighbours;
  };
  newcomers = new Newcomers(read, clock);
  sightings = new ClientSightings(new SharedArrayBuffer(CLIENT_SIGHTINGS_BYTES));
});

/** A query from `address`, a millisecond after the previous one. */
function ask(address: string, of: OpenSnapshot = snapshot): Query {
  const query = slotQuery(of, 'www.example.org');
  query.clientBytes = addressFromText(address)!;
  query.clientAt = 0;
  query.arrivedMonotonicMs = ++nowMs;
  clientGroupStage(query, of, sightings, newcomers);
  return query;
}

describe('Newcomers, clients at addresses that policy does not know yet,', () => {
  test('excludes the queries of an excluded client from its first query at a new address', () => {
    const excludedAddresses = [{ address: macIdentity(OTHER_MAC), exclusion: Exclusion.LOG }];
    const excluding = openSnapshot(snapshotOf([], { groups }, 1, { excludedAddresses }));
    neighbours = [{ address: NEW_ADDRESS, mac: OTHER_MAC }];
    expect([ask(NEW_ADDRESS, excluding), ask(NEW_ADDRESS, excluding)]).toMatchObject([
      { exclusion: Exclusion.LOG, groupId: 1 },
      { exclusion: Exclusion.LOG },
    ]);
    expect(ask('2001:db8::8', excluding).exclusion).toBe(Exclusion.NONE);
  });

  test('gives a client its own group from its first query at a new address', () => {
    neighbours = [{ address: NEW_ADDRESS, mac: MAC }];
    const first = ask(NEW_ADDRESS);
    expect([first.groupId, clientDetail(first, snapshot)]).toEqual([KIDS, `mac ${MAC}`]);
    expect(ask(NEW_ADDRESS).groupId).toBe(KIDS);
    // A waiting query is not counted twice, but its group is the same.
    const waiting = ask(NEW_ADDRESS);
    clientGroupStage(waiting, snapshot, null, newcomers);
    expect([waiting.groupId, reads]).toEqual([KIDS, 1]);
  });

  test('gives a client its group from the first query after the kernel has learnt its MAC', () => {
    expect(ask(NEW_ADDRESS).groupId).toBe(1);
    neighbours = [{ address: NEW_ADDRESS, mac: MAC }];
    expect(ask(NEW_ADDRESS).groupId).toBe(KIDS);
  });

  test('does not read the neighbour table for known addresses, or if no client has a MAC', () => {
    expect(ask('192.0.2.7').groupId).toBe(KIDS);
    const plain = openLists([], { groups, clients: [{ address: '192.0.2.9', groupId: KIDS }] }, 1);
    expect([ask('192.0.2.9', plain).groupId, ask(NEW_ADDRESS, plain).groupId, reads]).toEqual([KIDS, 1, 0]);
  });

  test('reads the table once for neighbours without a client, and a few times for addresses behind a router', () => {
    neighbours = [{ address: '192.0.2.50', mac: OTHER_MAC }];
    for (let i = 0; i < 100; i++) expect(ask('192.0.2.50').groupId).toBe(1);
    expect(reads).toBe(1);
    for (let i = 0; i < 100; i++) expect(ask('198.51.100.7').groupId).toBe(1);
    expect(reads).toBe(33);
  });

  test('reads the table again after a while, because addresses may have been reassigned', () => {
    neighbours = [{ address: NEW_ADDRESS, mac: MAC }];
    ask(NEW_ADDRESS);
    neighbours = [{ address: NEW_ADDRESS, mac: OTHER_MAC }];
    nowMs += 5000;
    expect(ask(NEW_ADDRESS).groupId).toBe(1);
  });

  test('spends at most 50 ms per second on reading the table', () => {
    readCostMs = 10;
    const beganMs = nowMs;
    for (let sender = 1; nowMs - beganMs < 1000; sender++) ask(`2001:db8::${sender.toString(16)}`);
    expect(reads * readCostMs).toBeLessThanOrEqual(110);
    expect(reads).toBeGreaterThan(4);
  });

  test('recognizes clients that only grants or $client rules refer to', () => {
    const identity = addressFromText(macIdentity(MAC))!;
    const grant = {
      ...{ id: 1, name: null, coversSubdomains: true, groupId: null, clientId: 3, addresses: identity },
      ...{ isAllowing: false, endsAtSecs: 2_000_000_000 },
    };
    const names = { ...NO_NAME_RULES, grants: [grant] };
    const granted = openSnapshot(snapshotOf([], { groups }, 1, { names }));
    const list = {
      text: `||www.example.org^$client='phone'`,
      reading: { kind: 'block', subdomains: false },
    } as const;
    const findClients = () => [{ name: 'phone', addresses: [macIdentity(MAC)] }];
    const named = openSnapshot(snapshotOf([list], { groups }, 1, { findClients }));
    neighbours = [{ address: NEW_ADDRESS, mac: MAC }];
    const ofGrant = ask(NEW_ADDRESS, granted);
    expect([ofGrant.groupId, granted.grants.find(ofGrant)]).toEqual([1, 0]);
    const ofRule = ask(NEW_ADDRESS, named);
    expect(named.namedClients.hasSome(['phone'], ofRule.identity!, 0)).toBe(true);
  });
});
