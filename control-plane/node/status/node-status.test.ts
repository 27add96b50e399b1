import { expect, test } from '@jest/globals';
import type { Config } from '../../../config/schema.ts';
import type { StatusEvent } from '../../../shared/api/policy/status-api.ts';
import { SteeredClock } from '../../../test/support/parts/running-api.ts';
import { SMALL_BLOCKING } from '../../../test/support/parts/small-policy.ts';
import { emptySnapshot } from '../../policy/snapshot/publish/starting-state.ts';
import type { PublishedState } from '../../policy/snapshot/published-state.ts';
import { nodeStatusReader } from './node-status.ts';

const ok = { status: 'ok' } as const;
const NOTHING: PublishedState = emptySnapshot(SMALL_BLOCKING);

let open: number[] = [];

function readerOf(
  state: () => PublishedState,
  clock: SteeredClock,
): () => { event: StatusEvent; version: string } {
  const checks = {
    ...{ dns: ok, database: ok, upstreams: ok, filters: ok, nodes: ok, clock: ok, access: ok, web: ok },
    ...{ certificates: ok, disk: ok, configuration: ok, privileges: ok },
  };
  const configuration = { current: () => ({ blocking: { enabled: true } }) as unknown as Config };
  const health = { checks: () => checks };
  const unblockRequests = { ids: () => open };
  const parts = { version: '1', nodeName: 'node-a', startedAtMs: 0, health, unblockRequests };
  return nodeStatusReader({ ...parts, clock, configuration, publisher: { current: state } });
}

test('nodeStatusReader() returns a new version when the state changes, but not as time passes', () => {
  const clock = new SteeredClock();
  let state = NOTHING;
  const read = readerOf(() => state, clock);
  const first = read();
  expect(first.event).toMatchObject({
    blocking: { enabled: true, timer_secs: null },
    blocked_names: 0,
    policy_version: expect.any(Number),
  });
  clock.advanceSecs(5);
  expect(read().version).toBe(first.version);
  const pause = (secs: number): PublishedState['rows']['blockingSwitch'] => ({
    enabled: false,
    until: new Date(clock.nowMs() + secs * 1000).toISOString(),
  });
  state = { ...state, rows: { ...state.rows, blockingSwitch: pause(60) } };
  const paused = read();
  expect(paused.event.blocking).toMatchObject({ enabled: false, timer_secs: 60 });
  clock.advanceSecs(10);
  expect([read().version, read().event.blocking.timer_secs]).toEqual([paused.version, 50]);
  state = { ...state, rows: { ...state.rows, blockingSwitch: pause(60) } };
  const again = read();
  clock.advanceSecs(60);
  expect(new Set([first, paused, again].map(({ version }) => version)).size).toBe(3);
  expect(read().event.blocking.enabled).toBe(true);
});

test('nodeStatusReader() returns a new version when a device requests to unblock a name', () => {
  const read = readerOf(() => NOTHING, new SteeredClock());
  const before = read();
  open = [7];
  expect([before.event.unblock_requests, read().event.unblock_requests]).toEqual([[], [7]]);
  expect(read().version).not.toBe(before.version);
  open = [];
});

test('nodeStatusReader() counts names that services and domain rules block', () => {
  const rule = { id: 1, name: '', groupId: null } as const;
  const rows = {
    ...NOTHING.rows,
    managedDomains: [{ ...rule, domain: 'ads.example', suffix: false, action: 'deny' as const }],
    regexFilters: [{ ...rule, pattern: 'x', action: 'allow' as const }],
    blockedServices: [{ serviceId: 's', serviceName: 'S', groupId: 1, domains: ['s.example'], exact: [] }],
  };
  expect(readerOf(() => ({ ...NOTHING, rows }), new SteeredClock())().event.blocked_names).toBe(2);
});
