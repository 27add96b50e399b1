import { afterEach, describe, expect, test } from '@jest/globals';
import { until } from '../../test/support/parts/until.ts';
import { OpenConnections } from './open-connections.ts';
import type { OpenConnection } from './open-connections.ts';

/** A connection that notes how it was ended. */
interface Noted extends OpenConnection {
  isRetired: boolean;
  ended: 'no' | 'finished' | 'destroyed';
}

let open: OpenConnections;
afterEach(() => open.close());

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

describe('OpenConnections', () => {
  test('closes what idles, and nothing else', async () => {
    open = new OpenConnections(1000);
    const [idle, active] = [add(5000, 1), add(-600_000)];
    await until(() => idle.ended === 'destroyed');
    expect(active.ended).toBe('no');
  });

  test('makeRoom() closes the connection that has idled longest with nothing in flight', () => {
    open = new OpenConnections(60_000);
    const busy = add(9000, 1);
    const [longer, shorter, fresh] = [add(8000), add(7000), add(0)];
    open.makeRoom();
    expect([busy, longer, shorter, fresh].map(({ ended }) => ended)).toEqual(['no', 'destroyed', 'no', 'no']);
    open.makeRoom();
    open.makeRoom();
    expect([busy, shorter, fresh].map(({ ended }) => ended)).toEqual(['no', 'destroyed', 'no']);
  });

  test('close() that lingers sends clients elsewhere, and lets a connection finish when it pauses', async () => {
    open = new OpenConnections(60_000);
    const [paused, inUse] = [add(5000), add(-600_000)];
    open.close(true);
    await until(() => paused.ended === 'finished');
    expect(inUse.ended).toBe('no');
    const late = add(0);
    expect([paused, inUse, late].map(({ isRetired }) => isRetired)).toEqual([true, true, true]);
    // One that never pauses is finished, too.
    await until(() => inUse.ended !== 'no');
  });

  test('close() lets connections finish', () => {
    open = new OpenConnections(60_000);
    const [first, second] = [add(0, 1), add(0)];
    open.close();
    expect([first.ended, second.ended]).toEqual(['finished', 'finished']);
  });
});
