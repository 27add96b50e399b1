/** A reader of server-sent events over a separate socket. */
import { once } from 'node:events';
import { type ClientRequest, get, type IncomingMessage } from 'node:http';
import { QueryTailEvent } from '../../../shared/api/query-log-api.ts';
import { until, within } from './until.ts';

/** An open stream of `/queries/stream` and the text received so far. */
export class EventReader {
  readonly response: IncomingMessage;
  readonly events: QueryTailEvent[] = [];
  /** Non-data lines of the current event: ids, comments. */
  readonly otherLines: string[] = [];
  isEnded = false;
  private readonly request: ClientRequest;
  private text = '';

  private constructor(request: ClientRequest, response: IncomingMessage) {
    this.request = request;
    this.response = response;
    response.setEncoding('utf8');
    response.on('data', (text: string) => this.take(text));
    response.on('close', () => (this.isEnded = true));
    response.on('error', () => undefined); // The test or the server closed the connection.
  }

  /** Opens a stream; `query` contains the filters. */
  static async open(port: number, query = '', headers: Record<string, string> = {}): Promise<EventReader> {
    const request = get({ port, path: `/api/queries/stream?${query}`, agent: false, headers });
    request.on('error', () => undefined);
    const answered = once(request, 'response') as Promise<[IncomingMessage]>;
    const [response] = await within(`the answer to ${request.path}`, answered);
    return new EventReader(request, response);
  }

  /** All rows so far, the oldest first. */
  get rows(): QueryTailEvent['rows'] {
    return this.events.flatMap(({ rows }) => rows);
  }

  get skipped(): number {
    return this.events.reduce((sum, { skipped }) => sum + skipped, 0);
  }

  /** Waits until this many rows were received or skipped. */
  async count(rows: number): Promise<void> {
    await until(
      `${String(rows)} rows of ${this.request.path}`,
      () => {
        const [come, skipped] = [this.rows.length, this.skipped];
        if (come + skipped < rows && this.isEnded)
          throw new Error(`the stream ended after ${String(come + skipped)} rows`);
        return { come, skipped };
      },
      ({ come, skipped }) => come + skipped >= rows,
    );
  }

  close(): void {
    this.request.destroy();
  }

  private take(text: string): void {
    this.text += text;
    const lines = this.text.split('\n');
    this.text = lines.pop()!;
    for (const line of lines) {
      const [, data] = /^data: (.*)$/s.exec(line) ?? [];
      if (data !== undefined) this.events.push(QueryTailEvent.parse(JSON.parse(data)));
      else if (line !== '') this.otherLines.push(line);
    }
  }
}
