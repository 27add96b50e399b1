// A server under test, as the bench sees it: whether it is installed, and how it is configured and started. Each server
// has a file in this directory.
import type { Child, Launch } from '../process/child.ts';
import type { WeirApi } from './weir-api.ts';

/** Environment of a measured server, and the list that it serves. */
export interface ServerEnvironment {
  /** The server's own empty folder. */
  dir: string;
  port: number;
  /** A second port, for servers with a web interface. */
  webPort: number;
  upstreamPort: number;
  /** The certificate authority of the upstream over TLS, which has the name `UPSTREAM_NAME`; undefined = plain DNS. */
  upstreamCa: string | undefined;
  /** Number of different questions that must easily fit in the cache. */
  cacheEntries: number;
  queryLog: boolean;
  lists: ListFiles;
  /** Starts a program pinned to the measured core, with its output in `dir`. */
  start(launch: Launch): Promise<Child>;
}

/** The block list in every format, written on first use. */
export interface ListFiles {
  names: readonly string[];
  file(format: ListFormat): string;
}

export type ListFormat = 'plain' | 'dnsmasq' | 'rpz' | 'unbound';

export interface Installed {
  binary: string;
  version: string;
}

/** Name in the certificate of an upstream over TLS. */
export const UPSTREAM_NAME = 'localhost';

export interface BenchServer {
  name: string;
  /** True if the server supports an upstream over TLS. */
  asksOverTls?: boolean;
  /** False for the echo server, which only shows the cost of the system calls. */
  filters: boolean;
  /** True if the server can write a query log. */
  logsQueries: boolean;
  installed(): Installed | undefined;
  /** Writes the server's configuration and returns how to start the server. */
  prepare(environment: ServerEnvironment, binary: string): Launch;
  /** Runs once before the measured start, for example to load lists through an API. */
  firstRun?(environment: ServerEnvironment, launch: Launch): Promise<void>;
  /** Maps the name of a thread to its group, for servers whose threads do different work. */
  threadGroup?(comm: string): string;
  /** Opens a session with the started server, for servers with an API. */
  connect?(environment: ServerEnvironment, alive: () => void): Promise<WeirApi>;
}
