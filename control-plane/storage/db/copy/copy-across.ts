/**
 * Copies rows from one server to another by COPY in binary format, as a stream: even for a large table, only the
 * contents of socket buffers are in memory. A checksum of the rows is computed during the copy and again from the
 * destination, to verify the copy.
 */
import type { ClientBase, Connection, Submittable } from 'pg';
import { hash } from 'node:crypto';

/** Source and target of a copy: names of tables, each followed by the same columns in parentheses. */
export interface CopyRoute {
  readonly from: string;
  readonly to: string;
}

/** Connections to the source and to the target. Both are unusable after a failure. */
export interface CopyEnds {
  readonly from: ClientBase;
  readonly to: ClientBase;
}

/** Error: the copy differs from the original. */
export class CopyDiffers extends Error {
  override readonly name = 'CopyDiffers';
}

/** Copies rows, reads them back and compares. @throws {CopyDiffers} */
export async function copyAcross(ends: CopyEnds, { from, to }: CopyRoute): Promise<void> {
  const sent = await send(ends, from, to);
  const stored = await sumUp(ends.to, to);
  if (sent !== stored)
    throw new CopyDiffers(`the copy of ${to} is not complete: ${sent} were sent, but ${stored} are stored`);
}

/** Computes the checksum of the rows of a table. */
export async function sumUp(client: ClientBase, table: string): Promise<string> {
  const sum = new RowSum();
  await new Promise<void>((resolve, reject) => {
    client.query(new CopyOutStream(table, { row: (row) => sum.add(row), end: resolve, fail: reject }));
  });
  return String(sum);
}

async function send({ from, to }: CopyEnds, source: string, target: string): Promise<string> {
  const sum = new RowSum();
  await new Promise<void>((resolve, reject) => {
    const pass = (bytes: Buffer, { stream: incoming }: Connection, outgoing: CopyInConnection): void => {
      outgoing.sendCopyFromChunk(bytes); // The bytes include the header and the end marker.
      // Data that was already read still arrives after `pause()`.
      if (!outgoing.stream.writableNeedDrain || incoming.isPaused()) return;
      incoming.pause();
      outgoing.stream.once('drain', () => incoming.resume());
    };
    const begin = (outgoing: CopyInConnection): void => {
      const reader = new CopyOutStream(source, {
        row: (row) => sum.add(row),
        message: (bytes, incoming) => pass(bytes, incoming, outgoing),
        end: () => outgoing.endCopyFrom(),
        fail: reject,
      });
      from.query(reader);
    };
    to.query(new CopyInStream(target, { begin, end: resolve, fail: reject }));
  });
  return String(sum);
}

/** Methods of pg's connection that are missing in its types. */
interface CopyInConnection extends Connection {
  sendCopyFromChunk(bytes: Buffer): void;
  endCopyFrom(): void;
}

/** Callbacks when a copy has ended. */
interface CopyEvents {
  readonly end: () => void;
  readonly fail: (error: Error) => void;
}

/** A query object for pg, which calls these methods. */
abstract class CopyStream<Events extends CopyEvents> implements Submittable {
  protected readonly events: Events;
  private readonly text: string;

  constructor(text: string, events: Events) {
    this.text = text;
    this.events = events;
  }

  submit(connection: Connection): void {
    connection.query(this.text);
  }

  handleCommandComplete(): void {
    // Nothing to do here: the connection can only be used again after `handleReadyForQuery()`.
  }

  handleReadyForQuery(): void {
    this.events.end();
  }

  handleError(error: Error): void {
    this.events.fail(error);
  }
}

/** Length of the header: signature, flags, and length of an extension, which is always empty. */
const HEADER_BYTES = 19;
/** Replaces the column count of a row and means that no more rows follow. */
const END = -1;

interface CopyOutEvents extends CopyEvents {
  readonly row: (row: Buffer) => void;
  readonly message?: (bytes: Buffer, connection: Connection) => void;
}

/** The server sends each row as a separate message; the header comes before the first. */
class CopyOutStream extends CopyStream<CopyOutEvents> {
  private isFirst = true;

  constructor(table: string, events: CopyOutEvents) {
    super(`COPY ${table} TO STDOUT (FORMAT binary)`, events);
  }

  handleCopyData({ chunk }: { readonly chunk: Buffer }, connection: Connection): void {
    const row = this.isFirst ? chunk.subarray(HEADER_BYTES) : chunk;
    this.isFirst = false;
    if (row.length > 0 && row.readInt16BE(0) !== END) this.events.row(row);
    this.events.message?.(chunk, connection);
  }
}

interface CopyInEvents extends CopyEvents {
  readonly begin: (connection: CopyInConnection) => void;
}

class CopyInStream extends CopyStream<CopyInEvents> {
  constructor(table: string, events: CopyInEvents) {
    super(`COPY ${table} FROM STDIN (FORMAT binary)`, events);
  }

  handleCopyInResponse(connection: Connection): void {
    this.events.begin(connection as CopyInConnection);
  }
}

const WORDS = 4;

/**
 * Checksum of rows in any order: their number, their size, and the SHA-256 of each row, added word by word without
 * carry.
 */
class RowSum {
  private rows = 0;
  private bytes = 0;
  private readonly words = new Uint32Array(WORDS);

  /** Adds a row in binary form. */
  add(row: Uint8Array): void {
    const digest = hash('sha256', row, 'buffer');
    for (let word = 0; word < WORDS; word++) this.words[word]! += digest.readUInt32BE(word * 4);
    this.rows++;
    this.bytes += row.length;
  }

  /** The checksum as text; equal texts mean equal rows. */
  toString(): string {
    return `${this.rows} rows of ${this.bytes} bytes, sum ${[...this.words].map((word) => word.toString(16)).join('-')}`;
  }
}
