/** A password as PostgreSQL keeps it, so that the password itself is in no statement, and in no log of statements. */
import { createHash, createHmac, pbkdf2, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';

/** As PostgreSQL makes them itself. */
const ITERATIONS = 4096;
const SALT_BYTES = 16;
const KEY_BYTES = 32;

/** The verifier of an ASCII password, in the form of `pg_authid.rolpassword` (RFC 5802 section 3, RFC 7677). */
export async function scramVerifier(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const salted = await promisify(pbkdf2)(password, salt, ITERATIONS, KEY_BYTES, 'sha256');
  const keyFor = (text: string): Buffer => createHmac('sha256', salted).update(text).digest();
  const stored = createHash('sha256').update(keyFor('Client Key')).digest('base64');
  const server = keyFor('Server Key').toString('base64');
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString('base64')}$${stored}:${server}`;
}
