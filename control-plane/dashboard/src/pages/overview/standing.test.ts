import { describe, expect, test } from '@jest/globals';
import { standingOf } from './standing.ts';
import type { Health } from './standing.ts';

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
      ...{ certificates: ok, disk: ok, configuration: ok, privileges: ok },
      ...checks,
    },
  };
}

describe('standingOf()', () => {
  test('is good where every part is', () => {
    expect(standingOf(health({}))).toEqual({ tone: 'good', text: 'health.good', detail: null });
  });

  test('names what is down before what is only degraded', () => {
    const checks = {
      dns: { status: 'degraded' },
      database: { status: 'down', detail: 'connection refused' },
    } as const;
    expect(standingOf(health(checks))).toEqual({
      tone: 'fault',
      text: 'health.database.down',
      detail: 'connection refused',
    });
  });

  test('names of two parts the one that people notice first', () => {
    const checks = { filters: { status: 'degraded' }, upstreams: { status: 'degraded' } } as const;
    expect(standingOf(health(checks)).text).toBe('health.upstreams.degraded');
  });
});
