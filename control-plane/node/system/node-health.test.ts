import { describe, expect, test } from '@jest/globals';
import { NOTHING_KNOWN } from '../../../shared/policy/hardening-settings.ts';
import type { UpstreamReport } from '../../../shared/threads/messages.ts';
import {
  clockCheck,
  databaseCheck,
  filtersCheck,
  nodesCheck,
  privilegesCheck,
  upstreamsCheck,
} from './node-health.ts';

function report(status: UpstreamReport['status'], address: string, poolName = 'main'): UpstreamReport {
  return {
    address,
    transport: 'udp',
    poolName,
    strategy: 'Parallel',
    status,
    queries: 0,
    failures: 0,
    consecutiveFailures: 0,
    lastError: null,
    latenciesMs: new Float32Array(0),
    latencyCounts: { counts: [], sumMs: 0 },
    resolved: [],
    supports: NOTHING_KNOWN,
    removesSignatures: false,
  };
}

test('databaseCheck() warns about a role with more rights than needed, and stays ok', () => {
  const excess = 'queries run as a superuser';
  const status = () => ({ state: 'up', server: 'postgres://db.example', error: null, excess }) as const;
  expect(databaseCheck({ status }, null)).toEqual({ status: 'ok', detail: excess });
});

describe('filtersCheck()', () => {
  const row = (id: number, enabled = true) => ({ id, name: `List ${id}`, enabled });
  const publisher = (compiled: readonly (readonly [id: number, fault: string | null])[], rows: object[]) => {
    const sources = compiled.map(([id, fault]) => ({ id, statistics: { fault } }));
    const state = { compiled: { sources }, rows: { sources: rows } };
    return { current: () => state } as unknown as Parameters<typeof filtersCheck>[0];
  };

  test('is ok while each enabled list is active', () => {
    expect(filtersCheck(publisher([[1, null]], [row(1), row(2, false)]))).toEqual({ status: 'ok' });
  });

  test('names the enabled lists that are missing or have an error', () => {
    const rows = [row(1), row(2), row(3)];
    const detail = 'not active: List 2, List 3';
    expect(
      filtersCheck(
        publisher(
          [
            [1, null],
            [2, 'empty'],
          ],
          rows,
        ),
      ),
    ).toEqual({ status: 'degraded', detail });
  });

  test('names five lists if many are not active', () => {
    const rows = [1, 2, 3, 4, 5, 6, 7].map((id) => row(id));
    const detail = 'not active: List 1, List 2, List 3, List 4, List 5 and 2 more';
    expect(filtersCheck(publisher([], rows))).toEqual({ status: 'degraded', detail });
  });
});

describe('upstreamsCheck()', () => {
  const away = report('Unhealthy', '192.0.2.1');

  test('is degraded while a server of a pool is down, and down when all servers are', () => {
    const left = report('Unknown', '192.0.2.2');
    expect(upstreamsCheck([{ pools: [left], zones: [] }])).toEqual({ status: 'ok' });
    const detail = 'unhealthy: 192.0.2.1';
    expect(upstreamsCheck([{ pools: [away, left], zones: [] }])).toEqual({ status: 'degraded', detail });
    expect(upstreamsCheck([{ pools: [away], zones: [] }])).toEqual({ status: 'down', detail });
  });

  test('is degraded by a server that removes DNSSEC signatures', () => {
    const removing = { ...report('Healthy', '192.0.2.1'), removesSignatures: true };
    const left = report('Healthy', '192.0.2.2');
    expect(upstreamsCheck([{ pools: [removing, left], zones: [] }])).toEqual({
      status: 'degraded',
      detail: 'without DNSSEC signatures: 192.0.2.1',
    });
  });

  test('reports servers of forward zones without changing its status', () => {
    const zones = [report('Unhealthy', '192.0.2.53', 'corp.example.org')];
    const detail = 'forward zones: unhealthy: 192.0.2.53 of corp.example.org';
    const well = { pools: [report('Healthy', '192.0.2.2')], zones };
    expect(upstreamsCheck([well, well])).toEqual({ status: 'ok', detail });
    const healthyZone = [report('Healthy', '192.0.2.54', 'lab.example.org')];
    expect(upstreamsCheck([{ pools: [away], zones: healthyZone }])).toMatchObject({ status: 'down' });
    expect(upstreamsCheck([{ pools: [away], zones }])).toEqual({
      status: 'down',
      detail: `unhealthy: 192.0.2.1; ${detail}`,
    });
  });
});

describe('nodesCheck()', () => {
  test('names nodes with problems, and nodes with a different version', () => {
    const inTrouble = [
      { node: 'a', isSilent: true },
      { node: 'b', isSilent: false },
    ];
    const otherVersions = [{ node: 'b', version: '2' }];
    expect(nodesCheck({ inTrouble: [], otherVersions: [], version: '1' })).toEqual({ status: 'ok' });
    expect(nodesCheck({ inTrouble, otherVersions, version: '1' })).toEqual({
      status: 'degraded',
      detail: 'a is silent, b has an older policy, versions differ: b runs 2, this node 1',
    });
  });
});

describe('clockCheck()', () => {
  test.each([
    [null, null, undefined],
    [null, -2000, undefined],
    [null, 2600, 'the clock is 2.6 s ahead of that of the database'],
    [null, -3000, 'the clock is 3.0 s behind that of the database'],
    ['wrong', 3000, 'wrong'],
  ])('with the fault %s and an offset of %s ms reports %s', (trouble, aheadMs, detail) => {
    const check = clockCheck(trouble, aheadMs);
    expect(check).toEqual(detail === undefined ? { status: 'ok' } : { status: 'degraded', detail });
  });
});

test('privilegesCheck() reports that Weir runs as root, and stays ok', () => {
  expect(privilegesCheck(1000)).toEqual({ status: 'ok' });
  expect(privilegesCheck(0)).toMatchObject({ status: 'ok', detail: expect.stringContaining('runs as root') });
});
