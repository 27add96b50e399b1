/** SQL of `sessions`. Handles hashes of secrets, never a secret. Role and name are those that the owner has now. */
import type { Role } from '../../../../shared/api/auth-api.ts';
import type { Queryable } from '../../../storage/db/database.ts';

/** Owner of a session: a user, or an API token that was used as a password. */
export type SessionOwner =
  { readonly userId: number; readonly tokenId: null } | { readonly userId: null; readonly tokenId: number };

/** A session as stored; its secret's hash stays in the database. */
export interface StoredSession {
  readonly id: number;
  readonly userId: number | null;
  readonly tokenId: number | null;
  /** Null = the administrator, whose name is in the configuration. */
  readonly username: string | null;
  readonly role: Role;
  /** Clients that are linked to a user of the role family; null for other roles. */
  readonly clientIds: readonly number[] | null;
  readonly ipAddress: string;
  readonly userAgent: string | null;
  readonly rememberMe: boolean;
  readonly createdAt: Date;
  readonly lastSeenAt: Date;
  readonly expiresAt: Date;
  /** Lifetime in seconds after each use; null = it ends at `expiresAt`. */
  readonly idleSecs: number | null;
}

/** Values of a new session. */
export interface NewSession extends Pick<
  StoredSession,
  'ipAddress' | 'userAgent' | 'rememberMe' | 'createdAt' | 'expiresAt' | 'idleSecs'
> {
  readonly secretHash: Buffer;
  readonly owner: SessionOwner;
}

/** Sessions whose owner exists and is enabled; all others are invalid. */
const LIVING = `SELECT s.id, s.user_id AS "userId", s.token_id AS "tokenId",
    coalesce(u.username, 'token ' || t.name) AS username, coalesce(u.role, t.role) AS role,
    CASE WHEN u.role = 'family' THEN
      ARRAY(SELECT client_id FROM user_clients WHERE user_id = u.id ORDER BY client_id) END AS "clientIds",
    host(s.ip_address) AS "ipAddress", s.user_agent AS "userAgent", s.remember_me AS "rememberMe",
    s.created_at AS "createdAt", s.last_seen_at AS "lastSeenAt", s.expires_at AS "expiresAt",
    s.idle_secs AS "idleSecs"
  FROM sessions AS s LEFT JOIN users AS u ON u.id = s.user_id LEFT JOIN api_tokens AS t ON t.id = s.token_id
  WHERE (u.enabled OR t.id IS NOT NULL)`;

type Times = Pick<StoredSession, 'createdAt' | 'lastSeenAt' | 'expiresAt'>;
const TIMES = `created_at AS "createdAt", last_seen_at AS "lastSeenAt", expires_at AS "expiresAt"`;

/** Stores a new session. */
export async function insertSession(tx: Queryable, session: NewSession): Promise<StoredSession> {
  const { rows } = await tx.query<{ id: number }>(
    `INSERT INTO sessions
       (secret_hash, user_id, token_id, ip_address, user_agent, remember_me, created_at, last_seen_at, expires_at,
        idle_secs)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $7, $8, $9) RETURNING id`,
    [
      session.secretHash,
      session.owner.userId,
      session.owner.tokenId,
      session.ipAddress,
      session.userAgent,
      session.rememberMe,
      session.createdAt,
      session.expiresAt,
      session.idleSecs,
    ],
  );
  return (await tx.query<StoredSession>(`${LIVING} AND s.id = $1`, [rows[0]!.id])).rows[0]!;
}

/** The session of a secret; it may have expired. */
export async function findSession(db: Queryable, secretHash: Buffer): Promise<StoredSession | null> {
  return (await db.query<StoredSession>(`${LIVING} AND s.secret_hash = $1`, [secretHash])).rows[0] ?? null;
}

/** Corrects times of a session that were written with a wrong clock; null if the session has ended. */
export async function redateSession(
  db: Queryable,
  session: StoredSession,
  now: Date,
  expiresAt: Date,
): Promise<StoredSession | null> {
  const text = `UPDATE sessions SET created_at = least(created_at, $2), last_seen_at = least(last_seen_at, $2),
      expires_at = $3 WHERE id = $1 RETURNING ${TIMES}`;
  return withTimes(session, (await db.query<Times>(text, [session.id, now, expiresAt])).rows[0]);
}

/** Records the use of a session and so extends it; null if the session has ended. */
export async function prolongSession(
  db: Queryable,
  session: StoredSession,
  now: Date,
  expiresAt: Date,
): Promise<StoredSession | null> {
  const text = `UPDATE sessions SET created_at = least(created_at, $2), last_seen_at = $2, expires_at = $3
      WHERE id = $1 RETURNING ${TIMES}`;
  return withTimes(session, (await db.query<Times>(text, [session.id, now, expiresAt])).rows[0]);
}

/** Deletes the sessions with an idle time except the `max` most recently used. */
export async function deleteSurplusIdleSessions(tx: Queryable, max: number): Promise<void> {
  await tx.query(
    `DELETE FROM sessions WHERE id IN (
       SELECT id FROM sessions WHERE idle_secs IS NOT NULL ORDER BY last_seen_at DESC, id DESC OFFSET $1)`,
    [max],
  );
}

/** All sessions that have not expired, newest first. */
export async function listSessions(db: Queryable, now: Date): Promise<StoredSession[]> {
  const text = `${LIVING} AND s.expires_at > $1 ORDER BY s.created_at DESC, s.id DESC`;
  return (await db.query<StoredSession>(text, [now])).rows;
}

/** Records the use of a session. */
export async function touchSession(db: Queryable, id: number, now: Date): Promise<void> {
  await db.query('UPDATE sessions SET last_seen_at = $2 WHERE id = $1', [id, now]);
}

/** A session, even an expired one, locked until the transaction ends; null if there is none. */
export async function lockSession(tx: Queryable, id: number): Promise<StoredSession | null> {
  return (await tx.query<StoredSession>(`${LIVING} AND s.id = $1 FOR UPDATE OF s`, [id])).rows[0] ?? null;
}

/** Ends a session. */
export async function deleteSession(tx: Queryable, id: number): Promise<void> {
  await tx.query('DELETE FROM sessions WHERE id = $1', [id]);
}

/** Ends the session of a secret, if there is one. */
export async function deleteSessionByHash(tx: Queryable, secretHash: Buffer): Promise<void> {
  await tx.query('DELETE FROM sessions WHERE secret_hash = $1', [secretHash]);
}

/** Ends all sessions of a user, except `keptId` if given. */
export async function deleteSessionsOfUser(
  tx: Queryable,
  userId: number,
  keptId: number | null = null,
): Promise<void> {
  await tx.query('DELETE FROM sessions WHERE user_id = $1 AND id IS DISTINCT FROM $2::integer', [
    userId,
    keptId,
  ]);
}

/** Ends all sessions that were opened with an API token. */
export async function deleteSessionsOfToken(tx: Queryable, tokenId: number): Promise<void> {
  await tx.query('DELETE FROM sessions WHERE token_id = $1', [tokenId]);
}

/** Deletes expired sessions; returns their number. */
export async function deleteExpiredSessions(db: Queryable, now: Date): Promise<number> {
  return (await db.query('DELETE FROM sessions WHERE expires_at <= $1', [now])).rowCount ?? 0;
}

function withTimes(session: StoredSession, times: Times | undefined): StoredSession | null {
  return times === undefined ? null : { ...session, ...times };
}
