import { beforeEach, describe, expect, test } from '@jest/globals';
import { TestClock } from '../../../test/support/parts/test-clock.ts';
import type { PolicyGrant } from '../../policy/change/rows.ts';
import { GrantTimes } from './grant-times.ts';

let clock: TestClock;
let times: GrantTimes;

beforeEach(() => {
  clock = new TestClock();
  times = new GrantTimes(clock);
});

function grant(id: number, leftMs: number): PolicyGrant {
  const row = {
    domain: null,
    subdomains: true,
    action: 'allow',
    groupId: 1,
    clientId: null,
    mac: null,
    address: null,
  } as const;
  return { ...row, id, untilMs: clock.nowMs() + leftMs, createdMs: 0 };
}

/** Ids of active grants, ids of expired grants, and milliseconds until the next grant ends. */
function check(grants: readonly PolicyGrant[]): unknown {
  const { active, ended, nextEndMs } = times.check(grants);
  expect(times.active(grants)).toEqual(active);
  return [active.map(({ id }) => id), [...ended], nextEndMs];
}

describe('GrantTimes', () => {
  test('check() ends each grant at its time', () => {
    const grants = [grant(1, 1000), grant(2, 5000)];
    expect(check(grants)).toEqual([[1, 2], [], 1000]);
    clock.advance(999);
    expect(check(grants)).toEqual([[1, 2], [], 1]);
    clock.advance(1);
    expect(check(grants)).toEqual([[2], [1], 4000]);
    clock.advance(4000);
    expect(check(grants)).toEqual([[], [1, 2], Infinity]);
    expect(check([])).toEqual([[], [], Infinity]);
  });

  test('check() never ends a grant that does not expire, whatever the time', () => {
    const grants = [{ ...grant(1, 0), untilMs: null }, grant(2, 1000)];
    expect(check(grants)).toEqual([[1, 2], [], 1000]);
    clock.advance(1000);
    expect(check(grants)).toEqual([[1], [2], Infinity]);
    clock.wallMs += 1_000_000_000_000;
    expect(check(grants)).toEqual([[1], [2], Infinity]);
  });

  test('check() does not extend a grant when the clock is set back, however often', () => {
    const grants = [grant(1, 10_000)];
    check(grants);
    clock.wallMs -= 3_600_000;
    expect(check(grants)).toEqual([[1], [], 10_000]);
    clock.advance(10_000);
    expect(check(grants)).toEqual([[], [1], Infinity]);
    clock.wallMs -= 3_600_000;
    expect(check(grants)).toEqual([[], [1], Infinity]);
    // The grant was removed from the rows, but is still in the database.
    check([]);
    expect(check(grants)).toEqual([[], [1], Infinity]);
  });

  test('check() suspends a grant while the clock, set too far ahead, is past the end of the grant', () => {
    const grants = [grant(1, 10_000)];
    check(grants);
    clock.wallMs += 60_000;
    expect(check(grants)).toEqual([[], [], Infinity]);
    clock.wallMs -= 60_000;
    expect(check(grants)).toEqual([[1], [], 10_000]);
  });

  test('check() reports a grant neither as active nor as ended if the grant expired before it was first read', () => {
    const grants = [grant(1, -1), grant(2, 0)];
    expect(check(grants)).toEqual([[], [], Infinity]);
    clock.wallMs -= 1000;
    expect(check(grants)).toEqual([[1, 2], [], 999]);
  });
});
