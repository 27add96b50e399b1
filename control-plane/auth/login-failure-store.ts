/**
 * SQL of `login_failures`: how often a user name was tried in vain from a client address. In the database,
 * so that a lockout holds on every node and over a restart.
 */
import { addressFromText, addressToText, isMappedIpv4 } from '../../shared/net/ip.ts';
import type { Queryable } from '../db/database.ts';

/** Whose failures are counted. */
export interface LoginSource {
  readonly username: string;
  /** Client address, IPv6 as its /64. */
  readonly address: string;
}

/** The source of a login from `clientAddress`: of IPv6 a client can take any address of its /64. */
export function loginSource(username: string, clientAddress: string): LoginSource {
  const bytes = addressFromText(clientAddress);
  if (bytes === null || isMappedIpv4(bytes)) return { username, address: clientAddress };
  return { username, address: `${addressToText(bytes.fill(0, 8))}/64` };
}

/** The rule in force. */
export interface LockoutRule {
  readonly now: Date;
  /** Failures before the lock. */
  readonly attempts: number;
  /** Life of the lock after the last failure, and of a failure in the count. */
  readonly windowMs: number;
}

/**
 * Counts an attempt as failed until `clearFailures` says otherwise, unless the source is locked. Returns
 * milliseconds to wait: 0 = go on. One statement, so that attempts at the same time count one by one.
 */
export async function countAttempt(db: Queryable, source: LoginSource, rule: LockoutRule): Promise<number> {
  const windowStart = new Date(rule.now.getTime() - rule.windowMs);
  const counted = await db.query(
    `INSERT INTO login_failures AS f (username, address, failures, last_at) VALUES ($1, $2, 1, $3)
     ON CONFLICT (username, address) DO UPDATE
       SET failures = CASE WHEN f.last_at <= $4 THEN 1 ELSE f.failures + 1 END, last_at = $3
       WHERE f.failures < $5 OR f.last_at <= $4`,
    [source.username, source.address, rule.now, windowStart, rule.attempts],
  );
  if (counted.rowCount === 1) return 0;
  const { rows } = await db.query<{ last_at: Date }>(
    'SELECT last_at FROM login_failures WHERE username = $1 AND address = $2',
    [source.username, source.address],
  );
  // No row: another login from the same source succeeded in between. It may try again at once.
  const lastMs = rows[0]?.last_at.getTime() ?? windowStart.getTime();
  return Math.max(1, lastMs + rule.windowMs - rule.now.getTime());
}

/** Forgets the failures of a source that has logged in. */
export async function clearFailures(db: Queryable, source: LoginSource): Promise<void> {
  await db.query('DELETE FROM login_failures WHERE username = $1 AND address = $2', [
    source.username,
    source.address,
  ]);
}

/** Removes what no longer counts. */
export async function deletePassedFailures(db: Queryable, windowStart: Date): Promise<void> {
  await db.query('DELETE FROM login_failures WHERE last_at <= $1', [windowStart]);
}
