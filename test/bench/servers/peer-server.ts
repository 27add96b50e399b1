// A server under test, as the harness sees it: whether it is installed, how it is configured and started. Each server
// has a file in this directory.
import type { Child, Launch } from '../process/child.ts';
import type { WeirApi } from './weir-api.ts';

/** Where one server lives while it is measured, and what it has to serve. */
export interface Room {
  /** The server's own empty folder. */
  dir: string;
  port: number;
  /** A second port, for servers with a web interface. */
  webPort: number;
  upstreamPort: number;
  /** The certificate authority of the upstream, which is asked over TLS as `UPSTREAM_NAME`; undefined = plain DNS. */
  upstreamCa: string | undefined;
  /** How many different questions its cache must hold with room to spare. */
  cacheEntries: number;
  queryLog: boolean;
  lists: ListFiles;
  /** Starts a program pinned to the measured core, with its output in `dir`. */
  start(launch: Launch): Promise<Child>;
}

/** The block list in every format, written when first asked for. */
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
  /** True when it can ask an upstream over TLS. */
  asksOverTls?: boolean;
  /** False for the echo server: it only shows what the system calls cost. */
  filters: boolean;
  /** True when it can write a query log. */
  logsQueries: boolean;
  installed(): Installed | undefined;
  /** Writes its configuration and says how to start it. */
  prepare(room: Room, binary: string): Launch;
  /** Runs once before the measured start, for example to load lists through an API. */
  firstRun?(room: Room, launch: Launch): Promise<void>;
  /** The group of a thread by its name, for servers whose threads do different work. */
  threadGroup?(comm: string): string;
  /** The workloads it takes part in; all if not given. */
  workloads?: readonly string[];
  /** Opens a session with the started server, for servers that can be asked about themselves. */
  connect?(room: Room, alive: () => void): Promise<WeirApi>;
}
