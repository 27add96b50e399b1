import { describe, expect, test } from '@jest/globals';
import {
  heldTrouble,
  isNothingBlocked,
  isRecent,
  portTrouble,
  refusedTrouble,
  troublesOf,
} from './troubles.ts';
import type { Health } from './troubles.ts';

function health(checks: Partial<Health['checks']>): Health {
  const ok = { status: 'ok' } as const;
  return {
    status: 'ok',
    version: '1',
    node: 'home',
    uptime_secs: 1,
    checks: {
      dns: ok,
      database: ok,
      upstreams: ok,
      filters: ok,
      nodes: ok,
      clock: ok,
      access: ok,
      ...{ web: ok, certificates: ok, disk: ok, configuration: ok, privileges: ok },
      ...checks,
    },
  };
}

describe('troublesOf(), the problems shown on the overview,', () => {
  test('are empty if every part is healthy', () => {
    expect(troublesOf(health({}))).toEqual([]);
  });

  test('contain every unhealthy part with the page that fixes it, parts that are down first', () => {
    const checks = {
      dns: { status: 'degraded' },
      filters: { status: 'degraded', detail: 'not active: Ads' },
      upstreams: { status: 'degraded', detail: 'unhealthy: udp://192.0.2.1' },
      database: { status: 'down', detail: 'connection refused' },
    } as const;
    const troubles = troublesOf(health(checks));
    expect(troubles.map(({ tone, text, fix }) => [tone, text, fix?.to])).toEqual([
      ['fault', 'health.database.down', '/settings?part=database'],
      ['warning', 'health.dns.degraded', undefined],
      ['warning', 'health.upstreams.degraded', '/resolving'],
      ['warning', 'health.filters.degraded', '/lists'],
    ]);
    expect(troubles.map(({ detail }) => detail)).toEqual([
      ...['connection refused', null, 'unhealthy: udp://192.0.2.1', 'Ads'],
    ]);
  });

  test('contain a link or advice for each part', () => {
    const bad = { status: 'degraded' } as const;
    const { checks } = health({});
    const all = Object.fromEntries(Object.keys(checks).map((part) => [part, bad]));
    const troubles = troublesOf(health(all));
    expect(troubles).toHaveLength(Object.keys(checks).length);
    expect(troubles.filter(({ fix, help }) => fix === null && help === null)).toEqual([]);
  });
});

describe('portTrouble(), the problem of a DNS port other than 53,', () => {
  const reach = (dns: object): Parameters<typeof portTrouble>[0] => ({
    dns: { dns_port: 5300, is_chosen: false, port_53: 'taken', holder: null, command: null, ...dns },
    is_container: false,
    addresses: [],
    this_device: { address: '192.0.2.9', is_server: false, last_seen: null },
    devices: 0,
    names_active: 5,
  });

  test('links to the setup steps while devices cannot reach Weir', () => {
    expect(portTrouble(reach({}))).toMatchObject({
      tone: 'warning',
      filling: { port: '5300' },
      fix: { to: '/setup' },
    });
  });

  test('is null on port 53 and on a configured port', () => {
    expect(portTrouble(reach({ dns_port: 53, port_53: 'weir' }))).toBeNull();
    expect(portTrouble(reach({ is_chosen: true }))).toBeNull();
  });
});

describe('isNothingBlocked(), whether a warning is shown,', () => {
  test.each([
    [true, 0, true],
    [true, 1, false],
    [true, null, false],
    [false, 0, false],
    [undefined, 0, false],
  ])('is for enabled %j and %j blocked names: %j', (isEnabled, names, expected) => {
    expect(isNothingBlocked(isEnabled, names)).toBe(expected);
  });
});

describe('heldTrouble() and refusedTrouble(), problems to review,', () => {
  test('are null if there is nothing to review', () => {
    expect(heldTrouble([])).toBeNull();
    expect(refusedTrouble({ announced: null, refused: [] } as never, () => true)).toBeNull();
  });
});

describe('isRecent(), whether a refused network is shown,', () => {
  const refused = (lastRefused: string, isBlocked = false) => ({
    ...{ network: '203.0.113.0/24', last_client: '203.0.113.7', count: 1, is_blocked: isBlocked },
    ...{ first_refused: lastRefused, last_refused: lastRefused },
  });
  const nowMs = Date.parse('2026-01-15T12:00:00.000Z');

  test('is false for networks that were refused long ago or are blocked', () => {
    expect(isRecent(refused('2026-01-14T12:00:01.000Z'), nowMs)).toBe(true);
    expect(isRecent(refused('2026-01-14T12:00:00.000Z'), nowMs)).toBe(false);
    expect(isRecent(refused('2026-01-15T11:59:59.000Z', true), nowMs)).toBe(false);
  });
});
