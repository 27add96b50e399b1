import { describe, expect, test } from '@jest/globals';
import { answeredAtMs, standingOfAll, stateOf, uptimeSecsOf } from './node-standing.ts';
import type { ClusterNode } from './node-standing.ts';

const NOW = '2026-03-01T12:00:00.000Z';
const CORE: ClusterNode = {
  node: 'core',
  version: '1.4.0',
  address: '192.0.2.1',
  started_at: '2026-03-01T10:00:00.000Z',
  last_seen: NOW,
  snapshot_id: 7,
  policy_revision: 12,
  lag_ms: 0,
  qps: 3,
};
const EDGE: ClusterNode = { ...CORE, node: 'edge', last_seen: '2026-03-01T11:59:51.000Z' };
const SILENT: ClusterNode = { ...EDGE, node: 'attic', last_seen: '2026-03-01T11:59:00.000Z', lag_ms: 90_000 };
const LATE: ClusterNode = { ...EDGE, node: 'late', policy_revision: 11, lag_ms: 9_000 };

describe('answeredAtMs()', () => {
  test('is the moment of the node that answered, whatever the clock of the browser says', () => {
    expect(answeredAtMs([SILENT, CORE, EDGE])).toBe(Date.parse(NOW));
  });
});

describe('stateOf()', () => {
  test.each([
    [CORE, 'good'],
    [EDGE, 'good'],
    [{ ...EDGE, policy_revision: 11, lag_ms: 800 }, 'good'],
    [{ ...EDGE, policy_revision: null, lag_ms: null }, 'good'],
    [LATE, 'behind'],
    [SILENT, 'away'],
  ] as const)('%# is %s', (node, state) => {
    expect(stateOf(node, Date.parse(NOW))).toBe(state);
  });
});

describe('standingOfAll()', () => {
  test.each([
    [[CORE], { kind: 'alone', names: [] }],
    [[CORE, EDGE], { kind: 'agree', names: [] }],
    [[CORE, { ...EDGE, version: null }], { kind: 'agree', names: [] }],
    [[CORE, { ...EDGE, version: '1.3.0' }], { kind: 'mixed', names: ['1.3.0', '1.4.0'] }],
    [[CORE, LATE], { kind: 'behind', names: ['late'] }],
    [[CORE, LATE, SILENT], { kind: 'away', names: ['attic'] }],
  ])('%# names the worst', (nodes, standing) => {
    expect(standingOfAll(nodes)).toEqual(standing);
  });
});

describe('uptimeSecsOf()', () => {
  test('counts from the start, and says nothing of a node that may have ended', () => {
    const nowMs = Date.parse(NOW);
    expect([CORE, SILENT, { ...CORE, started_at: null }].map((node) => uptimeSecsOf(node, nowMs))).toEqual([
      7_200,
      null,
      null,
    ]);
  });
});
