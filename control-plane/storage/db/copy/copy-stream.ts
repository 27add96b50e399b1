/**
 * Rows of a table as bytes, from a server and to a server: COPY in binary format, with a limited number of chunks in
 * memory.
 */
import { once } from 'node:events';
import type { ClientBase, Connection, Submittable } from 'pg';

/** Maximum number of waiting chunks; then reading from the server pauses. */
const MAX_WAITING = 64;

/** The rows of a table, given by its name with its columns in brackets. */
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

/** A submittable of pg, which calls the methods by their names. */
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
      // The last chunk may have paused the connection, which is used for other queries afterwards.
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
    this.waiting.push(Buffer.from(chunk)); // pg reuses the memory of the chunk.
    if (this.waiting.length >= MAX_WAITING && this.paused === undefined) {
      stream.pause();
      this.paused = stream;
    }
    this.wake.resolve(undefined);
  }

  handleCommandComplete(): void {
    // The connection is only free after it has reported that it is ready.
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
    // The connection is only free after it has reported that it is ready.
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
