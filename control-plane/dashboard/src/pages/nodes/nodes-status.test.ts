import { describe, expect, test } from '@jest/globals';
import { answeredAtMs, notesOf, stateOf, statusOfAll, uptimeSecsOf } from './nodes-status.ts';
import type { ClusterNode } from './nodes-status.ts';

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
  presence: 'live',
  state: 'ready',
  applied_at: null,
  rows_lost: 0,
  rows_missing: 0,
  rows_missing_is_minimum: false,
  rows_spooled: 0,
  clock_offset_ms: 3,
  upstreams: null,
  cache: null,
  drift: [],
};
const EDGE: ClusterNode = { ...CORE, node: 'edge', last_seen: '2026-03-01T11:59:51.000Z' };
const SILENT: ClusterNode = { ...EDGE, node: 'attic', presence: 'gone', lag_ms: 90_000 };
const SLOW: ClusterNode = { ...EDGE, node: 'slow', presence: 'late' };
const LATE: ClusterNode = { ...EDGE, node: 'late', policy_revision: 11, lag_ms: 9_000 };

describe('answeredAtMs(), the time of a response with all nodes,', () => {
  test("is the time of the node that responded, not of the browser's clock", () => {
    expect(answeredAtMs([SILENT, CORE, EDGE])).toBe(Date.parse(NOW));
  });
});

describe('stateOf(), which returns the state of a cluster node,', () => {
  test.each([
    [CORE, 'good'],
    [EDGE, 'good'],
    [{ ...EDGE, policy_revision: 11, lag_ms: 800 }, 'good'],
    [{ ...EDGE, policy_revision: null, lag_ms: null }, 'good'],
    [LATE, 'behind'],
    [SILENT, 'away'],
    [SLOW, 'late'],
    [{ ...LATE, state: 'starting' }, 'starting'],
    [{ ...EDGE, state: 'draining' }, 'draining'],
  ] as const)('for node %# returns %s', (node, state) => {
    expect(stateOf(node)).toBe(state);
  });
});

describe('statusOfAll(), the state of all nodes together,', () => {
  test.each([
    [[CORE], { kind: 'alone', names: [] }],
    [[CORE, EDGE], { kind: 'agree', names: [] }],
    [[CORE, { ...EDGE, version: null }], { kind: 'agree', names: [] }],
    [[CORE, { ...EDGE, version: '1.3.0' }], { kind: 'mixed', names: ['1.3.0', '1.4.0'] }],
    [[CORE, LATE], { kind: 'behind', names: ['late'] }],
    [[CORE, LATE, SLOW], { kind: 'late', names: ['slow'] }],
    [[CORE, LATE, SILENT], { kind: 'away', names: ['attic'] }],
  ])('for the nodes %# is the worst of their states', (nodes, status) => {
    expect(statusOfAll(nodes)).toEqual(status);
  });
});

describe('notesOf(), the notes about a node,', () => {
  test('lists lost log rows, a wrong clock and configuration keys that differ on the node', () => {
    const nothing = { rowsLost: 0, rowsMissing: 0, isMissingMinimum: false, clockSecs: 0, drift: [] };
    expect([notesOf(CORE), notesOf({ ...CORE, rows_lost: null, drift: null })]).toEqual([nothing, nothing]);
    const odd = {
      ...CORE,
      rows_lost: 7,
      rows_missing: 3,
      rows_missing_is_minimum: true,
      clock_offset_ms: -3_600,
      drift: ['cache.max_bytes'],
    };
    expect(notesOf(odd)).toEqual({
      rowsLost: 7,
      rowsMissing: 3,
      isMissingMinimum: true,
      clockSecs: -4,
      drift: ['cache.max_bytes'],
    });
  });
});

describe('uptimeSecsOf(), the uptime of a node,', () => {
  test('is the time since the start, and null for a node that may have stopped', () => {
    const nowMs = Date.parse(NOW);
    expect([CORE, SILENT, { ...CORE, started_at: null }].map((node) => uptimeSecsOf(node, nowMs))).toEqual([
      7_200,
      null,
      null,
    ]);
  });
});
