/**
 * Clients that are identified by a key, in the form that threads use. Only queries over TLS and HTTPS have keys, so
 * this memory is parsed for the first such query: threads that answer only UDP never parse it.
 * `shared/dns/client-key.ts` explains keys.
 */

import type { ExclusionBits } from '../query-log.ts';
import { admittedEntry, blockedEntry, withExclusion, withRecord } from './client-table.ts';

/** A client with a key. */
export interface KeyedClient {
  /** Key in lower case. */
  readonly key: string;
  /** Id of the client's row. */
  readonly clientId: number;
  /** Index of the client's record in the client table; 0 = no group is assigned to the client. */
  readonly record: number;
  /** Whether the key admits its client from everywhere (true) or from nowhere (false); null = the address decides. */
  readonly admits: boolean | null;
  /** Whether the client's queries are excluded from the log or from statistics, at any address. */
  readonly exclusion: ExclusionBits;
  /** Names that rules may use for the client: name, MAC and key, in lower case. */
  readonly names: readonly string[];
}

/** The entry (see `ClientTable`) of a client with a key, at an address whose own entry is `ofAddress`. */
export function keyedEntry({ record, admits, exclusion }: KeyedClient, ofAddress: number): number {
  const entry = withExclusion(record === 0 ? ofAddress : withRecord(ofAddress, record), exclusion);
  if (admits === null) return entry;
  return admits ? admittedEntry(entry) : blockedEntry(entry);
}

/** Byte at which the JSON starts, after a double that differs from build to build. */
const JSON_BYTE = 8;

/** Writes clients to memory; `build` is a random number. */
export function writeKeyedClients(clients: readonly KeyedClient[], build: number): SharedArrayBuffer {
  const text = Buffer.from(JSON.stringify(clients));
  const buffer = new SharedArrayBuffer(JSON_BYTE + text.length);
  new DataView(buffer).setFloat64(0, build, true);
  new Uint8Array(buffer, JSON_BYTE).set(text);
  return buffer;
}

interface Opened {
  readonly byKey: ReadonlyMap<string, KeyedClient>;
  readonly byId: ReadonlyMap<number, KeyedClient>;
  readonly admitsSome: boolean;
}

/** Read side of the memory. */
export class KeyedClients {
  private readonly build: number;
  private readonly buffer: SharedArrayBuffer;
  private opened: Opened | undefined;

  /** Reuses the opened tables of `before` if they are from the same build. */
  constructor(buffer: SharedArrayBuffer, before?: KeyedClients) {
    this.buffer = buffer;
    this.build = new DataView(buffer).getFloat64(0, true);
    if (before?.build === this.build) this.opened = before.opened;
  }

  /** The client with a key, in lower case; null if there is none. */
  find(key: string): KeyedClient | null {
    return this.open().byKey.get(key) ?? null;
  }

  /** Whether any key admits its client from everywhere. */
  get admitsSome(): boolean {
    return this.open().admitsSome;
  }

  /** The key of a client; '' if it has none. */
  keyOf(clientId: number): string {
    return this.open().byId.get(clientId)?.key ?? '';
  }

  private open(): Opened {
    this.opened ??= open(this.buffer);
    return this.opened;
  }
}

function open(buffer: SharedArrayBuffer): Opened {
  // TextDecoder does not accept shared memory, so copy the bytes first.
  const text = Buffer.from(new Uint8Array(buffer, JSON_BYTE)).toString('utf8');
  const clients = JSON.parse(text) as readonly KeyedClient[];
  return {
    byKey: new Map(clients.map((client) => [client.key, client])),
    byId: new Map(clients.map((client) => [client.clientId, client])),
    admitsSome: clients.some(({ admits }) => admits === true),
  };
}
