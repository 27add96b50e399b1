/**
 * Whether Weir answers this page. The page follows the stream of the node's state, which says something every second. A
 * stream that ends or is silent is checked by a request at once; without an answer the connection counts as lost, within
 * five seconds in all, and the stream is opened again at growing intervals, or at once when there is reason to hope.
 */
import type { StatusEvent } from '../../../../../shared/api/policy/status-api.ts';

/** State of the connection; `sinceMs`: time of the last data from Weir, Unix milliseconds. */
export type ConnectionState =
  | { readonly kind: 'connected'; readonly isStreaming: boolean }
  | { readonly kind: 'lost'; readonly sinceMs: number };

/** Parts of the connection. */
export interface ConnectionParts {
  /**
   * Follows the stream until it ends, or is refused by Weir; calls `onHeard` for whatever comes, null = nothing but a
   * comment. Rejects if Weir does not answer or the stream breaks, and once `signal` is aborted.
   */
  readonly follow: (
    signal: AbortSignal,
    onHeard: (event: StatusEvent | null) => void,
  ) => Promise<'ended' | 'refused'>;
  /** Resolves if Weir answers a request; rejects if not, and once `signal` is aborted. */
  readonly probe: (signal: AbortSignal) => Promise<unknown>;
  readonly onEvent: (event: StatusEvent) => void;
  readonly onState: (state: ConnectionState) => void;
  /** Called when a lost connection is back: what the page has is old. */
  readonly onBack: () => void;
  readonly nowMs: () => number;
  /** Calls `run` after a time; returns what cancels it. */
  readonly later: (run: () => void, ms: number) => () => void;
}

/** Milliseconds. The first two together are the most that a lost connection is not noticed. */
const Wait = {
  /** Milliseconds without any data on the stream. */
  SILENCE: 2_500,
  /** Milliseconds for the answer to the request that checks the connection. */
  PROBE: 2_000,
  /** Milliseconds before an ended stream is opened again. */
  AGAIN: 300,
  /** Before one that was refused, or through which nothing came, is tried again. */
  REFUSED: 2_000,
  FIRST_RETRY: 500,
  LONGEST_RETRY: 15_000,
} as const;

/** One connection, until `close()`. */
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

  /** A request was lost, the network is back, or a person wants to know: looks at once. */
  check(): void {
    this.retryMs = Wait.FIRST_RETRY;
    this.following?.abort();
    this.endPause?.();
  }

  /** Whether anyone looks at the page: the stream is followed only then. */
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
      const isThere = end === 'refused' || (this.current.kind === 'connected' && (await this.answers()));
      if (!this.isFollowed()) continue;
      if (isThere) {
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

  /** Follows the stream until it ends, breaks or falls silent. */
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
      // Whether Weir is there is known by the next answer, whatever the reason.
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

  /** Waits for a time; null = until `check()` is called. */
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
