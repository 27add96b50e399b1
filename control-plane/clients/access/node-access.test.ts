import { describe, expect, test } from '@jest/globals';
import { accessCheck, OPEN_WITHOUT_LIMIT } from './node-access.ts';
import type { AccessNow } from './access-state.ts';

const DEFAULT = ['private', 'connected'];
const GOOD: AccessNow = { warnings: [], onlyAddress: null };
const UNTIL_MS = Date.UTC(2026, 0, 16, 9, 30, 15);

const seen = (...addresses: string[]) => ({
  untilMs: UNTIL_MS,
  clients: addresses.map((address) => ({ address, lastSeenMs: 0 })),
});

describe('accessCheck()', () => {
  test('reports which clients may query', () => {
    expect(accessCheck(DEFAULT, null, GOOD)).toEqual({
      status: 'ok',
      detail: 'private and connected networks may use this server',
    });
  });

  test('is degraded while recent clients are about to be refused, and names each of their networks once', () => {
    const announced = seen('198.51.100.7', '198.51.100.8', '203.0.113.1', '2001:db8:1:2::3', '192.0.2.1');
    expect(accessCheck(DEFAULT, announced, GOOD)).toEqual({
      status: 'degraded',
      detail:
        'recent clients will be refused from 2026-01-16 09:30 UTC on: add their networks to dns.allowed_clients (198.51.100.0/24, 203.0.113.0/24, 2001:db8:1::/56 and 1 more)',
    });
  });

  test('reports when the allowed clients will be enforced if no recent client is affected', () => {
    expect(accessCheck(DEFAULT, seen(), GOOD)).toEqual({
      status: 'ok',
      detail: 'anyone may use this server until 2026-01-16 09:30 UTC, then private and connected networks',
    });
  });

  test('is degraded on an open resolver', () => {
    const open: AccessNow = { warnings: ['open_without_limit'], onlyAddress: null };
    expect(accessCheck(['any'], null, open)).toEqual({ status: 'degraded', detail: OPEN_WITHOUT_LIMIT });
  });

  test('names the address that hides all clients behind it, and stays ok', () => {
    const hidden: AccessNow = { warnings: ['one_address'], onlyAddress: '172.17.0.1' };
    expect(accessCheck(DEFAULT, null, hidden)).toEqual({
      status: 'ok',
      detail:
        'private and connected networks may use this server; all queries come from 172.17.0.1, which hides the addresses of clients',
    });
  });
});
