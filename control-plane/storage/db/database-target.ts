/** The available servers: those of `database.url`, or the embedded one. */
import pg from 'pg';
import type { ClientConfig } from 'pg';
import type { Logger } from '../../../shared/log.ts';
import type { DataDirLock } from './data-dir-lock.ts';
import { createEmbeddedServer } from './embedded-server.ts';
import type { UpgradeState } from './major/major-upgrade.ts';
import type { Config } from '../../../config/schema.ts';
import type { SslKeys } from '../../../shared/net/postgres-url.ts';
import type { PostgresAddress } from './postgres/postgres-address.ts';
import { FIRST_PRIORITY } from './postgres/process-priority.ts';
import { embeddedQueryRole, type QueryRole } from './roles/query-role.ts';
import {
  AccessFault,
  BY_URL,
  clientConfigOf,
  serverAccess,
  type ServerAccess,
} from './access/server-access.ts';

/** A database server, with a name that contains no secret. */
export interface DatabaseTarget {
  /** URL without its password, or `embedded`. */
  readonly name: string;
  /** Connection settings of the role that runs queries. */
  readonly config: ClientConfig;
  /** Reason why no connection to the server can be attempted. */
  readonly fault?: AccessFault;
  /** Source of `config`, for a server other than the embedded one. */
  readonly access?: ServerAccess;
  /**
   * Connection settings of the role that owns the tables, and the role for queries that this owner sets up; undefined =
   * a single role is used for everything.
   */
  readonly owner?: { readonly config: ClientConfig; readonly queries: QueryRole };
  /** Whether this is the embedded server, whose processes Weir starts on this machine. */
  readonly isOurs: boolean;
  /** Base priority, relative to which the priorities of the server's processes are set. */
  readonly firstPriority: number;
}

/** A target as plain data, with which another thread opens connections for queries. May contain a password. */
export interface SentTarget extends Omit<DatabaseTarget, 'config' | 'owner' | 'fault'> {
  /** Connection settings in addition to `access`. */
  readonly config: Omit<ClientConfig, 'types'>;
}

/** Milliseconds for opening a connection, including authentication. */
const CONNECT_TIMEOUT_MS = 5000;
/** Milliseconds after which a statement is cancelled, because no client waits longer. */
const QUERY_TIMEOUT_MS = 120_000;

/** Reads bigint as a number, because counts and ids stay far below 2^53. Other types are read as in pg. */
const getTypeParser: typeof pg.types.getTypeParser = (oid, format) =>
  oid === pg.types.builtins.INT8 && format !== 'binary'
    ? Number
    : (pg.types.getTypeParser(oid, format) as (value: string) => unknown);

const COMMON: ClientConfig = {
  application_name: 'weir',
  connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  query_timeout: QUERY_TIMEOUT_MS,
  keepAlive: true,
  types: { getTypeParser },
};

/** Configuration keys that apply to all URLs. */
export interface UrlKeys extends SslKeys {
  /** `database.password_file` and `database.owner_password_file`; empty = the passwords of the URLs. */
  readonly passwordFile: string;
  readonly ownerPasswordFile: string;
}

/**
 * Targets of one or several URLs; a string may contain several URLs, separated by commas. `ownerUrls`: URLs for the
 * role that owns the tables, either one for each server or none at all.
 */
export function parseDatabaseUrls(
  urls: string | readonly string[],
  ownerUrls: string | readonly string[] = [],
  keys: UrlKeys = { ...BY_URL, ownerPasswordFile: '' },
): DatabaseTarget[] {
  const owners = splitUrls(ownerUrls);
  return splitUrls(urls).map((url, place) => {
    const common = { name: withoutPassword(url), isOurs: false, firstPriority: FIRST_PRIORITY };
    try {
      return { ...common, ...reach(url, owners[place], keys) };
    } catch (error) {
      if (!(error instanceof AccessFault)) throw error;
      // The other servers can still be used.
      return { ...common, config: COMMON, fault: error };
    }
  });
}

/** Access to a server of a URL. @throws {AccessFault} naming a certificate that cannot be read */
function reach(
  url: string,
  ownerUrl: string | undefined,
  keys: UrlKeys,
): Pick<DatabaseTarget, 'access' | 'config' | 'owner'> {
  const access = serverAccess(url, keys);
  const config = { ...COMMON, ...clientConfigOf(access) };
  if (ownerUrl === undefined) return { access, config };
  const ownerAccess = serverAccess(ownerUrl, { ...keys, passwordFile: keys.ownerPasswordFile });
  const owner = { config: { ...COMMON, ...clientConfigOf(ownerAccess) }, queries: roleOf(config) };
  return { access, config, owner };
}

