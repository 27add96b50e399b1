import { describe, expect, test } from '@jest/globals';
import { SessionMemory } from './session-memory.ts';
import type { StoredSession } from './session-store.ts';

let nowMs = Date.UTC(2026, 0, 15);
const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };

function session(id: number, lifeMs = 86_400_000): StoredSession {
  const createdAt = new Date(nowMs);
  return {
    id,
    userId: 2,
    tokenId: null,
    username: 'ann',
    role: 'admin',
    clientIds: null,
    ipAddress: '192.0.2.1',
    userAgent: null,
    rememberMe: false,
    createdAt,
    lastSeenAt: createdAt,
    expiresAt: new Date(nowMs + lifeMs),
    idleSecs: null,
  };
}

const hash = (n: number): Buffer => Buffer.from([n >>> 8, n & 255]);

describe('SessionMemory, sessions cached by this node,', () => {
  test('returns recorded sessions for ten minutes', () => {
    const memory = new SessionMemory(clock);
    memory.note(hash(1), session(1));
    nowMs += 600_000;
    expect(memory.find(hash(1))?.id).toBe(1);
    expect(memory.find(hash(2))).toBeNull();
    nowMs += 1;
    expect(memory.find(hash(1))).toBeNull();
  });

  test('never returns a session after its end', () => {
    const memory = new SessionMemory(clock);
    memory.note(hash(1), session(1, 1000));
    nowMs += 1000;
    expect(memory.find(hash(1))).toBeNull();
  });

  test('counts the time during which the machine was suspended', () => {
    let asleepMs = 0;
    const memory = new SessionMemory({
      nowMs: () => nowMs + asleepMs,
      monotonicMs: () => nowMs,
      bootMs: () => nowMs + asleepMs,
    });
    memory.note(hash(1), session(1, 1000));
    asleepMs = 400;
    expect(memory.lifeLeftMs(hash(1))).toBe(600);
    asleepMs = 1000;
    expect(memory.find(hash(1))).toBeNull();
  });

  test('extends only sessions with an idle timeout at each use', () => {
    const memory = new SessionMemory(clock);
    const usedAgain = (id: number, idleSecs: number | null): void => {
      memory.note(hash(id), { ...session(id, 1000), idleSecs });
      nowMs += 900;
      memory.note(hash(id), { ...session(id, 1000), idleSecs });
      nowMs += 900;
    };
    usedAgain(1, 1);
    expect(memory.find(hash(1))?.id).toBe(1);
    usedAgain(2, null);
    expect(memory.find(hash(2))).toBeNull();
  });

  test('removes sessions that ended on this node or according to the database', () => {
    const memory = new SessionMemory(clock);
    for (const n of [1, 2, 3]) memory.note(hash(n), session(n));
    memory.note(hash(1), null);
    memory.remove(({ id }) => id === 2);
    expect([1, 2, 3].map((n) => memory.find(hash(n))?.id)).toEqual([undefined, undefined, 3]);
  });

  test('returns a session that may have ended on another node only after the database has confirmed it', () => {
    const memory = new SessionMemory(clock);
    for (const n of [1, 2]) memory.note(hash(n), session(n));
    memory.requireLookup();
    memory.note(hash(2), session(2));
    expect([1, 2].map((n) => memory.find(hash(n))?.id)).toEqual([undefined, 2]);
    expect(memory.lifeLeftMs(hash(1))).toBe(86_400_000);
  });

  test('keeps the thousand most recently used sessions', () => {
    const memory = new SessionMemory(clock);
    for (let n = 0; n < 1000; n++) memory.note(hash(n), session(n));
    memory.note(hash(0), session(0));
    memory.note(hash(1000), session(1000));
    expect([0, 1, 2, 1000].map((n) => memory.find(hash(n)) !== null)).toEqual([true, false, true, true]);
  });
});
