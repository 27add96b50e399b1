/**
 * Queries without a row in the block that is being filled: each is counted with an existing row, but with its own
 * client, outcome and response time, so that statistics are exact. The names of these queries are not stored.
 */
import type { QueryLogRow } from '../rows/row.ts';
import { MAX_BLOCK_ROWS } from './block-layout.ts';
import { OutcomeDictionary } from './outcome-dictionary.ts';
import type { RepeatEntry } from './repeats.ts';
import { WordDictionary } from './word-dictionary.ts';

/** Number of queries at which the block is full. */
const MAX_QUERIES = 65_535;
/**
 * Maximum number of separate clients per row: enough for all addresses of an IPv4 /24, but only for few of the IPv6
 * addresses that an attacker can use.
 */
const MAX_CLIENTS_OF_ROW = 255;

/** The queries, stored by column. */
export class OpenRepeats {
  /** Number of queries. */
  count = 0;
  /** Indexes of their rows, clients and outcomes. */
  readonly rowOf = new Uint16Array(MAX_QUERIES);
  readonly clientOf = new Uint16Array(MAX_QUERIES);
  readonly outcomeOf = new Uint16Array(MAX_QUERIES);
  readonly responseTimes = new Uint32Array(MAX_QUERIES);
  readonly outcomes = new OutcomeDictionary();
  /** Pairs of a row and a client. */
  private readonly pairs = new WordDictionary();
  private readonly clientsOfRow = new Uint8Array(MAX_BLOCK_ROWS);

  get isFull(): boolean {
    return this.count === MAX_QUERIES;
  }

  /** Whether the row already has the maximum number of separate clients. */
  hasManyClients(rowPlace: number): boolean {
    return this.clientsOfRow[rowPlace] === MAX_CLIENTS_OF_ROW;
  }

  /** Adds a query to the row at an index. */
  add(rowPlace: number, client: number, row: QueryLogRow): void {
    const { pairs } = this;
    const index = this.count++;
    const known = pairs.size;
    pairs.place(rowPlace, client, 0, 0, 0);
    if (pairs.size > known && !this.hasManyClients(rowPlace)) this.clientsOfRow[rowPlace]!++;
    this.rowOf[index] = rowPlace;
    this.clientOf[index] = client;
    this.outcomeOf[index] = this.outcomes.place(row);
    this.responseTimes[index] = row.responseTimeUs;
  }

  /** Number of repeats per row and client. */
  entries(): RepeatEntry[] {
    const { pairs } = this;
    return Array.from({ length: pairs.size }, (_, place) => ({
      row: pairs.wordOf(place, 0),
      client: pairs.wordOf(place, 1),
      queries: pairs.countOf(place),
    }));
  }

  clear(): void {
    if (this.count === 0) return;
    this.count = 0;
    this.outcomes.clear();
    this.pairs.clear();
    this.clientsOfRow.fill(0);
  }
}
