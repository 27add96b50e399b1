/** SQL of `sessions`. Handles hashes of secrets, never a secret. */
import type { Role } from '../../shared/api/auth-api.ts';
import type { Queryable } from '../db/database.ts';

/** A session as stored; its secret's hash stays in the database. */
export interface StoredSession {
  readonly id: number;
  readonly username: string;
  readonly role: Role;
  readonly ipAddress: string;
  readonly userAgent: string | null;
  readonly rememberMe: boolean;
  readonly createdAt: Date;
  readonly lastSeenAt: Date;
  readonly expiresAt: Date;
  /** Seconds that it lives after each use; null = it ends at `expiresAt`. */
  readonly idleSecs: number | null;
}

/** What a new session is made of. */
export interface NewSession extends Omit<StoredSession, 'id' | 'lastSeenAt'> {
  readonly secretHash: Buffer;
}

const COLUMNS = `id, username, role, host(ip_address) AS "ipAddress", user_agent AS "userAgent",
  remember_me AS "rememberMe", created_at AS "createdAt", last_seen_at AS "lastSeenAt", expires_at AS "expiresAt",
  idle_secs AS "idleSecs"`;

/** Stores a new session. */
export async function insertSession(tx: Queryable, session: NewSession): Promise<StoredSession> {
  const { rows } = await tx.query<StoredSession>(
    `INSERT INTO sessions
       (secret_hash, username, role, ip_address, user_agent, remember_me, created_at, last_seen_at, expires_at,
        idle_secs)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $7, $8, $9) RETURNING ${COLUMNS}`,
    [
      session.secretHash,
      session.username,
      session.role,
      session.ipAddress,
      session.userAgent,
      session.rememberMe,
      session.createdAt,
      session.expiresAt,
      session.idleSecs,
    ],
  );
  return rows[0]!;
}

/** The session of a secret; it may be over. */
export async function findSession(db: Queryable, secretHash: Buffer): Promise<StoredSession | null> {
  const text = `SELECT ${COLUMNS} FROM sessions WHERE secret_hash = $1`;
  return (await db.query<StoredSession>(text, [secretHash])).rows[0] ?? null;
}

/** Corrects times of a session that a wrong clock has written. */
export async function redateSession(
  db: Queryable,
  id: number,
  now: Date,
  expiresAt: Date,
): Promise<StoredSession | null> {
  const text = `UPDATE sessions SET created_at = least(created_at, $2), last_seen_at = least(last_seen_at, $2),
      expires_at = $3 WHERE id = $1 RETURNING ${COLUMNS}`;
  return (await db.query<StoredSession>(text, [id, now, expiresAt])).rows[0] ?? null;
}

/** Records the use of a session that lives on with it; null if it has ended meanwhile. */
export async function prolongSession(
  db: Queryable,
  id: number,
  now: Date,
  expiresAt: Date,
): Promise<StoredSession | null> {
  const text = `UPDATE sessions SET created_at = least(created_at, $2), last_seen_at = $2, expires_at = $3
      WHERE id = $1 RETURNING ${COLUMNS}`;
  return (await db.query<StoredSession>(text, [id, now, expiresAt])).rows[0] ?? null;
}

/** Removes the sessions with an idle time beyond the `most` that were used last. */
export async function deleteSurplusIdleSessions(tx: Queryable, most: number): Promise<void> {
  await tx.query(
    `DELETE FROM sessions WHERE id IN (
       SELECT id FROM sessions WHERE idle_secs IS NOT NULL ORDER BY last_seen_at DESC, id DESC OFFSET $1)`,
    [most],
  );
}

/** All sessions that are not over, newest first. */
export async function listSessions(db: Queryable, now: Date): Promise<StoredSession[]> {
  const text = `SELECT ${COLUMNS} FROM sessions WHERE expires_at > $1 ORDER BY created_at DESC, id DESC`;
  return (await db.query<StoredSession>(text, [now])).rows;
}

/** Records the use of a session. */
export async function touchSession(db: Queryable, id: number, now: Date): Promise<void> {
  await db.query('UPDATE sessions SET last_seen_at = $2 WHERE id = $1', [id, now]);
}

/** Ends a session, even an expired one; false if there is none. */
export async function deleteSession(tx: Queryable, id: number): Promise<boolean> {
  return (await tx.query('DELETE FROM sessions WHERE id = $1', [id])).rowCount === 1;
}

/** Ends the session of a secret, if there is one. */
export async function deleteSessionByHash(tx: Queryable, secretHash: Buffer): Promise<void> {
  await tx.query('DELETE FROM sessions WHERE secret_hash = $1', [secretHash]);
}

/** Ends all sessions of a user, but `keptId` where it is given. */
export async function deleteSessionsOfUser(
  tx: Queryable,
  username: string,
  keptId: number | null,
): Promise<void> {
  await tx.query('DELETE FROM sessions WHERE username = $1 AND id IS DISTINCT FROM $2::integer', [
    username,
    keptId,
  ]);
}

/** Removes the sessions that are over; returns how many. */
export async function deleteExpiredSessions(db: Queryable, now: Date): Promise<number> {
  return (await db.query('DELETE FROM sessions WHERE expires_at <= $1', [now])).rowCount ?? 0;
}
