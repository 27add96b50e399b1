/** Second factors of a backup, but not the administrator's. */
import { type BackupKind, items } from './backup-kind.ts';

const FACTOR = items('username text, factor jsonb');
const OF_USER = `JOIN users u ON lower(u.username) = lower(v.username) AND u.id <> 1`;
/** The kind. */
export const secondFactors: BackupKind = {
  name: 'second_factors',
  key: ['username'],
  isFolded: true,
  read: `SELECT u.username, jsonb_build_object('secret', encode(f.secret, 'hex'), 'recovery_codes', (
      SELECT coalesce(jsonb_agg(encode(c.code_hash, 'hex') ORDER BY c.code_hash), '[]')
      FROM recovery_codes c WHERE c.user_id = f.user_id)) AS factor
    FROM second_factors f JOIN users u ON u.id = f.user_id
    WHERE f.confirmed_at IS NOT NULL AND u.id <> 1 ORDER BY lower(u.username)`,
  put: [
    // A code that was already used on this server is not accepted again.
    `INSERT INTO second_factors AS f (user_id, secret, confirmed_at)
     SELECT u.id, decode(v.factor ->> 'secret', 'hex'), now() FROM ${FACTOR} ${OF_USER}
     ON CONFLICT (user_id) DO UPDATE SET secret = excluded.secret, confirmed_at = excluded.confirmed_at,
       last_step = CASE WHEN f.secret = excluded.secret THEN f.last_step END`,
    `DELETE FROM recovery_codes c USING ${FACTOR} ${OF_USER} WHERE c.user_id = u.id`,
    `INSERT INTO recovery_codes (user_id, code_hash)
     SELECT DISTINCT u.id, decode(code, 'hex') FROM ${FACTOR} ${OF_USER},
       jsonb_array_elements_text(v.factor -> 'recovery_codes') AS code`,
  ],
  remove: [`DELETE FROM second_factors f USING ${FACTOR} ${OF_USER} WHERE f.user_id = u.id`],
};
