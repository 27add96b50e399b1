/**
 * Distinct clients of a block that is being filled: their addresses, truncated to the stored part, their groups, and
 * the ids of clients that identified themselves by their keys.
 */
import { ADDRESS_SIZE, addressToText, addressWord } from '../../../shared/net/ip.ts';
import type { QueryLogRow } from '../rows/row.ts';
import type { ViewedBytes } from './viewed-bytes.ts';
import { WordDictionary } from './word-dictionary.ts';

/**
 * A client as a tuple of numbers: four words of its address, then its group. If the client identified itself, the group
 * is replaced by -1 minus its index in the list of such clients.
 */
const ADDRESS_WORDS = 4;
const GROUP_WORD = 4;
/** Entry of a client that identified itself: its id, then its group. */
const KEYED_ID_WORD = 0;
const KEYED_GROUP_WORD = 1;
/** Third word of an IPv4 address that is stored as ::ffff:a.b.c.d. */
const MAPPED = 0xffff;

/** Parts of client identities that are stored. */
export interface StoredClientParts {
  /** Number of leading bytes that are stored of an IPv4 and of an IPv6 address; the rest becomes zero. */
  readonly ipv4Bytes: number;
  readonly ipv6Bytes: number;
  /** Whether ids of clients that identified themselves are stored. */
  readonly clientIds: boolean;
}

/** A client of a stored block. */
export interface RepeatedClient {
  /** 16 bytes. */
  readonly address: Uint8Array;
  readonly groupId: number;
  /** 0 = the client did not identify itself. */
  readonly clientId: number;
}

/** Clients in order of arrival, at most 65,535. */
export class ClientDictionary {
  private readonly clients = new WordDictionary();
  private readonly keyed = new WordDictionary();
  private readonly address = new Uint8Array(ADDRESS_SIZE);
  private readonly addressView = new DataView(this.address.buffer);

  get size(): number {
    return this.clients.size;
  }

  /** Index of the client of a row; adds the client if it is missing. `source` is the row's memory. */
  place(row: QueryLogRow, { view }: ViewedBytes, kept: StoredClientParts): number {
    const { client, clientId, groupId } = row;
    const { at } = client;
    const group = this.groupWord(groupId, kept.clientIds ? clientId : 0);
    if (client.length === 4) return this.ipv4Place(view.getInt32(at), group, kept);
    const a = view.getInt32(at);
    const b = view.getInt32(at + 4);
    const c = view.getInt32(at + 8);
    const d = view.getInt32(at + 12);
    if (a === 0 && b === 0 && c === MAPPED) return this.ipv4Place(d, group, kept);
    const { ipv6Bytes } = kept;
    return this.clients.place(
      a & leadingBytes(ipv6Bytes),
      b & leadingBytes(ipv6Bytes - 4),
      c & leadingBytes(ipv6Bytes - 8),
      d & leadingBytes(ipv6Bytes - 12),
      group,
    );
  }

  /** Index of a client of a stored block; adds the client if it is missing. */
  placeOf({ address, groupId, clientId }: RepeatedClient): number {
    const [a, b, c, d] = [0, 4, 8, 12].map((at) => addressWord(address, at));
    return this.clients.place(a!, b!, c!, d!, this.groupWord(groupId, clientId));
  }

  groupOf(place: number): number {
    const word = this.clients.wordOf(place, GROUP_WORD);
    return word < 0 ? this.keyed.wordOf(-1 - word, KEYED_GROUP_WORD) : word;
  }

  /** Id of the client at an index; 0 = the client did not identify itself. */
  clientIdOf(place: number): number {
    const word = this.clients.wordOf(place, GROUP_WORD);
    return word < 0 ? this.keyed.wordOf(-1 - word, KEYED_ID_WORD) : 0;
  }

  addressOf(place: number): string {
    const { clients, addressView } = this;
    for (let i = 0; i < ADDRESS_WORDS; i++) addressView.setInt32(i * 4, clients.wordOf(place, i));
    return addressToText(this.address);
  }

  clear(): void {
    this.clients.clear();
    this.keyed.clear();
  }

  private groupWord(groupId: number, clientId: number): number {
    return clientId === 0 ? groupId : -1 - this.keyed.place(clientId, groupId, 0, 0, 0);
  }

  private ipv4Place(address: number, group: number, { ipv4Bytes }: StoredClientParts): number {
    return this.clients.place(0, 0, MAPPED, address & leadingBytes(ipv4Bytes), group);
  }
}

/** Mask of the first `count` bytes of four. */
function leadingBytes(count: number): number {
  if (count >= 4) return -1;
  return count <= 0 ? 0 : -1 << (32 - count * 8);
}
