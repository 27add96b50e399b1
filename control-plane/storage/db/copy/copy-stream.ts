/**
 * Reads and writes the rows of a table as bytes, by COPY in binary format, with a limited number of chunks in memory.
 */
import { once } from 'node:events';
import type { ClientBase, Connection, Submittable } from 'pg';

/** Number of waiting chunks at which reading from the server pauses. */
const MAX_WAITING = 64;

/** Reads the rows of a table; `route` is its name followed by its columns in parentheses. */
export async function* copyRowsOut(client: ClientBase, route: string): AsyncGenerator<Buffer> {
  const copy = new RowsOut(`COPY ${route} TO STDOUT (FORMAT binary)`);
  client.query(copy);
  yield* copy.chunks();
}

/** Stores the output of `copyRowsOut`. The connection is unusable after a failure. */
export function copyRowsIn(client: ClientBase, route: string, chunks: AsyncIterable<Buffer>): Promise<void> {
  return new Promise((resolve, reject) => {
    client.query(new RowsIn(`COPY ${route} FROM STDIN (FORMAT binary)`, chunks, { resolve, reject }));
  });
}

/** A query object for pg, which calls these methods. */
class RowsOut implements Submittable {
  private readonly text: string;
  private readonly waiting: Buffer[] = [];
  private paused: Connection['stream'] | undefined;
  private isDone = false;
  private failure: Error | undefined;
  private wake = Promise.withResolvers<undefined>();

  constructor(text: string) {
    this.text = text;
  }

  async *chunks(): AsyncGenerator<Buffer> {
    try {
      for (;;) {
        const chunk = this.waiting.shift();
        if (chunk !== undefined) yield chunk;
        else if (this.failure !== undefined) throw this.failure;
        else if (this.isDone) return;
        else {
          this.resume();
          await this.wake.promise;
          this.wake = Promise.withResolvers<undefined>();
        }
      }
    } finally {
      // Reading may still be paused, but the connection is used for other queries afterwards.
      this.resume();
    }
  }

  private resume(): void {
    this.paused?.resume();
    this.paused = undefined;
  }

  submit(connection: Connection): void {
    connection.query(this.text);
  }

  handleCopyData({ chunk }: { readonly chunk: Buffer }, { stream }: Connection): void {
    this.waiting.push(Buffer.from(chunk)); // A copy, because pg reuses the memory of the chunk.
    if (this.waiting.length >= MAX_WAITING && this.paused === undefined) {
      stream.pause();
      this.paused = stream;
    }
    this.wake.resolve(undefined);
  }

  handleCommandComplete(): void {
    // Nothing to do here: the connection can only be used again after `handleReadyForQuery()`.
  }

  handleReadyForQuery(): void {
    this.isDone = true;
    this.wake.resolve(undefined);
  }

  handleError(error: Error): void {
    this.failure = error;
    this.wake.resolve(undefined);
  }
}

/** Methods of pg's connection that are missing in its types. */
interface CopyInConnection extends Connection {
  sendCopyFromChunk(bytes: Buffer): void;
  endCopyFrom(): void;
  sendCopyFail(reason: string): void;
}

class RowsIn implements Submittable {
  private readonly text: string;
  private readonly chunks: AsyncIterable<Buffer>;
  private readonly end: { resolve: () => void; reject: (error: Error) => void };
  private failure: Error | undefined;

  constructor(text: string, chunks: AsyncIterable<Buffer>, end: RowsIn['end']) {
    this.text = text;
    this.chunks = chunks;
    this.end = end;
  }

  submit(connection: Connection): void {
    connection.query(this.text);
  }

  handleCopyInResponse(connection: Connection): void {
    const outgoing = connection as CopyInConnection;
    void this.send(outgoing).catch((error: unknown) => {
      this.failure = error as Error;
      outgoing.sendCopyFail('the copy cannot be read');
    });
  }

  handleCommandComplete(): void {
    // Nothing to do here: the connection can only be used again after `handleReadyForQuery()`.
  }

  handleReadyForQuery(): void {
    this.end.resolve();
  }

  handleError(error: Error): void {
    this.end.reject(this.failure ?? error);
  }

  private async send(outgoing: CopyInConnection): Promise<void> {
    for await (const chunk of this.chunks) {
      outgoing.sendCopyFromChunk(chunk);
      if (outgoing.stream.writableNeedDrain) await once(outgoing.stream, 'drain');
    }
    outgoing.endCopyFrom();
  }
}