function splitUrls(urls: string | readonly string[]): string[] {
  const list = typeof urls === 'string' ? [urls] : urls;
  return list
    .flatMap((text) => text.split(/,(?=\s*postgres(?:ql)?:\/\/)/))
    .map((text) => text.trim())
    .filter((text) => text !== '');
}

/** The role for queries, which an administrator has created; pg takes its name from the URL or the environment. */
function roleOf(config: ClientConfig): QueryRole {
  return { name: new pg.Client(config).user ?? '', password: null };
}

/** Target of the embedded server; `address` contains the settings of the owner. */
export function embeddedTarget(address: PostgresAddress): DatabaseTarget {
  const queries = embeddedQueryRole(address.password);
  const config = { ...COMMON, ...address };
  return {
    name: 'embedded',
    config: { ...config, user: queries.name, password: queries.password },
    owner: { config, queries },
    isOurs: true,
    firstPriority: FIRST_PRIORITY,
  };
}

/** Converts a target to the form that is sent to another thread. */
export function toSentTarget({
  config,
  owner: _owner,
  fault: _fault,
  ...target
}: DatabaseTarget): SentTarget {
  if (target.access !== undefined) return { ...target, config: {} };
  const { types: _, ...plain } = config;
  return { ...target, config: plain };
}

/** Converts a sent target back. */
export function fromSentTarget({ config, ...target }: SentTarget): DatabaseTarget {
  const { access } = target;
  return { ...target, config: { ...COMMON, ...(access && clientConfigOf(access)), ...config } };
}

function withoutPassword(url: string): string {
  try {
    const parsed = new URL(url);
    parsed.password = '';
    for (const key of [...parsed.searchParams.keys()]) {
      if (/pass/i.test(key)) parsed.searchParams.delete(key);
    }
    return parsed.toString();
  } catch {
    return 'postgres://(unreadable url)';
  }
}

export interface TargetOptions {
  /** `database.url`: empty = the embedded server. */
  readonly urls: string | readonly string[];
  /** `database.owner_url`: empty = the role of `urls` owns the tables. */
  readonly ownerUrls?: string | readonly string[];
  /** Keys in addition to the URLs; undefined = none. */
  readonly urlKeys?: UrlKeys;
  readonly lock: DataDirLock;
  readonly logger: Logger;
}

/** Finds targets: fixed URLs, or the embedded server, which is started if needed. */
export interface TargetSource {
  readonly name: string;
  targets(): Promise<readonly DatabaseTarget[]>;
  /** State of the embedded server's upgrade to another major version, if one is in progress. */
  upgrade(): UpgradeState | undefined;
  close(withinMs: number): Promise<void>;
}

/** Converts the configuration to database options. */
export function databaseOptionsOf(
  database: Config['database'],
): Pick<TargetOptions, 'urls' | 'ownerUrls' | 'urlKeys'> {
  const {
    sslmode,
    sslrootcert,
    password_file: passwordFile,
    owner_password_file: ownerPasswordFile,
  } = database;
  return {
    urls: database.url,
    ownerUrls: database.owner_url,
    urlKeys: { sslmode, sslrootcert, passwordFile, ownerPasswordFile },
  };
}

/** The targets of `database.url` and `database.owner_url`; calls `onEnd` if the embedded server ends unexpectedly. */
export function targetSource(
  { urls, ownerUrls, urlKeys, lock, logger }: TargetOptions,
  onEnd: (reason: Error) => void,
): TargetSource {
  const names = splitUrls(urls).map(withoutPassword);
  if (names.length > 0) {
    return {
      name: names.join(', '),
      // Certificates are read for each attempt, because they may have been renewed.
      targets: async () => parseDatabaseUrls(urls, ownerUrls, urlKeys),
      upgrade: () => undefined,
      close: async () => undefined,
    };
  }
  const server = createEmbeddedServer(lock, logger, onEnd);
  return {
    name: 'embedded',
    targets: async () => [embeddedTarget(await server.ensureRunning())],
    upgrade: () => server.upgrade(),
    close: (withinMs) => server.stop(withinMs),
  };
}
