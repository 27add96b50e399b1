/** Live tail: a stream of new rows that reconnects automatically and reports its state. */
import type { EventOf } from '../../../../../../shared/api/client/typed-client.ts';

export type TailEvent = EventOf<'GET /queries/stream'>;

/** State of the stream; `lost` means that it is reconnecting. */
export type TailState = 'connecting' | 'open' | 'lost';

/** The part of EventSource that is used here. */
export interface Stream {
  readonly readyState: number;
  onopen: ((event: Event) => void) | null;
  onmessage: ((event: MessageEvent<string>) => void) | null;
  onerror: ((event: Event) => void) | null;
  close(): void;
}

/** Functions of the browser that the tail needs; tests replace them. */
export interface TailParts {
  readonly open: () => Stream;
  /** Resolves when the API responds to this user, after a login if the session has ended. */
  readonly reachable: () => Promise<unknown>;
  readonly onEvent: (event: TailEvent) => void;
  readonly onState: (state: TailState) => void;
  /**
   * Waits before the stream is opened again. The browser itself reconnects only if the server accepted the stream
   * before.
   */
  readonly wait: (ms: number) => Promise<void>;
}

const AGAIN_MS = 3_000;
/** EventSource.CLOSED */
const CLOSED = 2;

/** A live tail, which runs until `close()`. */
export class Tail {
  private readonly parts: TailParts;
  private stream: Stream | null = null;
  private isClosed = false;

  constructor(parts: TailParts) {
    this.parts = parts;
    parts.onState('connecting');
    this.open();
  }

  close(): void {
    this.isClosed = true;
    this.stream?.close();
    this.stream = null;
  }

  private open(): void {
    const stream = this.parts.open();
    this.stream = stream;
    stream.onopen = () => this.parts.onState('open');
    stream.onmessage = ({ data }) => this.parts.onEvent(JSON.parse(data) as TailEvent);
    stream.onerror = () => {
      this.parts.onState('lost');
      if (stream.readyState !== CLOSED) return;
      stream.close();
      void this.openAgain();
    };
  }

  /**
   * Reopens a stream that was refused because the session has ended, too many streams are open, or the server is
   * stopping.
   */
  private async openAgain(): Promise<void> {
    do {
      await this.parts.wait(AGAIN_MS);
      if (this.isClosed) return;
    } while (!(await this.isReachable()));
    if (!this.mayOpen()) return;
    this.open();
  }

  private mayOpen(): boolean {
    return !this.isClosed;
  }

  private isReachable(): Promise<boolean> {
    return this.parts.reachable().then(
      () => true,
      () => false,
    );
  }
}
