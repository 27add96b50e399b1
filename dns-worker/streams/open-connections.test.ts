import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { LINGER_MS, OpenConnections } from './open-connections.ts';
import type { OpenConnection } from './open-connections.ts';

/** A connection that records how it was ended. */
interface Noted extends OpenConnection {
  isRetired: boolean;
  ended: 'no' | 'finished' | 'destroyed';
}

let open: OpenConnections;
beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  open.close();
  jest.useRealTimers();
});

function add(idleMs: number, inFlight = 0): Noted {
  const connection: Noted = {
    lastActiveMs: performance.now() - idleMs,
    inFlight,
    ended: 'no',
    isRetired: false,
    retire: () => void (connection.isRetired = true),
    finish: () => void (connection.ended = 'finished'),
    destroy: () => {
      connection.ended = 'destroyed';
      open.delete(connection);
    },
  };
  open.add(connection);
  return connection;
}

describe('OpenConnections of a listener', () => {
  test('closes idle connections, and keeps active connections open', () => {
    open = new OpenConnections(1000);
    const [idle, active] = [add(5000, 1), add(0)];
    jest.advanceTimersByTime(1000);
    expect([idle.ended, active.ended]).toEqual(['destroyed', 'no']);
  });

  test('makeRoom() closes the connection that has been idle for longest with no query in flight', () => {
    open = new OpenConnections(60_000);
    const busy = add(9000, 1);
    const [longer, shorter, fresh] = [add(8000), add(7000), add(0)];
    open.makeRoom();
    expect([busy, longer, shorter, fresh].map(({ ended }) => ended)).toEqual(['no', 'destroyed', 'no', 'no']);
    open.makeRoom();
    open.makeRoom();
    expect([busy, shorter, fresh].map(({ ended }) => ended)).toEqual(['no', 'destroyed', 'no']);
  });

  test('close() with a delay asks clients to reconnect, and lets a connection finish when it pauses', () => {
    open = new OpenConnections(60_000);
    const [paused, inUse] = [add(5000), add(-600_000)];
    open.close(true);
    jest.advanceTimersByTime(100);
    expect([paused.ended, inUse.ended]).toEqual(['finished', 'no']);
    const late = add(0);
    expect([paused, inUse, late].map(({ isRetired }) => isRetired)).toEqual([true, true, true]);
    jest.advanceTimersByTime(LINGER_MS - 100);
    expect(inUse.ended).toBe('no');
    // A connection that never pauses is also finished.
    jest.advanceTimersByTime(100);
    expect(inUse.ended).toBe('finished');
  });

  test('close() lets connections finish their queries', () => {
    open = new OpenConnections(60_000);
    const [first, second] = [add(0, 1), add(0)];
    open.close();
    expect([first.ended, second.ended]).toEqual(['finished', 'finished']);
  });
});
