/**
 * SQL of `login_failures`: failed logins per user name and client address. The failures are in the database, so that a
 * lockout applies to every node and across restarts. Attackers choose names and addresses, so the rows per address and
 * of the table are limited.
 */
import { clientNetwork } from '../../../shared/net/client-network.ts';
import type { Queryable } from '../../storage/db/database.ts';

/** Maximum number of rows of one address within a window; all further names share one row. */
const MAX_NAMES = 10;
/** The name in the shared row; real user names are never empty. */
const OTHER_NAMES = '';
/** Maximum number of rows of the table; beyond it, rows without a lock are deleted first, the oldest of them first. */
const MAX_ROWS = 10_000;

/** Source of counted failures. */
export interface LoginSource {
  readonly username: string;
  /** Client address, IPv6 as its /64. */
  readonly address: string;
}

/** The source of a login from `clientAddress`. */
export function loginSource(username: string, clientAddress: string): LoginSource {
  return { username, address: clientNetwork(clientAddress) };
}

/**
 * The source for which wrong codes of the second factor are counted, independent of the address: someone who knows the
 * password may have many addresses, and a code has only six digits.
 */
export function codeSource(username: string): LoginSource {
  return { username, address: 'second factor' };
}

/** The active rule. */
export interface LockoutRule {
  readonly now: Date;
  /** Failures before the lock. */
  readonly attempts: number;
  /** Duration of the lock after the last failure, and time for which a failure counts. */
  readonly windowMs: number;
}

/** Milliseconds until the source may try again: 0 = now. A failure dated in the future counts as a current one. */
export async function lockedForMs(db: Queryable, source: LoginSource, rule: LockoutRule): Promise<number> {
  await db.query('UPDATE login_failures SET last_at = $2 WHERE address = $1 AND last_at > $2', [
    source.address,
    rule.now,
  ]);
  const name = await countedName(db, source, rule);
  const { rows } = await db.query<{ last_at: Date }>(
    'SELECT last_at FROM login_failures WHERE username = $1 AND address = $2 AND failures >= $3',
    [name, source.address, rule.attempts],
  );
  if (rows[0] === undefined) return 0;
  return Math.max(0, rows[0].last_at.getTime() + rule.windowMs - rule.now.getTime());
}

/** Counts a wrong password. */
export async function countFailure(db: Queryable, source: LoginSource, rule: LockoutRule): Promise<void> {
  const name = await countedName(db, source, rule);
  const { rows } = await db.query<{ is_new: boolean }>(
    `INSERT INTO login_failures AS f (username, address, failures, last_at) VALUES ($1, $2, 1, $3)
     ON CONFLICT (username, address) DO UPDATE
       SET failures = CASE WHEN f.last_at <= $4 THEN 1 ELSE f.failures + 1 END, last_at = $3
     RETURNING xmax = 0 AS is_new`,
    [name, source.address, rule.now, windowStart(rule)],
  );
  if (rows[0]!.is_new) await deleteSurplus(db, rule);
}

/**
 * Deletes the row of a source that has logged in, with its count of failures. The row that names beyond the limit share
 * also counts failures of other names, so it is kept until its window has passed.
 */
export async function clearFailures(db: Queryable, source: LoginSource): Promise<void> {
  await db.query('DELETE FROM login_failures WHERE username = $1 AND address = $2', [
    source.username,
    source.address,
  ]);
}

/** Deletes failures that no longer count. */
export async function deletePassedFailures(db: Queryable, windowStart: Date): Promise<void> {
  await db.query('DELETE FROM login_failures WHERE last_at <= $1', [windowStart]);
}

/** The name of the row in which a source is counted. The name does not depend on whether the user exists. */
async function countedName(db: Queryable, source: LoginSource, rule: LockoutRule): Promise<string> {
  const { rows } = await db.query<{ is_known: boolean; names: number }>(
    `SELECT coalesce(bool_or(username = $2), false) AS is_known, count(*)::integer AS names
     FROM login_failures WHERE address = $1 AND last_at > $3 AND username <> $4`,
    [source.address, source.username, windowStart(rule), OTHER_NAMES],
  );
  const { is_known: isKnown, names } = rows[0]!;
  return isKnown || names < MAX_NAMES ? source.username : OTHER_NAMES;
}

async function deleteSurplus(db: Queryable, rule: LockoutRule): Promise<void> {
  const { rows } = await db.query<{ surplus: number }>(
    'SELECT count(*)::integer - $1::integer AS surplus FROM login_failures',
    [MAX_ROWS],
  );
  if (rows[0]!.surplus <= 0) return;
  await db.query(
    `DELETE FROM login_failures WHERE (username, address) IN (
       SELECT username, address FROM login_failures
       ORDER BY failures >= $1 AND last_at > $2, last_at LIMIT $3)`,
    [rule.attempts, windowStart(rule), rows[0]!.surplus],
  );
}

function windowStart({ now, windowMs }: LockoutRule): Date {
  return new Date(now.getTime() - windowMs);
}
