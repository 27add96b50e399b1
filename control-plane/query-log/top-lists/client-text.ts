/**
 * A client as a string, which is the key for counting queries: its address and, if the client identified itself by its
 * key, a space and its id. Clients behind one address are therefore counted separately. Pure.
 */
import type { HeadClient } from '../block/block-layout.ts';

/** The client of a query. */
export interface CountedClient {
  readonly address: string;
  /** Null = the client was identified by its address. */
  readonly clientId: number | null;
}

/** Encodes a client. */
export function clientText([address, , , , clientId]: HeadClient): string {
  return clientId === undefined ? address : `${address} ${clientId}`;
}

/** Decodes a client. */
export function readClientText(text: string): CountedClient {
  const space = text.indexOf(' ');
  return space === -1
    ? { address: text, clientId: null }
    : { address: text.slice(0, space), clientId: Number(text.slice(space + 1)) };
}
