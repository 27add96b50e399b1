/** Users in a backup, and the clients that are linked to them. */
import { type BackupKind, items } from './backup-kind.ts';

const USER = items('username text, display_name text, role text, enabled boolean, password_hash text');
const IS_USER = 'lower(u.username) = lower(v.username)';
export const users: BackupKind = {
  name: 'users',
  key: ['username'],
  isFolded: true,
  read: `SELECT username, display_name, role, enabled, password_hash FROM users WHERE id <> 1 ORDER BY lower(username)`,
  put: [
    `DELETE FROM sessions s USING users u, ${USER} WHERE s.user_id = u.id AND ${IS_USER}`,
    `INSERT INTO users (username, display_name, role, enabled, password_hash)
     SELECT v.username, v.display_name, v.role, v.enabled, v.password_hash FROM ${USER}
     ON CONFLICT (lower(username)) DO UPDATE SET username = excluded.username, display_name = excluded.display_name,
       role = excluded.role, enabled = excluded.enabled, password_hash = excluded.password_hash, updated_at = now()`,
  ],
  remove: [`DELETE FROM users u USING ${USER} WHERE ${IS_USER} AND u.id <> 1`],
};

/** SQL of the identifier of a client `c`: its MAC; without a MAC, its address; without both, its key. */
export const CLIENT_OF = 'coalesce(c.mac_address::text, host(c.ip_address), c.client_key)';

const USER_CLIENT = items('username text, client text');
const OF_LINK = `JOIN users u ON ${IS_USER} JOIN clients c ON ${CLIENT_OF} = v.client`;
export const userClients: BackupKind = {
  name: 'user_clients',
  key: ['username', 'client'],
  isFolded: true,
  read: `SELECT u.username, ${CLIENT_OF} AS client
    FROM user_clients t JOIN users u ON u.id = t.user_id JOIN clients c ON c.id = t.client_id
    ORDER BY lower(u.username), client`,
  put: [
    `INSERT INTO user_clients (user_id, client_id)
     SELECT u.id, c.id FROM ${USER_CLIENT} ${OF_LINK} WHERE u.role = 'family' ON CONFLICT DO NOTHING`,
  ],
  remove: [
    `DELETE FROM user_clients t USING ${USER_CLIENT} ${OF_LINK} WHERE t.user_id = u.id AND t.client_id = c.id`,
  ],
};
