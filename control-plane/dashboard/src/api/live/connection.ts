/**
 * Detects whether Weir responds to this page. The page follows the stream of the node's state, which sends data every
 * second. If the stream ends or is silent, a request checks the connection at once. Without a response, the connection
 * counts as lost, after five seconds at most. The stream is then opened again at growing intervals, or at once if
 * `check()` is called.
 */
import type { StatusEvent } from '../../../../../shared/api/policy/status-api.ts';

/** State of the connection; `sinceMs`: time of the last data from Weir, Unix milliseconds. */
export type ConnectionState =
  | { readonly kind: 'connected'; readonly isStreaming: boolean }
  | { readonly kind: 'lost'; readonly sinceMs: number };

/** Functions of the browser that a connection needs; tests replace them. */
export interface ConnectionParts {
  /**
   * Follows the stream until it ends or Weir refuses it. Calls `onEvent` for each event, and with null for a comment.
   * Rejects if Weir does not respond, the stream breaks, or `signal` is aborted.
   */
  readonly follow: (
    signal: AbortSignal,
    onEvent: (event: StatusEvent | null) => void,
  ) => Promise<'ended' | 'refused'>;
  /** Resolves if Weir responds to a request; rejects if it does not or `signal` is aborted. */
  readonly probe: (signal: AbortSignal) => Promise<unknown>;
  readonly onEvent: (event: StatusEvent) => void;
  readonly onState: (state: ConnectionState) => void;
  /** Called when a lost connection is restored, because the data on the page is then out of date. */
  readonly onBack: () => void;
  readonly nowMs: () => number;
  /** Calls `run` after a delay; returns a function that cancels the call. */
  readonly later: (run: () => void, ms: number) => () => void;
}

/** Milliseconds. A lost connection is noticed after `SILENCE` plus `PROBE` at most. */
const Wait = {
  /** Time without data after which the stream counts as silent. */
  SILENCE: 2_500,
  /** Time limit of the request that checks the connection. */
  PROBE: 2_000,
  /** Delay before an ended stream is opened again. */
  AGAIN: 300,
  /** Delay before a stream that was refused or sent no data is opened again. */
  REFUSED: 2_000,
  FIRST_RETRY: 500,
  LONGEST_RETRY: 15_000,
} as const;

/** One connection, which is checked until `close()`. */
export class Connection {
  private readonly parts: ConnectionParts;
  private current: ConnectionState = { kind: 'connected', isStreaming: false };
  private heardMs: number;
  private retryMs: number = Wait.FIRST_RETRY;
  private isSeen = true;
  private isClosed = false;
  private following: AbortController | null = null;
  private endPause: (() => void) | null = null;

  constructor(parts: ConnectionParts) {
    this.parts = parts;
    this.heardMs = parts.nowMs();
    void this.run();
  }

  /** Checks the connection at once: after a lost request, when the network returns, or at the user's request. */
  check(): void {
    this.retryMs = Wait.FIRST_RETRY;
    this.following?.abort();
    this.endPause?.();
  }

  /** Reports whether the page is visible. A hidden page does not follow the stream. */
  see(isSeen: boolean): void {
    if (isSeen === this.isSeen) return;
    this.isSeen = isSeen;
    this.check();
  }

  close(): void {
    this.isClosed = true;
    this.check();
  }

  private async run(): Promise<void> {
    while (!this.isClosed) {
      if (!this.isSeen) {
        await this.pause(null);
        continue;
      }
      const end = await this.follow();
      if (!this.isFollowed()) continue;
      const isReachable = end === 'refused' || (this.current.kind === 'connected' && (await this.answers()));
      if (!this.isFollowed()) continue;
      if (isReachable) {
        this.connect(false);
        await this.pause(end === 'heard' ? Wait.AGAIN : Wait.REFUSED);
      } else {
        this.change({ kind: 'lost', sinceMs: this.heardMs });
        const waitMs = this.retryMs;
        this.retryMs = Math.min(2 * waitMs, Wait.LONGEST_RETRY);
        await this.pause(waitMs);
      }
    }
  }

  private isFollowed(): boolean {
    return this.isSeen && !this.isClosed;
  }

  /** Follows the stream until it ends, breaks or is silent for too long. */
  private async follow(): Promise<'heard' | 'silent' | 'refused'> {
    const aborted = new AbortController();
    this.following = aborted;
    const watchSilence = (): (() => void) => this.parts.later(() => aborted.abort(), Wait.SILENCE);
    let cancel = watchSilence();
    const heard = { any: false };
    try {
      const end = await this.parts.follow(aborted.signal, (event) => {
        if (aborted.signal.aborted) return;
        cancel();
        cancel = watchSilence();
        heard.any = true;
        this.connect(true);
        if (event !== null) this.parts.onEvent(event);
      });
      if (end === 'refused') return 'refused';
    } catch {
      // Ignore the reason of the failure, because the next response shows whether Weir can be reached.
    } finally {
      cancel();
      this.following = null;
    }
    return heard.any ? 'heard' : 'silent';
  }

  private async answers(): Promise<boolean> {
    const aborted = new AbortController();
    const cancel = this.parts.later(() => aborted.abort(), Wait.PROBE);
    try {
      await this.parts.probe(aborted.signal);
      return true;
    } catch {
      return false;
    } finally {
      cancel();
    }
  }

  private connect(isStreaming: boolean): void {
    const wasLost = this.current.kind === 'lost';
    this.heardMs = this.parts.nowMs();
    this.retryMs = Wait.FIRST_RETRY;
    this.change({ kind: 'connected', isStreaming });
    if (wasLost) this.parts.onBack();
  }

  private change(state: ConnectionState): void {
    const { current } = this;
    const isSame =
      state.kind === 'lost'
        ? current.kind === 'lost'
        : current.kind === 'connected' && current.isStreaming === state.isStreaming;
    if (isSame) return;
    this.current = state;
    this.parts.onState(state);
  }

  /** Waits for this time; null waits until `check()` is called. */
  private async pause(ms: number | null): Promise<void> {
    await new Promise<void>((resolve) => {
      const cancel = ms === null ? () => undefined : this.parts.later(() => this.endPause?.(), ms);
      this.endPause = () => {
        cancel();
        this.endPause = null;
        resolve();
      };
    });
  }
}
