/** The servers that there are: those of `database.url`, or the embedded one. */
import pg from 'pg';
import type { ClientConfig } from 'pg';
import type { Logger } from '../../shared/log.ts';
import type { DataDirLock } from './data-dir-lock.ts';
import { createEmbeddedServer } from './embedded-server.ts';
import type { UpgradeState } from './major/major-upgrade.ts';
import type { PostgresAddress } from './postgres/postgres-address.ts';
import { FIRST_PRIORITY } from './postgres/process-priority.ts';
import { embeddedQueryRole, type QueryRole } from './roles/query-role.ts';

/** A server with a name that is safe to show. */
export interface DatabaseTarget {
  /** URL without its password, or `embedded`. */
  readonly name: string;
  /** Of the role that queries run as. */
  readonly config: ClientConfig;
  /** Of the role that owns the tables, and the other one as it sees it; undefined = one role does all. */
  readonly owner?: { readonly config: ClientConfig; readonly queries: QueryRole };
  /** The embedded server, whose processes run beside Weir and as its own. */
  readonly isOurs: boolean;
  /** Priority that those of its processes are counted from. */
  readonly firstPriority: number;
}

/** A target as plain data, for connections of another thread: for queries only. Holds a password. */
export interface SentTarget extends Omit<DatabaseTarget, 'config' | 'owner'> {
  readonly config: Omit<ClientConfig, 'types'>;
}

/** Milliseconds for a connection, its authentication included. */
const CONNECT_TIMEOUT_MS = 5000;
/** Milliseconds after which a statement that no client waits for any more is given up. */
const QUERY_TIMEOUT_MS = 120_000;

/** bigint as a number: counts and ids stay far below 2^53. Other types as in pg. */
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

/**
 * Targets of one or several URLs; a text may hold several with commas between. `ownerUrls`: of the role that owns the
 * tables, one for each, or none.
 */
export function parseDatabaseUrls(
  urls: string | readonly string[],
  ownerUrls: string | readonly string[] = [],
): DatabaseTarget[] {
  const owners = splitUrls(ownerUrls);
  return splitUrls(urls).map((url, place) => {
    const config = { ...COMMON, connectionString: url };
    const owner = owners[place];
    return {
      name: withoutPassword(url),
      config,
      ...(owner !== undefined && {
        owner: { config: { ...COMMON, connectionString: owner }, queries: roleOf(config) },
      }),
      isOurs: false,
      firstPriority: FIRST_PRIORITY,
    };
  });
}

function splitUrls(urls: string | readonly string[]): string[] {
  const list = typeof urls === 'string' ? [urls] : urls;
  return list
    .flatMap((text) => text.split(/,(?=\s*postgres(?:ql)?:\/\/)/))
    .map((text) => text.trim())
    .filter((text) => text !== '');
}

/** The role that a person has made, whose name pg finds in the URL or in the environment. */
function roleOf(config: ClientConfig): QueryRole {
  return { name: new pg.Client(config).user ?? '', password: null };
}

/** Target of the embedded server; `address` is that of the owner. */
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

/** The target as it is sent to another thread. */
export function toSentTarget({ config, owner: _owner, ...target }: DatabaseTarget): SentTarget {
  const { types: _, ...plain } = config;
  return { ...target, config: plain };
}

/** The target that was sent. */
export function fromSentTarget({ config, ...target }: SentTarget): DatabaseTarget {
  return { ...target, config: { ...COMMON, ...config } };
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

/** What targets are made from. */
export interface TargetOptions {
  /** `database.url`: empty = the embedded server. */
  readonly urls: string | readonly string[];
  /** `database.owner_url`: empty = the role of `urls` owns the tables. */
  readonly ownerUrls?: string | readonly string[];
  readonly lock: DataDirLock;
  readonly logger: Logger;
}

/** Finds targets: fixed URLs, or the embedded server, which is started if needed. */
export interface TargetSource {
  readonly name: string;
  targets(): Promise<readonly DatabaseTarget[]>;
  /** A move of the embedded server to another major version, while there is one. */
  upgrade(): UpgradeState | undefined;
  close(withinMs: number): Promise<void>;
}

/** The targets of `database.url` and `database.owner_url`; calls `onEnd` if the embedded server ends unexpectedly. */
export function targetSource(
  { urls, ownerUrls, lock, logger }: TargetOptions,
  onEnd: (reason: Error) => void,
): TargetSource {
  const fixed = parseDatabaseUrls(urls, ownerUrls);
  if (fixed.length > 0) {
    return {
      name: fixed.map(({ name }) => name).join(', '),
      targets: async () => fixed,
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
