import { describe, expect, test } from '@jest/globals';
import { WaitingClients } from './waiting-clients.ts';

describe('WaitingClients, the limit of waiting clients,', () => {
  test('enter() gives one network at most half of all places, and leaves the rest to other networks', () => {
    const clients = new WaitingClients();
    let greedy = 0;
    while (clients.enter('greedy', greedy)) greedy++;
    expect(greedy).toBe(8192);
    for (let i = 0; i < 1000; i++) expect(clients.enter(`network ${String(i)}`, 1)).toBe(true);
  });

  test('enter() lets one network wait 1,024 times for one query (CVE-2024-33655 DNSBomb)', () => {
    const clients = new WaitingClients();
    let same = 0;
    while (clients.enter('a', 1)) same++;
    expect(same).toBe(1024);
    expect(clients.enter('a', 2)).toBe(true);
    expect(clients.enter('b', 1)).toBe(true);
  });

  test('leave() frees a place of the network', () => {
    const clients = new WaitingClients();
    for (let i = 0; i < 1024; i++) clients.enter('a', 1);
    clients.leave('a', 1);
    expect(clients.enter('a', 1)).toBe(true);
    expect(clients.enter('a', 1)).toBe(false);
  });
});
