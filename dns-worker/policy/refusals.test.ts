import { beforeEach, describe, expect, test } from '@jest/globals';
import { addressFromText } from '../../shared/net/ip.ts';
import { Query } from '../query/query.ts';
import { Refusals } from './refusals.ts';

let refusals: Refusals;
let second: number;
beforeEach(() => {
  refusals = new Refusals();
  second = 5;
});

/** Whether a query from this address is answered, and the number of queries reported for its network. */
function note(address: string): [answered: boolean, reported: number] {
  const query = new Query();
  query.clientBytes = addressFromText(address)!;
  query.arrivedMonotonicSecs = second;
  return [refusals.note(query), refusals.unreported];
}

describe('Refusals.note(), the limit of REFUSED replies to unknown clients,', () => {
  test('allows five replies per network and second', () => {
    const answered = Array.from({ length: 8 }, (_, host) => note(`203.0.113.${host}`)[0]);
    expect(answered).toEqual([true, true, true, true, true, false, false, false]);
    expect(note('203.0.114.1')[0]).toBe(true);
    second++;
    expect(note('203.0.113.1')[0]).toBe(true);
  });

  test('treats the first 56 bits of an IPv6 address as the network', () => {
    for (let host = 0; host < 5; host++) note(`2001:db8:0:${host}::1`);
    expect(note('2001:db8:0:ff::1')[0]).toBe(false);
    expect(note('2001:db8:0:100::1')[0]).toBe(true);
  });

  test('reports a network at once, and then the number of its queries every ten seconds', () => {
    expect(note('203.0.113.1')).toEqual([true, 1]);
    for (let query = 0; query < 20; query++) expect(note('203.0.113.2')[1]).toBe(0);
    second += 9;
    expect(note('203.0.113.3')[1]).toBe(0);
    second += 1;
    expect(note('203.0.113.4')[1]).toBe(22);
    expect(note('203.0.113.4')[1]).toBe(0);
  });

  test('reports at most fifty networks per second, and the remaining networks later', () => {
    let reported = 0;
    for (let network = 0; network < 200; network++) reported += note(`198.18.${network}.1`)[1];
    expect(reported).toBe(50);
    second++;
    expect(note('198.18.199.1')[1]).toBeGreaterThan(0);
  });

  test('counts networks with the same hash slot together', () => {
    // Queries from more networks than slots: each network takes over the slot of another.
    let answered = 0;
    for (let round = 0; round < 4; round++)
      for (let network = 0; network < 2048; network++)
        if (note(`10.${network >> 8}.${network & 255}.1`)[0]) answered++;
    expect(answered).toBeLessThanOrEqual(5 * 1024);
  });

  test('uses constant memory under queries with forged sources from all networks', () => {
    for (let network = 0; network < 100_000; network++)
      expect(note(`10.${(network >> 8) & 255}.${network & 255}.${network >> 16}`)[1]).toBeLessThanOrEqual(
        200,
      );
  });
});
