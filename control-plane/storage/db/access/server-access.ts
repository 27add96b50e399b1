/**
 * Access to a server of `database.url`: its address, role, password file, and TLS with the modes of libpq (PostgreSQL
 * documentation, "SSL Support"). The URL itself is not passed to pg, because pg treats `require` and `verify-ca` as
 * `verify-full`, and prints a warning.
 */
import { readFileSync } from 'node:fs';
import { getCACertificates } from 'node:tls';
import type { ConnectionOptions } from 'node:tls';
import type { ClientConfig } from 'pg';
import { isSslMode, SSL_MODES, sslModeOf, sslRootCertOf } from '../../../../shared/net/postgres-url.ts';
import type { SslKeys, SslMode } from '../../../../shared/net/postgres-url.ts';
import { reasonOf } from '../../../../shared/errors.ts';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';

/** Error: a file that a connection needs cannot be used. The file may be available for the next connection. */
export class AccessFault extends Error {
  override readonly name = 'AccessFault';
}

/**
 * How to connect to a server, as plain data that can be sent to another thread. Contains the password unless the
 * password is in a file.
 */
export interface ServerAccess {
  readonly config: Omit<ClientConfig, 'types' | 'password' | 'ssl'> & { readonly password?: string };
  /** Path of the password file, which is read for each connection; empty = use the password in `config`. */
  readonly passwordFile: string;
  /** False = without TLS. */
  readonly tls: TlsParts | false;
}

/** TLS material of the connection, in PEM. */
interface TlsParts {
  readonly ca?: string | string[];
  readonly cert?: string;
  readonly key?: string;
  /** Whether the certificate must be issued by a known authority, and must contain the server's name. */
  readonly checks: 'nothing' | 'authority' | 'name';
}

/** Keys that apply to all URLs of a role. */
export interface AccessKeys extends SslKeys {
  readonly passwordFile: string;
}

/** Access according to the URL alone. */
export const BY_URL: AccessKeys = { passwordFile: '', sslmode: '', sslrootcert: '' };

const TLS_PARAMETERS = ['sslmode', 'ssl', 'sslrootcert', 'sslcert', 'sslkey', 'uselibpqcompat'];
/** Value of `sslrootcert` that means the certificate authorities of the machine. */
const OF_SYSTEM = 'system';

/** Reads a URL and the certificates named in it or by a key. @throws {AccessFault} naming a file that cannot be read */
export function serverAccess(url: string, keys: AccessKeys): ServerAccess {
  const parsed = new URL(url);
  const parameters = new Map(parsed.searchParams);
  for (const name of TLS_PARAMETERS) parameters.delete(name);
  const host = parameters.get('host') ?? decoded(parsed.hostname).replace(/^\[(.*)\]$/u, '$1');
  const port = parameters.get('port') ?? parsed.port;
  const given = {
    ...Object.fromEntries(parameters),
    host,
    port: port === '' ? undefined : Number(port),
    user: parameters.get('user') ?? decoded(parsed.username),
    password: parameters.get('password') ?? decoded(parsed.password),
    database: decoded(parsed.pathname.slice(1)),
  };
  // pg takes the remaining settings from the environment, such as PGUSER.
  const config = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ''));
  const tls = tlsOf(parsed, keys);
  // A Unix socket never uses TLS, whatever the mode, as in libpq.
  return { config, passwordFile: keys.passwordFile, tls: host.startsWith('/') ? false : tls };
}

/** The settings for a connection by pg. */
export function clientConfigOf({ config, passwordFile, tls }: ServerAccess): ClientConfig {
  return {
    ...config,
    ...(passwordFile !== '' && { password: () => passwordOf(passwordFile) }),
    // Always a new object, because pg hides the key in the object that it receives.
    ssl: tls && tlsOptions(tls),
  };
}

async function passwordOf(path: string): Promise<string> {
  try {
    return await readSecretFile(path);
  } catch (error) {
    throw new AccessFault(`could not read the password of the database: ${reasonOf(error)}`, {
      cause: error,
    });
  }
}

/** `PGSSLMODE` has the lowest precedence. */
function tlsOf(url: URL, keys: AccessKeys): TlsParts | false {
  const mode = sslModeOf(url, keys) ?? (process.env['PGSSLMODE'] || 'disable');
  if (!isSslMode(mode))
    throw new AccessFault(`sslmode ${mode} of PostgreSQL: expected ${SSL_MODES.join(', ')}`);
  if (mode === 'disable') return false;
  const root = sslRootCertOf(url, keys);
  const cert = url.searchParams.get('sslcert');
  const key = url.searchParams.get('sslkey');
  return {
    checks: checksOf(mode, root !== ''),
    ...(root !== '' && { ca: root === OF_SYSTEM ? getCACertificates('system') : pem('sslrootcert', root) }),
    ...(cert !== null && { cert: pem('sslcert', cert) }),
    ...(key !== null && { key: pem('sslkey', key) }),
  };
}

/** With a root certificate, `require` means `verify-ca`, as in libpq. */
function checksOf(mode: Exclude<SslMode, 'disable'>, hasRoot: boolean): TlsParts['checks'] {
  if (mode === 'verify-full') return 'name';
  if (hasRoot) return 'authority';
  if (mode === 'require') return 'nothing';
  throw new AccessFault('sslmode verify-ca of PostgreSQL needs database.sslrootcert');
}

function tlsOptions({ checks, ...files }: TlsParts): ConnectionOptions {
  return {
    ...files,
    rejectUnauthorized: checks !== 'nothing',
    ...(checks === 'authority' && { checkServerIdentity: () => undefined }),
  };
}

function pem(parameter: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new AccessFault(`could not read the ${parameter} of PostgreSQL: ${reasonOf(error)}`, {
      cause: error,
    });
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // The percent sign is not part of an escape sequence.
  }
}

/** Maximum size of the file in bytes. */
const MAX_BYTES = 65_536;
/** Permission bits of users other than the owner and the group. */
const OTHERS = 0o007;

/**
 * The first line of the file. @throws Error that names the file if it cannot be read, is accessible to all users, or is
 * empty
 */
export async function readSecretFile(path: string): Promise<string> {
  // Without O_NONBLOCK, opening a pipe would block.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const { mode, size } = await file.stat();
    if ((mode & OTHERS) !== 0) throw new Error(`${path} is accessible to every user; run chmod o-rwx`);
    if (size > MAX_BYTES) throw new Error(`${path} is longer than ${MAX_BYTES} bytes`);
    const [secret = ''] = (await file.readFile('utf8')).split(/\r?\n/u);
    if (secret === '') throw new Error(`the first line of ${path} is empty`);
    return secret;
  } finally {
    await file.close();
  }
}
