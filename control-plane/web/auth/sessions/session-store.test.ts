import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTestDatabase, type TestDatabase } from '../../../../test/support/parts/test-database.ts';
import * as sessions from './session-store.ts';

const NOW_MS = Date.UTC(2026, 0, 15, 12);

let own: TestDatabase;
beforeAll(async () => {
  own = await startTestDatabase();
});
afterAll(() => own.stop());

async function insert(place: number, idleSecs: number | null): Promise<sessions.StoredSession> {
  return sessions.insertSession(own.database, {
    secretHash: Buffer.from([place]),
    owner: { userId: 1, tokenId: null },
    ipAddress: '192.0.2.1',
    userAgent: null,
    rememberMe: false,
    createdAt: new Date(NOW_MS + place),
    expiresAt: new Date(NOW_MS + 1_800_000),
    idleSecs,
  });
}

test('deleteSurplusIdleSessions() keeps the sessions used last, and all sessions without idle timeout', async () => {
  const rows = [await insert(1, 1800), await insert(2, null), await insert(3, 1800), await insert(4, 1800)];
  const usedAt = new Date(NOW_MS + 60_000);
  const expiresAt = new Date(NOW_MS + 1_860_000);
  expect(await sessions.prolongSession(own.database, rows[0]!, usedAt, expiresAt)).toMatchObject({
    lastSeenAt: usedAt,
    expiresAt,
    idleSecs: 1800,
  });
  await sessions.deleteSurplusIdleSessions(own.database, 2);
  const left = await sessions.listSessions(own.database, new Date(NOW_MS));
  expect(left.map(({ id }) => id)).toEqual([rows[3], rows[1], rows[0]].map((row) => row!.id));
  expect(await sessions.prolongSession(own.database, rows[2]!, usedAt, expiresAt)).toBeNull();
});
