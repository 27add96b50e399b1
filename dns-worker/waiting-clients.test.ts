import { describe, expect, test } from '@jest/globals';
import { WaitingClients } from './waiting-clients.ts';

describe('WaitingClients', () => {
  test('enter() lets one network wait with half of what may wait at all, and others beside it', () => {
    const clients = new WaitingClients();
    let greedy = 0;
    while (clients.enter('greedy', `name ${String(greedy)}`)) greedy++;
    expect(greedy).toBe(8192);
    for (let i = 0; i < 1000; i++) expect(clients.enter(`network ${String(i)}`, 'name')).toBe(true);
  });

  test('enter() lets one network wait 1,024 times for one question (CVE-2024-33655 DNSBomb)', () => {
    const clients = new WaitingClients();
    let same = 0;
    while (clients.enter('a', 'name')) same++;
    expect(same).toBe(1024);
    expect(clients.enter('a', 'another name')).toBe(true);
    expect(clients.enter('b', 'name')).toBe(true);
  });

  test('leave() makes room again', () => {
    const clients = new WaitingClients();
    for (let i = 0; i < 1024; i++) clients.enter('a', 'name');
    clients.leave('a', 'name');
    expect(clients.enter('a', 'name')).toBe(true);
    expect(clients.enter('a', 'name')).toBe(false);
  });
});
