/** TLS settings in the URL of a PostgreSQL server and the keys of `[database]`, with the modes of libpq. */

/**
 * The modes of libpq that Weir accepts: all except `allow` and `prefer`, which fall back to a connection without TLS.
 */
export const SSL_MODES = ['disable', 'require', 'verify-ca', 'verify-full'] as const;

/** How a connection is secured. */
export type SslMode = (typeof SSL_MODES)[number];

/** The keys of `[database]` that apply to each URL in which the equivalent parameter is missing. */
export interface SslKeys {
  /** TLS mode; empty = absent. */
  readonly sslmode: SslMode | '';
  /** Path of the CA certificates; empty = absent. */
  readonly sslrootcert: string;
}

/** Values of the parameter `ssl`, which pg supports and libpq does not, and the modes they stand for. */
const BY_SSL: Readonly<Record<string, SslMode>> = {
  true: 'verify-full',
  '1': 'verify-full',
  false: 'disable',
  '0': 'disable',
};
/** Parameters that imply the strictest TLS mode if no mode is given. */
const MEANS_TLS = ['sslrootcert', 'sslcert', 'sslkey'];

/** TLS mode of the URL and the keys; null = none. A text that is not the name of a mode is returned unchanged. */
export function sslModeOf({ searchParams }: URL, keys: SslKeys): string | null {
  const inUrl = searchParams.get('sslmode');
  if (inUrl !== null) return inUrl;
  const ssl = searchParams.get('ssl');
  if (ssl !== null) return BY_SSL[ssl] ?? `ssl=${ssl}`;
  if (keys.sslmode !== '') return keys.sslmode;
  const isMeant = keys.sslrootcert !== '' || MEANS_TLS.some((name) => searchParams.has(name));
  return isMeant ? 'verify-full' : null;
}

/** Path of the CA certificates; empty = the certificates of Node.js. */
export function sslRootCertOf({ searchParams }: URL, { sslrootcert }: SslKeys): string {
  return searchParams.get('sslrootcert') ?? sslrootcert;
}

/** Whether the text is a mode. */
export function isSslMode(text: string): text is SslMode {
  return (SSL_MODES as readonly string[]).includes(text);
}

/** Keys of `[database]` that depend on each other. */
interface DatabaseKeys extends SslKeys {
  readonly url: readonly string[];
  readonly owner_url: readonly string[];
  readonly password_file: string;
  readonly owner_password_file: string;
}

/** A key with a wrong value, and the expected value. */
interface DatabaseFault {
  readonly key: string;
  readonly expected: string;
}

/** Finds conflicting keys; the faults do not quote URLs, which may contain passwords. */
export function databaseFaults(keys: DatabaseKeys): DatabaseFault[] {
  const faults: DatabaseFault[] = [];
  const refuse = (key: string, expected: string): void => void faults.push({ key, expected });
  if (![0, keys.url.length].includes(keys.owner_url.length))
    refuse('owner_url', 'one URL for each URL in database.url, or none');
  const roles = { url: 'password_file', owner_url: 'owner_password_file' } as const;
  for (const [name, file] of Object.entries(roles) as [keyof typeof roles, (typeof roles)['url']][]) {
    const urls = keys[name].map((url) => new URL(url));
    if (keys[file] !== '' && urls.some(({ password }) => password !== ''))
      refuse(file, `this, or a password in database.${name}`);
    for (const fault of urls.map((url) => sslFaultOf(url, keys))) if (fault !== null) refuse(name, fault);
  }
  return faults;
}

/** The expected value if the TLS settings of a URL are wrong; null = they are valid. */
function sslFaultOf(url: URL, keys: SslKeys): string | null {
  const mode = sslModeOf(url, keys);
  if (mode === null) return null;
  if (!isSslMode(mode)) return `sslmode to be one of ${SSL_MODES.join(', ')}`;
  if (mode === 'verify-ca' && sslRootCertOf(url, keys) === '')
    return 'database.sslrootcert with sslmode verify-ca: any site can get a certificate from a public CA';
  return null;
}
